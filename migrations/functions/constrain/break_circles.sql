-- Ends the youngest of instances that wait for each other in a circle: each holds something until later, waits for
-- what another holds, and has nothing else to do. It is an exception, which frees what it holds. In a transaction of
-- its own: it locks instances.
CREATE OR REPLACE FUNCTION wed.break_circles() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _stuck bigint[] := wed.stuck_requests();
  _one record;
  _ended bigint := 0;
BEGIN
  FOR _one IN
    SELECT DISTINCT ON (r.tenant_id) r.flow_id, r.wid, r.tgid, t.trname, n.key, w.wid AS by_wid
    FROM wed.request r JOIN wed.trigger t ON t.tgid = r.tgid
    -- It holds what another of them waits for.
    JOIN wed.request h ON h.flow_id = r.flow_id AND h.wid = r.wid AND h.state = 'h'
    JOIN wed.reservation n ON n.request_id = h.request_id
    JOIN wed.reservation v ON v.tenant_id = n.tenant_id AND v.resource = n.resource AND v.key = n.key
        AND v.request_id = ANY (_stuck)
    JOIN wed.request w ON w.request_id = v.request_id AND (w.flow_id, w.wid) <> (r.flow_id, r.wid)
    WHERE r.request_id = ANY (_stuck) ORDER BY r.tenant_id, r.request_id DESC
  LOOP
    BEGIN
      PERFORM wed.pass_as_it_stands(_one.flow_id, _one.wid, _one.tgid, '_ABORT', format(
        '%s: waits in a circle: instance %s waits for %s, which this one holds', _one.trname, _one.by_wid, _one.key),
            NULL, NULL);
      _ended := _ended + 1;
    EXCEPTION WHEN lock_not_available THEN
      NULL; -- at the next sweep
    END;
  END LOOP;
  RETURN _ended;
END $$;
