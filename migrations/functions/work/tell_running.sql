-- Sets a task's state attribute to RUNNING by an event, unless the task's own condition would no longer hold.
CREATE OR REPLACE FUNCTION wed.tell_running(_item wed.work_item, _attribute text, _person text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _rows wed.evaluated[];
BEGIN
  PERFORM wed.write_values(_item.flow_id, _item.wid, jsonb_build_object(_attribute, 'RUNNING'));
  _rows := wed.as_it_stands(_item.flow_id, _item.wid);
  IF NOT EXISTS (SELECT FROM unnest(_rows[1].fired) f WHERE f & 4294967295 = _item.tgid) THEN
    -- Takes the write back.
    RAISE EXCEPTION 'its condition would not hold' USING ERRCODE = 'WF089';
  END IF;
  PERFORM wed.pass_gate(_rows, NULL, NULL, '_EVENT', NULL, _person);
EXCEPTION WHEN SQLSTATE 'WF089' THEN
  NULL;
END $$;
