-- Takes messages of the outbox that are due for a host, of each webhook as many as it may have under way beside those
-- in _busy (the webhook of each message under way): 4 of a webhook, 32 of a tenant. Webhooks in an order by chance.
CREATE OR REPLACE FUNCTION wed.take_messages(_busy integer[], _limit integer)
RETURNS TABLE (message_id bigint, webhook_id integer, tenant text, webhook text, url text,
  secrets text[], name text, body text, attempt integer)
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH share AS MATERIALIZED (
    SELECT w.webhook_id, w.tenant_id, random() AS turn, b.under_way
    FROM wed.webhook w
    CROSS JOIN LATERAL (SELECT count(*) AS under_way FROM unnest(_busy) u WHERE u = w.webhook_id) b
  ), room AS (
    SELECT s.webhook_id, s.turn, s.room, sum(s.room) OVER (ORDER BY s.turn) AS all_rooms
    FROM (SELECT s.webhook_id, s.turn, least(4 - s.under_way, 32 - sum(s.under_way) OVER (PARTITION BY s.tenant_id)
            - 4 * (row_number() OVER (PARTITION BY s.tenant_id ORDER BY s.turn) - 1))::integer AS room
          FROM share s
          WHERE EXISTS (SELECT FROM wed.outbox o WHERE o.webhook_id = s.webhook_id AND o.due <= clock_timestamp()
              AND o.dead_at IS NULL)
            OR s.under_way > 0) s
    WHERE s.room > 0)
  SELECT m.* FROM room r CROSS JOIN LATERAL wed.take_messages_of(r.webhook_id, r.room) m
  WHERE r.all_rooms <= _limit
$$;

-- Takes messages of a webhook, those due longest. Each is due again after a pause that doubles from 2 s to an hour: who
-- delivers one deletes it, and who dies meanwhile leaves it to others. After 24 attempts (about 15 hours) a message
-- is a dead letter (wed.message_failed).
CREATE OR REPLACE FUNCTION wed.take_messages_of(_webhook_id integer, _most integer)
RETURNS TABLE (message_id bigint, webhook_id integer, tenant text, webhook text, url text,
  secrets text[], name text, body text, attempt integer)
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH due AS MATERIALIZED (
    SELECT o.message_id FROM wed.outbox o
    WHERE o.webhook_id = _webhook_id AND o.due <= clock_timestamp() AND o.dead_at IS NULL
    ORDER BY o.due LIMIT _most FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE wed.outbox o SET attempt = o.attempt + 1,
      due = clock_timestamp() + least(2 ^ (o.attempt + 1), 3600) * (0.9 + 0.2 * random()) * interval '1 second' +
        interval '15 seconds'
    FROM due WHERE o.message_id = due.message_id
    RETURNING o.message_id, o.webhook_id, o.tenant_id, o.name, o.body, o.attempt)
  SELECT k.message_id, k.webhook_id, t.name, w.name, w.url,
    ARRAY[w.secret] || CASE WHEN w.old_until > clock_timestamp() THEN w.old_secret END, k.name, k.body::text, k.attempt
  FROM taken k JOIN wed.webhook w USING (webhook_id) JOIN wed.tenant t ON t.tenant_id = k.tenant_id
  ORDER BY k.message_id
$$;
