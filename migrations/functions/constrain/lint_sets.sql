-- For each trigger of a flow, the documents that its transition may set, of the values that lint_values distinguishes;
-- under start, the states that an instance may begin with. null: there are more than _most of one of them.
CREATE OR REPLACE FUNCTION wed.lint_sets(_flow_id integer, _most integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _values jsonb := (SELECT coalesce(jsonb_object_agg(v.name, v.list), '{}') FROM wed.lint_values(_flow_id) v);
  _written text[];
  _sets jsonb := '{}';
  _one record;
  _all jsonb;
  _name text;
BEGIN
  _written := ARRAY(SELECT DISTINCT n FROM wed.trigger t CROSS JOIN LATERAL unnest(t.writes) n
                    WHERE t.flow_id = _flow_id AND t.enabled AND NOT t.cfinal);
  FOR _one IN
    SELECT tgid::text AS name, writes FROM wed.trigger
    WHERE flow_id = _flow_id AND enabled AND NOT cfinal AND predicate IS NOT NULL
    UNION ALL SELECT 'start', ARRAY(SELECT n FROM jsonb_object_keys(_values) n WHERE n <> ALL (_written))
  LOOP
    _all := CASE WHEN _one.name = 'start' THEN jsonb_build_array(wed.lint_defaults(_flow_id)) ELSE '[{}]' END;
    FOREACH _name IN ARRAY _one.writes LOOP
      CONTINUE WHEN NOT _values ? _name;
      IF jsonb_array_length(_all) * jsonb_array_length(_values -> _name) > _most THEN RETURN NULL; END IF;
      _all := (SELECT jsonb_agg(a || jsonb_build_object(_name, v))
               FROM jsonb_array_elements(_all) a CROSS JOIN jsonb_array_elements(_values -> _name) v);
    END LOOP;
    _sets := _sets || jsonb_build_object(_one.name, _all);
  END LOOP;
  RETURN _sets;
END $$;
