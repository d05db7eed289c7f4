-- Makes the functions of a flow that evaluate what its triggers reserve: for each row and trigger a document of keys.
-- keys_ does as wed_predicate, like the conditions; read_keys_ hands it the rows of some instances.
CREATE OR REPLACE FUNCTION wed.compile_keys(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
  _cases text;
  _columns text;
  _name text := format('%1$I.keys_%1$s(%1$I.wed_flow[], integer[])', _flow.shape_schema);
BEGIN
  SELECT string_agg(format('WHEN %s THEN %s', tgid, wed.keys_expression(c)), E'\n      ' ORDER BY tgid) INTO _cases
  FROM wed.trigger_constraint c WHERE flow_id = _flow.flow_id AND keys IS NOT NULL;
  IF _cases IS NULL THEN RETURN; END IF;
  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO _columns FROM pg_attribute
  WHERE attrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND attnum > 0 AND NOT attisdropped;
  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.keys_%1$s(_rows %1$I.wed_flow[], _tgids integer[]) RETURNS jsonb[]
LANGUAGE plpgsql STABLE SECURITY DEFINER AS %2$L $f$, _flow.shape_schema, format($keys$
#variable_conflict use_column
BEGIN
  RETURN ARRAY(SELECT CASE _of._tgid
      %2$s
      ELSE '{}' END
    FROM ROWS FROM (unnest(_rows), unnest(_tgids)) WITH ORDINALITY _of(%1$s, _tgid, _at) ORDER BY _of._at);
END $keys$, _columns, _cases));
  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.read_keys_%1$s(_wids integer[], _tgids integer[]) RETURNS jsonb[]
LANGUAGE plpgsql STABLE AS $keys$
BEGIN
  RETURN %1$I.keys_%1$s(ARRAY(
    SELECT ROW(w.*)::%1$I.wed_flow FROM unnest(_wids) WITH ORDINALITY u(wid, at)
    CROSS JOIN LATERAL (SELECT * FROM %2$I.wed_flow WHERE wid >= u.wid AND wid <= u.wid ORDER BY wid DESC LIMIT 1) w
        ORDER BY u.at), _tgids);
END $keys$ $f$, _flow.shape_schema, _flow.schema_name);
  EXECUTE format('REVOKE ALL ON FUNCTION %1$I.read_keys_%1$s FROM PUBLIC', _flow.shape_schema);
  IF (SELECT proowner <> 'wed_predicate'::regrole FROM pg_proc WHERE oid = _name::regprocedure) THEN
    EXECUTE format('GRANT CREATE ON SCHEMA %I TO wed_predicate', _flow.shape_schema);
    EXECUTE format('ALTER FUNCTION %s OWNER TO wed_predicate', _name);
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _flow.shape_schema);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', _name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', _name, current_user);
  END IF;
END $$;
