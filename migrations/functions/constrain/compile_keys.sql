-- Makes the function of a flow that evaluates what its triggers reserve: for each row and trigger a document of keys. As
-- wed_predicate, like the conditions.
CREATE OR REPLACE FUNCTION wed.compile_keys(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
  _cases text;
  _name text := format('%1$I.keys_%1$s(%1$I.wed_flow[], integer[])', _flow.shape_schema);
BEGIN
  SELECT string_agg(format('WHEN %s THEN %s', tgid, wed.keys_expression(c)), E'\n      ' ORDER BY tgid) INTO _cases
  FROM wed.trigger_constraint c WHERE flow_id = _flow.flow_id AND keys IS NOT NULL;
  IF _cases IS NULL THEN RETURN; END IF;
  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.keys_%1$s(_rows %1$I.wed_flow[], _tgids integer[]) RETURNS jsonb[]
LANGUAGE plpgsql STABLE SECURITY DEFINER AS %2$L $f$, _flow.shape_schema, format($keys$
#variable_conflict use_column
BEGIN
  RETURN ARRAY(SELECT CASE _of._tgid
      %2$s
      ELSE '{}' END
    FROM unnest(_tgids) WITH ORDINALITY _of(_tgid, _at) CROSS JOIN LATERAL (SELECT (_rows[_of._at]).*) _row ORDER BY _of._at);
END $keys$, _flow.shape_schema, _cases));
  IF (SELECT proowner <> 'wed_predicate'::regrole FROM pg_proc WHERE oid = _name::regprocedure) THEN
    EXECUTE format('GRANT CREATE ON SCHEMA %I TO wed_predicate', _flow.shape_schema);
    EXECUTE format('ALTER FUNCTION %s OWNER TO wed_predicate', _name);
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _flow.shape_schema);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', _name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', _name, current_user);
  END IF;
END $$;
