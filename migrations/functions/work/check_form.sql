-- Refuses values that the form of a task does not take (WF088). Of JSON Schema it knows what forms are made of:
-- required, type, enum, minimum, maximum, minLength, maxLength; the rest is left to who fills the form in.
CREATE OR REPLACE FUNCTION wed.check_form(_form jsonb, _values jsonb, _task text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _key text := (SELECT min(k) FROM jsonb_array_elements_text(
                  CASE jsonb_typeof(_form -> 'required') WHEN 'array' THEN _form -> 'required' ELSE '[]' END) k
                WHERE coalesce(_values -> k, 'null') = 'null');
  _why text := 'it is required';
BEGIN
  IF _key IS NULL THEN
    SELECT v.key, wed.form_complaint(_form #> ARRAY['properties', v.key], v.value) INTO _key, _why
    FROM jsonb_each(_values) v WHERE wed.form_complaint(_form #> ARRAY['properties', v.key], v.value) IS NOT NULL
    ORDER BY v.key LIMIT 1;
  END IF;
  IF _key IS NOT NULL THEN
    RAISE EXCEPTION 'the form of % does not take "%": %', _task, _key, _why USING ERRCODE = 'WF088',
      HINT = 'The item''s form says what it takes: `wed work show`.';
  END IF;
END $$;

-- Refuses a form that is none: a text, or a schema whose parts are of another type than JSON Schema gives them.
CREATE OR REPLACE FUNCTION wed.refuse_form(_task text, _form jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _about text := (SELECT min(p.key) FROM jsonb_each(
      CASE jsonb_typeof(_form -> 'properties') WHEN 'object' THEN _form -> 'properties' ELSE '{}' END) p
    WHERE jsonb_typeof(p.value) <> 'object');
  _wrong text := CASE
    WHEN _form IS NULL OR _form = 'null' THEN NULL
    WHEN jsonb_typeof(_form) <> 'object' THEN 'it is a ' || jsonb_typeof(_form) || ' and no object'
    WHEN jsonb_typeof(_form -> 'properties') <> 'object' THEN '"properties" is no object'
    WHEN jsonb_typeof(_form -> 'required') <> 'array' THEN '"required" is no array'
    WHEN _about IS NOT NULL THEN format('property "%s" is no object', left(_about, 80)) END;
BEGIN
  IF _wrong IS NOT NULL THEN
    RAISE EXCEPTION 'the form of task "%" is no JSON Schema of an object: %', left(_task, 80), _wrong
      USING ERRCODE = 'WF085',
      HINT = 'Write form = { properties = { cost = { type = "number", minimum = 0 } }, required = ["cost"] }.';
  END IF;
END $$;
