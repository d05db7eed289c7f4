-- Takes messages of the outbox that are due, at most _each of a tenant and none of those in _without. Each is due again
-- after a pause that doubles from 2 s to an hour: who delivers one deletes it, and who dies meanwhile leaves it to
-- others. After 24 attempts (about 15 hours) a message is a dead letter (wed.message_failed).
CREATE OR REPLACE FUNCTION wed.take_messages(_each integer, _limit integer, _without integer[])
RETURNS TABLE (message_id bigint, tenant_id integer, tenant text, webhook text, url text,
  secrets text[], name text, body text, attempt integer)
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH due AS MATERIALIZED (
    SELECT m.message_id FROM (SELECT DISTINCT o.tenant_id FROM wed.outbox o WHERE o.tenant_id <> ALL (_without)) t
    CROSS JOIN LATERAL (
      SELECT o.message_id FROM wed.outbox o
      WHERE o.tenant_id = t.tenant_id AND o.due <= clock_timestamp() AND o.dead_at IS NULL
      ORDER BY o.due LIMIT _each FOR UPDATE SKIP LOCKED) m
    LIMIT _limit
  ), taken AS (
    UPDATE wed.outbox o SET attempt = o.attempt + 1,
      due = clock_timestamp() + least(2 ^ (o.attempt + 1), 3600) * (0.9 + 0.2 * random()) * interval '1 second' +
        interval '15 seconds'
    FROM due WHERE o.message_id = due.message_id
    RETURNING o.message_id, o.webhook_id, o.tenant_id, o.name, o.body, o.attempt)
  SELECT k.message_id, k.tenant_id, t.name, w.name, w.url,
    ARRAY[w.secret] || CASE WHEN w.old_until > clock_timestamp() THEN w.old_secret END, k.name, k.body::text, k.attempt
  FROM taken k JOIN wed.webhook w USING (webhook_id) JOIN wed.tenant t ON t.tenant_id = k.tenant_id ORDER BY
    k.message_id
$$;
