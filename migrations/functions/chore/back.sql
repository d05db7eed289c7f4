-- Chore `back`: instances on their way back that have no compensation pending get the next one.

CREATE OR REPLACE FUNCTION wed.due_back()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, b.flow_id, b.wid, 0, i.changed FROM wed.going_back b
  JOIN wed.instance i USING (flow_id, wid) JOIN wed.flow f USING (flow_id)
  WHERE i.status = 'F' OR NOT b.stopped AND i.status = 'E'
$$;

CREATE OR REPLACE FUNCTION wed.do_back(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT wed.hold_instance(_flow_id, _wid::integer, true) THEN RETURN NULL; END IF;
  DELETE FROM wed.going_back b USING wed.instance i
  WHERE b.flow_id = _flow_id AND b.wid = _wid AND i.flow_id = _flow_id AND i.wid = _wid AND i.status = 'F';
  IF NOT FOUND THEN PERFORM wed.undo_next(_flow_id, _wid::integer); END IF;
  RETURN 'true';
END $$;
