-- Leases to a host the jobs of its batch that were blocked and are granted just now; answers how many.
CREATE OR REPLACE FUNCTION wed.lease_granted(_host_id integer, _rows wed.evaluated[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  _leased bigint;
BEGIN
  WITH j AS MATERIALIZED (
    SELECT q.at FROM unnest(_rows) r
    CROSS JOIN LATERAL (
      SELECT tgid FROM wed.request
      WHERE flow_id = r.flow_id AND wid = r.wid AND state = 'h' AND xid = pg_current_xact_id() OFFSET 0) g
    CROSS JOIN LATERAL (
      SELECT ctid AS at FROM wed.job WHERE flow_id = r.flow_id AND wid >= r.wid AND wid <= r.wid AND tgid = g.tgid
        AND blocked IS NULL AND host_id IS NULL AND component_id IS NOT NULL AND seq = last_seq AND due <= now()
      ORDER BY wid DESC LIMIT 1) q)
  UPDATE wed.job k SET host_id = _host_id, token = nextval('wed.fence'), attempt = 1, put_off = NULL
  FROM j WHERE k.ctid = j.at;
  GET DIAGNOSTICS _leased = ROW_COUNT;
  RETURN _leased;
END $$;
