-- Fires jobs for all satisfied triggers but those that took the row of a job that ended. Returns those that it leased
-- to the host and that are not constrained: those have their reservation first (wed.constrain_batch), or are blocked
-- (wed.ask). A trigger's delay counts from now on.
CREATE OR REPLACE FUNCTION wed.fire_jobs(_passing wed.passing[], _host_id integer, _lease boolean, _commit boolean,
  _now timestamptz)
RETURNS SETOF wed.claimed LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
    WITH f AS MATERIALIZED (
      SELECT t.*, l.leased, p.wid, p.seq, p.version, p.satisfied, p.beside, coalesce(p.payload, p.state) AS payload,
             CASE WHEN l.leased THEN nextval('wed.fence') ELSE 0 END AS token
      FROM unnest(_passing) p
      CROSS JOIN LATERAL unnest(CASE WHEN p.turns THEN p.fire[2:] ELSE p.fire END) x(tgid)
      CROSS JOIN LATERAL (SELECT * FROM wed.trigger WHERE tgid = x.tgid OFFSET 0) t
      CROSS JOIN LATERAL (SELECT _lease AND _host_id IS NOT NULL AND t.component_id IS NOT NULL AND t.delay = '0'
                                 AND (NOT t.constrained OR _commit) AS leased) l
      WHERE p.forks
    ), fired AS (
      INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at,
        attempt,
                           component_id, host_id, token, version, satisfied, beside, blocked)
      SELECT f.flow_id, f.tenant_id, f.wid, f.tgid, f.trname, f.timeout, f.seq, f.seq, f.priority,
             CASE WHEN f.constrained AND NOT f.leased THEN 'infinity' ELSE _now + f.delay END, _now, f.leased::integer,
             f.component_id,
             CASE WHEN f.leased THEN _host_id END, f.token, f.version, f.satisfied, f.beside,
             CASE WHEN f.constrained AND NOT f.leased THEN 'a'::"char" END
      FROM f)
    SELECT f.flow_id, f.wid, f.tgid, f.tgname, f.trname, f.token, 1, f.timeout_ms, f.payload, f.component_id, f.version,
      f.seq
    FROM f WHERE f.leased AND NOT f.constrained;
END $$;
