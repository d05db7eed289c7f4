-- Keeps what leased jobs ask for, under the locks of all keys. Whoever asks for keys that nobody else holds, waits
-- for or asks for has them at once. The jobs of the others are blocked, and their requests are new.
CREATE OR REPLACE FUNCTION wed.reserve_free(_asked wed.asking[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH n AS MATERIALIZED (
    SELECT k.*, bool_and(k.alone AND o.taken IS NULL AND (k.amount IS NULL OR k.amount <= coalesce((
        SELECT s.capacity - s.minimum FROM wed.resource s WHERE s.tenant_id = k.tenant_id AND s.resource = k.resource
            AND s.key = k.key), 0)))
      OVER (PARTITION BY k.request_id) AS free
    FROM (SELECT a.*, count(*) OVER (PARTITION BY a.tenant_id, a.resource COLLATE "C", a.key COLLATE "C") = 1 AS alone
        FROM unnest(_asked) a) k
    LEFT JOIN LATERAL (
      SELECT true AS taken FROM wed.reservation o WHERE o.tenant_id = k.tenant_id AND o.resource = k.resource
          AND o.key = k.key
        AND o.held IS NOT NULL LIMIT 1) o ON true
  ), asked AS (
    INSERT INTO wed.request (request_id, tenant_id, flow_id, wid, tgid, state, holds, consumes, ready_at, granted_at)
    OVERRIDING SYSTEM VALUE
    SELECT n.request_id, n.tenant_id, n.flow_id, n.wid, n.tgid, CASE WHEN n.free THEN 'h'
        ELSE 'n' END, n.holds, n.consumes, now(),
           CASE WHEN n.free THEN clock_timestamp() END FROM n WHERE n.nth = 1
  ), named AS (
    INSERT INTO wed.reservation (request_id, tenant_id, resource, key, amount, priority, held)
    SELECT n.request_id, n.tenant_id, n.resource, n.key, n.amount, n.priority, n.free FROM n)
  UPDATE wed.job j SET host_id = NULL, token = 0, attempt = 0, blocked = 'r', due = 'infinity'
  FROM n WHERE n.nth = 1 AND NOT n.free AND j.ctid = n.job;
END $$;
