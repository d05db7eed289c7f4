-- A report's values by attribute; refused when they set what the task may not (WF010).
CREATE OR REPLACE FUNCTION wed.checked_values(_item wed.work_item, _task wed.work_task, _values jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _outputs text[] := array_remove(wed.work_outputs(_item), _task.state_attribute);
  _plan jsonb := (SELECT plan FROM wed.work_plan WHERE flow_id = _item.flow_id);
  _named jsonb;
  _wrong text;
BEGIN
  SELECT coalesce(jsonb_object_agg((wed.data_attributes(_plan, jsonb_build_array(v.key)))[1], v.value),
    '{}') INTO _named
  FROM jsonb_each(_values) v;
  SELECT min(k) INTO _wrong FROM jsonb_object_keys(_named) k WHERE k <> ALL (_outputs);
  IF _wrong IS NOT NULL THEN
    PERFORM wed.refuse_write(_item.wid, _item.task, _wrong, _outputs);
  END IF;
  RETURN _named;
END $$;
