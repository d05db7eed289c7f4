-- Refuses nodes of an analysed expression that are not on the list, and more or deeper ones than a condition needs.
CREATE OR REPLACE FUNCTION wed.check_nodes(_nodes wed.expression_node[], _text text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _bad text;
BEGIN
  SELECT node INTO _bad FROM unnest(_nodes) WHERE node NOT IN ('VAR', 'CONST', 'FUNCEXPR', 'OPEXPR', 'DISTINCTEXPR',
    'NULLIFEXPR', 'SCALARARRAYOPEXPR', 'BOOLEXPR', 'RELABELTYPE', 'COERCEVIAIO', 'ARRAYCOERCEEXPR', 'CASE', 'WHEN',
    'CASEWHEN', 'CASETESTEXPR', 'ARRAY', 'COALESCE', 'MINMAX', 'SQLVALUEFUNCTION', 'NULLTEST', 'BOOLEANTEST',
    'SUBSCRIPTINGREF', 'ROWCOMPARE', 'NAMEDARGEXPR', 'COLLATE', 'ROW') LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'a predicate may not hold a % expression', lower(_bad) USING ERRCODE = 'WF011',
      HINT =
        'Use comparisons, boolean logic, CASE, COALESCE, arithmetic, casts and the listed functions over the '
        'attributes.';
  END IF;
  IF cardinality(_nodes) > 5000 OR (SELECT max(depth) FROM unnest(_nodes)) > 200 THEN
    RAISE EXCEPTION 'the predicate is nested too deep, or has too many parts' USING ERRCODE = 'WF011',
      HINT = 'Use concat(...) for long chains of ||, IN (...) for long chains of OR; at most 5000 parts.';
  END IF;
  IF EXISTS (SELECT FROM unnest(_nodes) r LEFT JOIN unnest(_nodes) n ON n.at = r.around
             WHERE r.node = 'ROW' AND n.node IS DISTINCT FROM 'NULLTEST') THEN
    RAISE EXCEPTION 'a predicate may not hold a row of values here' USING ERRCODE = 'WF011',
      HINT = 'Rows are compared with rows, or tested for null.';
  END IF;
  SELECT coalesce(c.collname, '?') INTO _bad FROM unnest(_nodes) n
  LEFT JOIN pg_collation c ON c.oid = substring(n.fields FROM ':collOid (\d+)')::oid
  WHERE n.node = 'COLLATE' AND (c.collnamespace = 'pg_catalog'::regnamespace
    AND c.collname IN ('C', 'POSIX', 'default', 'ucs_basic')) IS NOT TRUE LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the collation % is not allowed in a predicate', quote_ident(_bad) USING ERRCODE = 'WF011',
      DETAIL = wed.place(_bad, _text),
        HINT = 'Write COLLATE "C" for the order of bytes; lower(...) compares without regard to case.';
  END IF;
  IF EXISTS (SELECT FROM unnest(_nodes) WHERE node = 'SQLVALUEFUNCTION' AND fields ~ '^ :op (9|1[0-9])') THEN
    RAISE EXCEPTION 'who evaluates a predicate, and where, is not for it to see' USING ERRCODE = 'WF011',
      HINT = 'A predicate looks at the attributes of its own instance only.';
  END IF;
  IF EXISTS (SELECT FROM unnest(_nodes) WHERE node = 'VAR' AND fields ~ ':varattno (0|-)') THEN
    RAISE EXCEPTION 'a predicate may name attributes only, not the whole row or a system column'
      USING ERRCODE = 'WF011', HINT = 'Name the attributes.';
  END IF;
  PERFORM wed.check_types(_nodes, _text);
END $$;
