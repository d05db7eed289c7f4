-- At the end of a host's commit, which is the last that its transaction does: hands over at once, and leases to the host what is
-- granted of the jobs that it fired. Where a lock is not to be had in time it is left to the end of the transaction.
CREATE OR REPLACE FUNCTION wed.lease_granted(_host_id integer, _rows wed.evaluated[]) RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _hosted bigint;
  _leased bigint;
BEGIN
  PERFORM set_config('lock_timeout', '1s', true);
  BEGIN
    _hosted := wed.hand_over_requests(wed.open_requests());
  EXCEPTION WHEN lock_not_available THEN
    RETURN;
  END;
  RETURN QUERY
    WITH j AS MATERIALIZED (
      SELECT q.at, coalesce(r.payload, r.state) AS payload, r.version
      FROM unnest(_rows) r
      CROSS JOIN LATERAL (
        SELECT tgid FROM wed.request WHERE flow_id = r.flow_id AND wid = r.wid AND state = 'h' AND xid = pg_current_xact_id() OFFSET 0) g
      CROSS JOIN LATERAL (
        SELECT ctid AS at FROM wed.job WHERE flow_id = r.flow_id AND wid >= r.wid AND wid <= r.wid AND tgid = g.tgid
          AND blocked IS NULL AND host_id IS NULL AND component_id IS NOT NULL AND seq = last_seq AND due <= now()
        ORDER BY wid DESC LIMIT 1) q
    ), u AS (
      UPDATE wed.job k SET host_id = _host_id, token = nextval('wed.fence'), attempt = 1, waits_for = NULL
      FROM j WHERE k.ctid = j.at
      RETURNING k.flow_id, k.wid, k.tgid, k.trname, k.token, k.component_id, k.seq, j.payload, j.version)
    SELECT u.flow_id, u.wid, u.tgid, t.tgname, u.trname, u.token, 1, t.timeout_ms, u.payload, u.component_id, u.version, u.seq
    FROM u CROSS JOIN LATERAL (SELECT tgname, timeout_ms FROM wed.trigger WHERE tgid = u.tgid OFFSET 0) t;
  GET DIAGNOSTICS _leased = ROW_COUNT;
  IF _hosted > _leased THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;
