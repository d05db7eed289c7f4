-- An attachment of an item that a person may see: its name and bytes.
CREATE OR REPLACE FUNCTION wed.work_file(_tenant text, _name text, _item_id bigint, _note_id bigint, OUT file_name text,
  OUT bytes bytea)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item := wed.see_work(wed.person_of(_tenant, _name), _item_id, clock_timestamp());
BEGIN
  SELECT n.file_name, n.bytes INTO work_file.file_name, work_file.bytes FROM wed.work_note n
  WHERE n.note_id = _note_id AND n.item_id = _item.item_id AND n.flow_id = _item.flow_id AND n.bytes IS NOT NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'work item % has no attachment %', _item_id, _note_id USING ERRCODE = 'WF080',
      HINT = 'Its history lists them: `wed work history`.';
  END IF;
END $$;
