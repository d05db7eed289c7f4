-- Looks after a tenant's requests: those whose time has come are queued, what a commit could not hand over for want
-- of a lock is, and jobs that were locked when they were granted are made due. Of those that wait, some by chance are
-- looked at.
CREATE OR REPLACE FUNCTION wed.keep_tenants_reservations(_tenant_id integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _most CONSTANT integer := 200;
  _some bigint[];
  _hosted bigint;
BEGIN
  PERFORM wed.raise_holders(_tenant_id, _most);
  _some := ARRAY(SELECT request_id FROM wed.request
                 WHERE tenant_id = _tenant_id AND state = 'd' AND ready_at <= clock_timestamp()
                 ORDER BY ready_at LIMIT _most FOR UPDATE SKIP LOCKED);
  UPDATE wed.reservation SET held = false WHERE request_id = ANY (_some) AND held IS NULL;
  UPDATE wed.request SET state = 'n', xid = pg_current_xact_id() WHERE request_id = ANY (_some);
  _some := _some || ARRAY(SELECT s.request_id FROM unnest('{n,f,c}'::"char"[]) k(state) CROSS JOIN LATERAL (
    SELECT request_id FROM wed.request
    WHERE tenant_id = _tenant_id AND state = k.state AND (state <> 'h' OR leads)
      AND ready_at >= wed.moment_of_waiting(_tenant_id, k.state, _most) AND request_id <> ALL (_some)
          ORDER BY ready_at LIMIT _most FOR UPDATE SKIP LOCKED) s);
  _some := _some || ARRAY(SELECT r.request_id FROM (
      SELECT * FROM wed.request WHERE tenant_id = _tenant_id AND state = 'w'
        AND ready_at BETWEEN wed.moment_of_waiting(_tenant_id, 'w', _most) AND clock_timestamp() - interval '1 s'
      ORDER BY ready_at LIMIT _most) r
    WHERE wed.in_the_way(r) IS NULL);
  _hosted := wed.hand_over_requests(wed.lockable_requests(_some), '{}', '{}') + wed.make_granted_due(_tenant_id);
  IF _hosted > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  RETURN cardinality(_some);
END $$;

-- Gives the highest priority to waiting requests of instances for whose keys others have begun to wait since: behind
-- those, both would wait for ever. Looks at _most of a tenant's, some by chance.
CREATE OR REPLACE FUNCTION wed.raise_holders(_tenant_id integer, _most integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _first CONSTANT integer := 2147483647;
BEGIN
  WITH w AS MATERIALIZED (
    SELECT request_id, flow_id, wid FROM wed.request
    WHERE tenant_id = _tenant_id AND state = 'w' AND ready_at >= wed.moment_of_waiting(_tenant_id, 'w', _most)
    ORDER BY ready_at LIMIT _most FOR UPDATE SKIP LOCKED)
  UPDATE wed.reservation v SET priority = _first FROM w
  WHERE v.request_id = w.request_id AND NOT v.held AND v.priority < _first AND wed.holds_up(w.flow_id, w.wid);
END $$;
