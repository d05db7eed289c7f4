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
