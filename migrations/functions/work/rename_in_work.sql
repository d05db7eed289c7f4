-- Follows an attribute's new name in people's tasks, their forms and the plan they came from. What was copied to
-- people's machines is fetched again, for the plan changed.
CREATE OR REPLACE FUNCTION wed.rename_in_work(_flow_id integer, _former text, _name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.work_task SET inputs = array_replace(inputs, _former, _name),
    outputs = array_replace(outputs, _former, _name),
    state_attribute = CASE state_attribute WHEN _former THEN _name ELSE state_attribute END,
    assignee = CASE assignee WHEN _former THEN _name ELSE assignee END,
    candidates = CASE candidates WHEN _former THEN _name ELSE candidates END,
    for_each = CASE for_each WHEN _former THEN _name ELSE for_each END,
    collect = CASE collect WHEN _former THEN _name ELSE collect END,
    form = wed.renamed_form(form, _former, _name)
  WHERE flow_id = _flow_id;
  UPDATE wed.work_plan SET plan = wed.renamed_plan(plan, _former, _name), applied_at = clock_timestamp()
  WHERE flow_id = _flow_id;
END $$;

-- A plan in which an attribute has another name. Data of a process keep theirs.
CREATE OR REPLACE FUNCTION wed.renamed_plan(_plan jsonb, _former text, _name text) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _plan || jsonb_build_object('tasks', (
      SELECT coalesce(jsonb_agg(t || jsonb_strip_nulls(jsonb_build_object(
        'inputs', CASE WHEN d.name IS NULL THEN wed.renamed_list(t -> 'inputs', _former, _name) END,
        'outputs', CASE WHEN d.name IS NULL THEN wed.renamed_list(t -> 'outputs', _former, _name) END,
        'state', CASE t ->> 'state' WHEN _former THEN _name END,
        'assignee', CASE t ->> 'assignee' WHEN _former THEN _name END,
        'candidates', CASE t ->> 'candidates' WHEN _former THEN _name END,
        'for_each', CASE t ->> 'for_each' WHEN _former THEN _name END,
        'collect', CASE t ->> 'collect' WHEN _former THEN _name END,
        'form', wed.renamed_form(t -> 'form', _former, _name))) ORDER BY o), '[]')
      FROM jsonb_array_elements(_plan -> 'tasks') WITH ORDINALITY x(t, o)))
    || CASE WHEN jsonb_typeof(_plan -> 'data') = 'array' THEN jsonb_build_object('data', (
      SELECT coalesce(jsonb_agg(CASE e ->> 'attribute' WHEN _former THEN e || jsonb_build_object('attribute', _name)
        ELSE e END ORDER BY o), '[]')
      FROM jsonb_array_elements(_plan -> 'data') WITH ORDINALITY x(e, o))) ELSE '{}' END
  FROM (SELECT 1) one
  -- A datum of that name is meant by it, whatever attributes are called.
  LEFT JOIN LATERAL (SELECT e ->> 'name' AS name FROM jsonb_array_elements(
    CASE jsonb_typeof(_plan -> 'data') WHEN 'array' THEN _plan -> 'data' ELSE '[]' END) e
    WHERE e ->> 'name' = _former LIMIT 1) d ON true
$$;

-- A list of names in which one is another; null for none.
CREATE OR REPLACE FUNCTION wed.renamed_list(_names jsonb, _former text, _name text) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN jsonb_typeof(_names) = 'array' THEN (
    SELECT coalesce(jsonb_agg(CASE n WHEN _former THEN _name ELSE n END ORDER BY o), '[]')
    FROM jsonb_array_elements_text(_names) WITH ORDINALITY x(n, o)) END
$$;

-- A form in which a property has another name; null for none.
CREATE OR REPLACE FUNCTION wed.renamed_form(_form jsonb, _former text, _name text) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN jsonb_typeof(_form) = 'object' THEN _form
    || CASE WHEN _form -> 'properties' ? _former THEN jsonb_build_object('properties',
         (_form -> 'properties') - _former || jsonb_build_object(_name, _form -> 'properties' -> _former)) ELSE '{}' END
    || jsonb_strip_nulls(jsonb_build_object('required', wed.renamed_list(_form -> 'required', _former, _name))) END
$$;
