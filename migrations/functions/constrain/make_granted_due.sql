-- Makes jobs of a tenant due that were granted while somebody had them locked; answers how many are the hosts'.
CREATE OR REPLACE FUNCTION wed.make_granted_due(_tenant_id integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _one record;
  _hosted bigint := 0;
BEGIN
  FOR _one IN
    SELECT r.flow_id, array_agg(r.wid) AS wids, array_agg(r.tgid) AS tgids, array_agg(r.request_id) AS requests
    FROM (SELECT * FROM wed.request WHERE tenant_id = _tenant_id AND state = 'h' AND leads
          ORDER BY ready_at LIMIT 200 FOR UPDATE SKIP LOCKED) r GROUP BY r.flow_id
  LOOP
    _hosted := _hosted + wed.make_due(_one.flow_id, _one.wids, _one.tgids, false);
    PERFORM wed.mark_undue(_one.requests);
  END LOOP;
  RETURN _hosted;
END $$;
