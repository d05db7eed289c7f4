-- An item with what is needed to do it: the input attributes with their types and values, the attributes that a
-- report may set, the form. For its holder and those to whom it is offered; others see no data.
CREATE OR REPLACE FUNCTION wed.work_data(_tenant text, _name text, _item_id bigint,
  _now timestamptz DEFAULT clock_timestamp())
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog,
  pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _item wed.work_item := wed.see_work(_person, _item_id, _now);
  _task wed.work_task;
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id);
  _types jsonb;
  _state jsonb;
  _outputs text[];
BEGIN
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  IF _schema IS NULL OR _task.tgid IS NULL THEN RETURN wed.work_document(_item); END IF;
  EXECUTE format('SELECT jsonb_object_agg(aname, atype) FROM %I.wed_attr', _schema) INTO _types;
  _outputs := wed.work_outputs(_item);
  IF _item.holder = _person.person_id OR _item.state = 'READY' AND wed.is_offered(_item, _person, _now) THEN
    EXECUTE format('SELECT to_jsonb(w) - ''wid'' FROM %I.wed_flow w WHERE wid = $1', _schema) INTO _state
      USING _item.wid;
  END IF;
  RETURN wed.work_document(_item)
    || (SELECT e.extent FROM wed.work_extents(ARRAY[_item], _person.person_id) e) || jsonb_build_object(
    'behind', CASE WHEN _item.holder = _person.person_id THEN wed.work_behind(_item, _person.person_id, _types, _state)
      ELSE '[]' END,
    'deadline_epoch', extract(epoch FROM _item.deadline_at),
    'warnings', (SELECT w.warnings FROM wed.work_instance w WHERE w.flow_id = _item.flow_id AND w.wid = _item.wid),
    'inputs', _task.inputs, 'outputs', _outputs, 'state_attribute', _task.state_attribute,
    'types', (SELECT coalesce(jsonb_object_agg(k, _types -> k), '{}') FROM unnest(_task.inputs || _outputs) k
      WHERE _types ? k),
    'data', (SELECT coalesce(jsonb_object_agg(k, _state -> k), '{}') FROM unnest(_task.inputs || _outputs) k
      WHERE _state ? k),
    'form', coalesce(_task.form, wed.work_form(_task, _outputs, _types)));
END $$;
