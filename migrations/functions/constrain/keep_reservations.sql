-- Looks after reservations, for the hosts' sweep: requests whose time has come are queued, what a commit could not
-- hand over for want of a lock is, jobs that were locked when they were granted are made due, locks of keys that
-- nobody wants are removed.
CREATE OR REPLACE FUNCTION wed.keep_reservations() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _some bigint[];
  _done bigint := 0;
  _hosted bigint;
  _one record;
BEGIN
  _some := ARRAY(SELECT request_id FROM wed.request WHERE state = 'd' AND ready_at <= clock_timestamp()
                 ORDER BY ready_at LIMIT 500 FOR UPDATE SKIP LOCKED);
  UPDATE wed.reservation SET held = false WHERE request_id = ANY (_some) AND held IS NULL;
  UPDATE wed.request SET state = 'n', xid = pg_current_xact_id() WHERE request_id = ANY (_some);
  _some := _some || ARRAY(SELECT request_id FROM wed.request WHERE state IN ('n', 'f', 'c')
      AND request_id <> ALL (_some)
                          ORDER BY request_id LIMIT 500 FOR UPDATE SKIP LOCKED);
  _some := _some || ARRAY(SELECT r.request_id FROM (
      SELECT * FROM wed.request WHERE state = 'w' AND asked_at < clock_timestamp() - interval '1 s'
          ORDER BY request_id LIMIT 1000) r
    WHERE wed.in_the_way(r) IS NULL);
  _hosted := wed.hand_over_requests(_some, '{}', '{}');
  _done := cardinality(_some);
  FOR _one IN SELECT r.flow_id, array_agg(r.wid) AS wids, array_agg(r.tgid) AS tgids FROM wed.job j
              JOIN wed.request r ON r.flow_id = j.flow_id AND r.wid = j.wid AND r.tgid = j.tgid AND r.state = 'h'
              WHERE j.blocked = 'r' AND NOT EXISTS (SELECT FROM wed.request w WHERE w.flow_id = j.flow_id
                  AND w.wid = j.wid
                                                    AND w.tgid = j.tgid AND w.state IN ('d', 'n', 'w'))
              GROUP BY r.flow_id LOOP
    _hosted := _hosted + wed.make_due(_one.flow_id, _one.wids, _one.tgids, false);
  END LOOP;
  IF _hosted > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  DELETE FROM wed.resource_lock WHERE ctid = ANY (ARRAY(
    SELECT l.ctid FROM wed.resource_lock l WHERE l.used_at < now() - interval '10 minutes'
      AND NOT EXISTS (SELECT FROM wed.reservation v WHERE v.tenant_id = l.tenant_id AND v.resource = l.resource
          AND v.key = l.key)
    LIMIT 500 FOR UPDATE SKIP LOCKED));
  RETURN _done;
END $$;
