-- Records why a message of the outbox was not delivered. It is due again after a pause that grows with its attempts, and
-- a dead letter after 24. A receiver that is gone for good (410) ends its webhook: all its messages are dead letters.
CREATE OR REPLACE FUNCTION wed.message_failed(_message_id bigint, _error text, _is_gone boolean) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  UPDATE wed.outbox SET last_error = left(_error, 1000), due = clock_timestamp() + least(2 ^ attempt,
    3600) * (0.9 + 0.2 * random()) * interval '1 second',
    dead_at = CASE WHEN attempt >= 24 THEN clock_timestamp() END
  WHERE message_id = _message_id;
  UPDATE wed.webhook w SET ended_at = clock_timestamp()
  FROM wed.outbox o WHERE _is_gone AND o.message_id = _message_id AND w.webhook_id = o.webhook_id;
  UPDATE wed.outbox o SET dead_at = clock_timestamp()
  FROM wed.outbox one WHERE _is_gone AND one.message_id = _message_id AND o.webhook_id = one.webhook_id
    AND o.dead_at IS NULL
$$;
