-- Records why a message of the outbox was not delivered; it is due again after a pause that grows with its attempts.
CREATE OR REPLACE FUNCTION wed.message_failed(_message_id bigint, _error text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  UPDATE wed.outbox SET last_error = left(_error, 1000), due = clock_timestamp() + least(2 ^ attempt,
    3600) * (0.9 + 0.2 * random()) * interval '1 second'
  WHERE message_id = _message_id
$$;
