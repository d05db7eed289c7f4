-- Advances every instance that is on its way back and has no compensation pending. For the hosts' sweep.
CREATE OR REPLACE FUNCTION wed.advance_back() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _one record;
  _advanced bigint := 0;
BEGIN
  DELETE FROM wed.going_back b USING wed.instance i WHERE i.flow_id = b.flow_id AND i.wid = b.wid AND i.status = 'F';
  FOR _one IN SELECT b.flow_id, b.wid FROM wed.going_back b JOIN wed.instance i USING (flow_id, wid)
              WHERE NOT b.stopped AND i.status = 'E' ORDER BY 1, 2 LIMIT 100 FOR UPDATE OF b SKIP LOCKED LOOP
    PERFORM wed.undo_next(_one.flow_id, _one.wid);
    _advanced := _advanced + 1;
  END LOOP;
  RETURN _advanced;
END $$;
