-- Refuses types of an analysed expression that are not on the list, and casts of text to what is written as a constant.
CREATE OR REPLACE FUNCTION wed.check_types(_nodes wed.expression_node[], _text text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _bad text;
BEGIN
  SELECT format_type(t.oid, NULL) INTO _bad
  FROM (SELECT DISTINCT m[1]::oid AS oid FROM unnest(_nodes) n, LATERAL regexp_matches(n.fields,
          ':(?:consttype|resulttype|funcresulttype|opresulttype|vartype|array_typeid) (\d+)', 'g') m) f
  LEFT JOIN pg_type t USING (oid)
  LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
  WHERE t.oid IS NULL OR t.oid = 'jsonpath[]'::regtype OR coalesce(e.typnamespace,
    t.typnamespace) <> 'pg_catalog'::regnamespace
    OR coalesce(e.typname, t.typname) NOT IN (SELECT name FROM wed.allowed_type) OR e.typtype = 'r' LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the type % is not allowed in a predicate', coalesce(_bad, '?')
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad, _text), HINT = 'Use the types that attributes may have.';
  END IF;
  SELECT n.type INTO _bad FROM unnest(_nodes) n JOIN pg_type t ON t.typname = n.type
    AND t.typnamespace = 'pg_catalog'::regnamespace
  WHERE n.node = 'COERCEVIAIO' AND (t.typtype = 'r' OR n.type = 'jsonpath') LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'text that is cast to % is written there, in quotes', _bad USING ERRCODE = 'WF011',
      HINT = 'Make a range of its bounds: daterange(a1, a2, ''[]''); of a document with a key in an attribute take ->.';
  END IF;
  IF EXISTS (SELECT FROM unnest(_nodes) n JOIN unnest(_nodes) a ON a.around = n.at
             WHERE n.node = 'COERCEVIAIO' AND n.type IN ('text', 'varchar', 'bpchar') AND a.type = 'bytea') THEN
    RAISE EXCEPTION 'how bytes are shown is a setting of the session' USING ERRCODE = 'WF011',
      HINT = 'Write encode(..., ''hex'') or encode(..., ''base64'').';
  END IF;
END $$;
