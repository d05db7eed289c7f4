-- The parts of a task: one for each element of its list, at most 1000; a single one where it has no list, or the list
-- is empty, so that a person decides.
CREATE OR REPLACE FUNCTION wed.work_elements(_flow_id integer, _wid integer, _task wed.work_task)
RETURNS TABLE (part integer, element jsonb)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _list jsonb;
BEGIN
  IF _task.for_each IS NOT NULL THEN
    EXECUTE format('SELECT to_jsonb(w.%I) FROM %I.wed_flow w WHERE w.wid = $1', _task.for_each,
                   (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _list USING _wid;
  END IF;
  IF jsonb_typeof(_list) IS DISTINCT FROM 'array' OR _list = '[]' THEN
    RETURN QUERY SELECT 0, NULL::jsonb;
  ELSE
    RETURN QUERY SELECT e.at::integer, e.value FROM jsonb_array_elements(_list) WITH ORDINALITY e(value, at)
      WHERE e.at <= 1000;
  END IF;
END $$;

-- The answers so far with that of a part: by its element, or by its number where that is no text and no number.
CREATE OR REPLACE FUNCTION wed.collected(_item wed.work_item, _task wed.work_task, _answer jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _answers jsonb;
BEGIN
  EXECUTE format('SELECT w.%I FROM %I.wed_flow w WHERE w.wid = $1', _task.collect,
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) INTO _answers USING _item.wid;
  RETURN CASE jsonb_typeof(_answers) WHEN 'object' THEN _answers ELSE '{}' END || jsonb_build_object(
    CASE WHEN jsonb_typeof(_item.element) IN ('string', 'number') THEN _item.element #>> '{}' ELSE _item.part::text END,
    _answer);
END $$;

-- Whether the parts of an item's task that have ended are enough.
CREATE OR REPLACE FUNCTION wed.is_complete(_item wed.work_item, _task wed.work_task) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(*) FILTER (WHERE i.state IN ('SUCCEEDED', 'FAILED'))
    >= least(coalesce(_task.complete, count(*)), count(*))
  FROM wed.work_item i WHERE i.flow_id = _item.flow_id AND i.wid = _item.wid AND i.tgid = _item.tgid
    AND i.arrived_at = _item.arrived_at
$$;
