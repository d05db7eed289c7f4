-- Refuses a task whose performers the data cannot say: an attribute that there is not, or no names; a task that the
-- plan does not have.
CREATE OR REPLACE FUNCTION wed.refuse_performers(_flow wed.flow, _plan jsonb, _name text, _task jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _attribute text := (wed.data_attributes(_plan, jsonb_build_array(coalesce(_task ->> 'assignee',
    _task ->> 'candidates'))))[1];
  _other text;
  _type regtype := (SELECT atttypid FROM pg_attribute WHERE attname = _attribute AND attnum > 0 AND NOT attisdropped
    AND attrelid = to_regclass(format('%I.wed_flow', _flow.schema_name)));
BEGIN
  IF _attribute IS NOT NULL AND (_type IS NULL OR _type NOT IN ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype,
      'varchar'::regtype, 'varchar[]'::regtype)) THEN
    RAISE EXCEPTION 'task "%" is for whom the attribute "%" names, which flow "%" does not have as a text, a list of '
      'texts or a document', left(_name, 80), left(_attribute, 80), _flow.name USING ERRCODE = 'WF085',
      HINT = 'Declare the attribute as text or text[], with names of people or roles.';
  ELSIF _task ? 'assignee' AND _task ? 'candidates' THEN
    RAISE EXCEPTION 'task "%" has both an assignee and candidates', left(_name, 80) USING ERRCODE = 'WF085',
      HINT = 'Name one attribute: assignee for one person, candidates for people and roles.';
  END IF;
  PERFORM wed.refuse_parts(_flow, _plan, _name, _task);
  FOREACH _other IN ARRAY array_remove(ARRAY[_task ->> 'same_as', _task ->> 'not_by'], NULL) LOOP
    IF NOT EXISTS (SELECT FROM jsonb_array_elements(_plan -> 'tasks') t
                   WHERE coalesce(t ->> 'task', t ->> 'trigger') = _other) THEN
      RAISE EXCEPTION 'task "%" looks at who did "%", which is no task of people', left(_name, 80), left(_other, 80)
        USING ERRCODE = 'WF085', HINT = 'Name a task of the same flow.';
    END IF;
  END LOOP;
END $$;

-- Refuses a task for each element of what is no list, or whose answers have no place.
CREATE OR REPLACE FUNCTION wed.refuse_parts(_flow wed.flow, _plan jsonb, _name text, _task jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _shape regclass := to_regclass(format('%I.wed_flow', _flow.schema_name));
  _list regtype := (SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = _shape AND NOT a.attisdropped
    AND a.attname = (wed.data_attributes(_plan, jsonb_build_array(_task -> 'for_each')))[1]);
  _answers regtype := (SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = _shape AND NOT a.attisdropped
    AND a.attname = (wed.data_attributes(_plan, jsonb_build_array(_task -> 'collect')))[1]);
  _wrong text := CASE
    WHEN _task ->> 'for_each' IS NULL AND coalesce(_task ->> 'collect', _task ->> 'complete') IS NOT NULL
      THEN 'it has no "for_each"'
    WHEN _task ->> 'for_each' IS NULL THEN NULL
    WHEN _list IS NULL OR _list <> 'jsonb'::regtype AND _list::text NOT LIKE '%[]'
      THEN '"for_each" names no attribute with a list'
    WHEN _answers IS DISTINCT FROM 'jsonb'::regtype THEN '"collect" names no attribute of type jsonb'
    WHEN coalesce(_task ->> 'complete', 'all') !~ '^(all|first|[1-9][0-9]{0,3})$'
      THEN '"complete" is not all, first, or a number' END;
BEGIN
  IF _wrong IS NOT NULL THEN
    RAISE EXCEPTION 'task "%" cannot be done for each element of a list: %', left(_name, 80), _wrong
      USING ERRCODE = 'WF085',
      HINT = 'For example for_each = "voters", collect = "votes", complete = "all", with votes of type jsonb.';
  END IF;
END $$;
