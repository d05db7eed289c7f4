-- Leases to a host up to _share jobs of each tenant, _left in all, and returns their rows.
CREATE OR REPLACE FUNCTION wed.lease_jobs(
  _host_id integer, _rooms wed.room[], _share integer, _left integer, _now timestamptz) RETURNS tid[]
LANGUAGE plpgsql AS $$
DECLARE
  _leased tid[];
BEGIN
  WITH c AS MATERIALIZED (
    SELECT j.* FROM unnest(_rooms) n
    CROSS JOIN LATERAL (
      SELECT q.ctid AS at, q.wid, q.tgid FROM wed.job q
      WHERE q.host_id IS NULL AND q.component_id IS NOT NULL AND q.tenant_id = n.tenant_id AND q.due <= _now
      ORDER BY q.priority DESC, q.due, q.flow_id LIMIT least(_share, n.jobs) FOR UPDATE SKIP LOCKED) j
    LIMIT _left
  ), l AS MATERIALIZED (
    SELECT c.at, pg_try_advisory_xact_lock(c.wid, c.tgid) AS ours FROM c
  ), u AS (
    UPDATE wed.job j SET host_id = _host_id, token = nextval('wed.fence'), attempt = j.attempt + 1, put_off = NULL
    FROM l WHERE l.ours AND j.ctid = l.at RETURNING j.ctid)
  SELECT coalesce(array_agg(u.ctid), '{}') INTO _leased FROM u;
  RETURN _leased;
END $$;
