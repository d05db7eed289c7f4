-- Holds an analysed expression against the allow-lists, default reject.
-- In the text of a node tree, constants are numbers and names are escaped, so a tenant's text cannot
-- look like a node or a field.
CREATE OR REPLACE FUNCTION wed.check_tree(_tree text, _text text) RETURNS integer
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _bad text;
BEGIN
  SELECT m[1] INTO _bad FROM regexp_matches(_tree, '\{([A-Z_]+)', 'g') AS m
  WHERE m[1] NOT IN ('VAR', 'CONST', 'FUNCEXPR', 'OPEXPR', 'DISTINCTEXPR', 'NULLIFEXPR',
    'SCALARARRAYOPEXPR', 'BOOLEXPR', 'RELABELTYPE', 'COERCEVIAIO', 'ARRAYCOERCEEXPR', 'CASE', 'CASEEXPR',
    'WHEN', 'CASEWHEN', 'CASETESTEXPR', 'ARRAY', 'ARRAYEXPR', 'COALESCE', 'COALESCEEXPR', 'MINMAX',
    'MINMAXEXPR', 'SQLVALUEFUNCTION', 'NULLTEST', 'BOOLEANTEST', 'SUBSCRIPTINGREF', 'ROWCOMPARE',
    'ROWCOMPAREEXPR', 'NAMEDARGEXPR', 'COLLATE', 'COLLATEEXPR', 'ROW', 'ROWEXPR') LIMIT 1;
  IF _bad IS NOT NULL THEN
    RAISE EXCEPTION 'a predicate may not hold a % expression', lower(_bad) USING ERRCODE = 'WF011',
      HINT = 'Use comparisons, boolean logic, CASE, COALESCE, arithmetic, casts and the listed functions over the attributes.';
  END IF;
  IF (SELECT count(*) FILTER (WHERE m[1] IS NULL) FROM regexp_matches(_tree, '(\{NULLTEST :arg )?\{ROW(?:EXPR)? ', 'g') m) > 0 THEN
    RAISE EXCEPTION 'a predicate may not hold a row of values here' USING ERRCODE = 'WF011',
      HINT = 'Rows are compared with rows, or tested for null.';
  END IF;
  SELECT coalesce(c.collname, '?') INTO _bad FROM regexp_matches(_tree, ':collOid (\d+)', 'g') m LEFT JOIN pg_collation c ON c.oid = m[1]::oid
  WHERE (c.collnamespace = 'pg_catalog'::regnamespace AND c.collname IN ('C', 'POSIX', 'default', 'ucs_basic')) IS NOT TRUE LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the collation % is not allowed in a predicate', quote_ident(_bad) USING ERRCODE = 'WF011',
      DETAIL = wed.place(_bad, _text), HINT = 'Write COLLATE "C" for the order of bytes; lower(...) compares without regard to case.';
  END IF;
  IF _tree ~ '\{SQLVALUEFUNCTION :op (9|1[0-9])' THEN
    RAISE EXCEPTION 'who evaluates a predicate, and where, is not for it to see' USING ERRCODE = 'WF011',
      HINT = 'A predicate looks at the attributes of its own instance only.';
  END IF;
  IF _tree ~ ':varattno (0|-)' THEN
    RAISE EXCEPTION 'a predicate may name attributes only, not the whole row or a system column'
      USING ERRCODE = 'WF011', HINT = 'Name the attributes.';
  END IF;
  SELECT p.proname INTO _bad
  FROM (SELECT DISTINCT m[1]::oid AS fn FROM regexp_matches(_tree, ':funcid (\d+)', 'g') AS m) f
  LEFT JOIN pg_proc p ON p.oid = f.fn
  WHERE p.oid IS NULL OR p.pronamespace <> 'pg_catalog'::regnamespace OR p.provolatile = 'v' OR p.proretset
    OR NOT (p.proname IN (SELECT name FROM wed.allowed_function)
            OR p.oid IN (SELECT castfunc FROM pg_cast))
    -- These take a regular expression of another kind, or numbers that take very long.
    OR p.oid IN ('substring(text,text,text)'::regprocedure, 'similar_to_escape(text,text)'::regprocedure,
                 'gcd(numeric,numeric)'::regprocedure, 'lcm(numeric,numeric)'::regprocedure)
    -- A cast from text to a path into a document, and one with values of its own.
    OR p.prorettype = 'jsonpath'::regtype LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the function % is not allowed in a predicate', coalesce(_bad, '?')
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad, _text), HINT = 'docs/reference/conditions.md lists the functions that are.';
  END IF;
  SELECT o.oprname INTO _bad
  FROM (SELECT DISTINCT m[1]::oid AS op FROM regexp_matches(_tree, ':opno (\d+)', 'g') AS m) f
  LEFT JOIN pg_operator o ON o.oid = f.op
  WHERE o.oid IS NULL OR o.oprnamespace <> 'pg_catalog'::regnamespace
    OR o.oprname NOT IN ('=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '||', '~~', '!~~', '~~*',
      '!~~*', '->', '->>', '#>', '#>>', '#-', '@>', '<@', '?', '?|', '?&', '&&', '&', '|', '#', '<<', '>>', '^',
      '~', '~*', '!~', '!~*', '^@', '@', '|/', '||/', '@?', '@@', '-|-')
    OR o.oprname = '@@' AND o.oprright <> 'jsonpath'::regtype
    LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the operator % is not allowed in a predicate', coalesce(_bad, '?')
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad, _text), HINT = 'Use comparison, arithmetic, ||, LIKE, and the operators of jsonb and arrays.';
  END IF;
  IF _tree ~ '\{SCALARARRAYOPEXPR' AND EXISTS (
    SELECT FROM regexp_matches(_tree, '\{SCALARARRAYOPEXPR :opno (\d+)', 'g') m JOIN pg_operator o ON o.oid = m[1]::oid
    WHERE o.oprname NOT IN ('=', '<>', '<', '<=', '>', '>=', '~~', '!~~', '~~*', '!~~*')) THEN
    RAISE EXCEPTION 'ANY and ALL take a comparison or LIKE in a predicate' USING ERRCODE = 'WF011',
      HINT = 'Join several conditions by OR.';
  END IF;
  IF (SELECT count(*) FROM regexp_matches(_tree, '\{FUNCEXPR :funcid', 'g')) > 400
     OR (SELECT count(*) FROM regexp_matches(_tree, '\{OPEXPR :opno (?:1760|1761|1762|1038) ', 'g')) > 64 THEN
    RAISE EXCEPTION 'the predicate holds too many calls, or products of decimals' USING ERRCODE = 'WF011',
      HINT = 'At most 64 products; compute some of it in a transition.';
  END IF;
  SELECT format_type(f.ty, NULL) INTO _bad
  FROM (SELECT DISTINCT m[1]::oid AS ty
        FROM regexp_matches(_tree, ':(?:consttype|resulttype|funcresulttype|opresulttype|vartype|array_typeid) (\d+)', 'g') AS m) f
  LEFT JOIN pg_type t ON t.oid = f.ty
  LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
  WHERE t.oid IS NULL OR t.oid = 'jsonpath[]'::regtype OR coalesce(e.typnamespace, t.typnamespace) <> 'pg_catalog'::regnamespace
    OR coalesce(e.typname, t.typname) NOT IN (SELECT name FROM wed.allowed_type) OR e.typtype = 'r' LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the type % is not allowed in a predicate', coalesce(_bad, '?')
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad, _text), HINT = 'Use the types that attributes may have.';
  END IF;
  IF _tree ~ format(':resulttype (%s) ', (SELECT string_agg(oid::text, '|') FROM pg_type WHERE typtype = 'r')) THEN
    RAISE EXCEPTION 'text that is cast to a range is written there, in quotes' USING ERRCODE = 'WF011',
      HINT = 'Make a range of its bounds: daterange(a1, a2, ''[]'').';
  END IF;
  IF _tree ~ format(':resulttype %s ', 'jsonpath'::regtype::oid) THEN
    RAISE EXCEPTION 'a path into a document is text in quotes' USING ERRCODE = 'WF011',
      HINT = 'Write it itself; with a key in an attribute use -> and ->>.';
  END IF;
  RETURN wed.check_work(_tree);
END $$;
