-- Conditions. A predicate is checked by Postgres's own parser against an empty table of the flow's
-- shape, its analysed tree is held against an allow-list, and what is stored and run is the deparsed
-- tree, never the text. Every way of writing wed_trig passes here.

-- Where a name stands in a predicate, as a sentence.
CREATE FUNCTION wed.place(_name text, _text text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE strpos(lower(_text), lower(_name)) WHEN 0 THEN 'It is what Postgres makes of the predicate.'
    ELSE format('At character %s of the predicate.', strpos(lower(_text), lower(_name))) END
$$;

-- Refuses a fragment that could be anything but one expression: what is left after taking out quoted
-- strings and names must be balanced and hold no comment, no semicolon, no dollar, no backslash.
CREATE FUNCTION wed.check_fragment(_text text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  _bare text;
  _char text;
  _depth integer := 0;
  _found text;
BEGIN
  IF _text IS NULL OR btrim(_text, E' \t\r\n') = '' THEN
    RAISE EXCEPTION 'a condition needs a predicate' USING ERRCODE = 'WF011',
      HINT = 'Write what stands after WHERE, for example: a1 = ''ready'' AND a2 IS NULL';
  END IF;
  IF length(_text) > 16384 THEN
    RAISE EXCEPTION 'the predicate has % characters; 16384 are allowed', length(_text)
      USING ERRCODE = 'WF011', HINT = 'Split it into several triggers.';
  END IF;
  IF _text ~ E'[\x01-\x08\x0e-\x1f]' THEN
    RAISE EXCEPTION 'the predicate holds a control character' USING ERRCODE = 'WF011',
      HINT = 'Remove it; to compare with one, compare with an attribute that holds it.';
  END IF;
  -- Leftmost first, as the lexer reads: of a string its mark and one quote stay, of a quoted name
  -- the mark and one double quote.
  _bare := regexp_replace(_text, $r$(')([^']|'')*'|(")([^"]|"")*"$r$, E'\x01\\1\\3', 'g');
  IF _bare ~ E'[[:alnum:]_&]\x01''' THEN
    RAISE EXCEPTION 'a string with a prefix (E'''', U&'''', B'''', ...) is not allowed in a predicate'
      USING ERRCODE = 'WF011', HINT = 'Write a plain string, and leave a space before its quote.';
  END IF;
  _found := coalesce(substring(_bare FROM E'[^\x01]([''"])'), substring(_bare FROM E'^([''"])'),
                     substring(_bare FROM $r$(--|/\*|\*/|[;$\\`])$r$));
  IF _found IS NOT NULL THEN
    RAISE EXCEPTION '% is not allowed in a predicate', CASE _found
        WHEN '--' THEN 'a comment (--)' WHEN '/*' THEN 'a comment (/*)'
        WHEN '''' THEN 'an unterminated string' WHEN '"' THEN 'an unterminated quoted name'
        ELSE quote_literal(_found) END
      USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', strpos(_text, _found)),
        HINT = 'A predicate is one expression over the attributes, as after WHERE.';
  END IF;
  IF _bare ~ '[0-9]{39}' OR _bare ~* '[0-9.]e[-+]?[0-9]{3}' OR _text ~* $r$'\s*[-+]?[0-9.]+e[-+]?[0-9]{3,}\s*'$r$ THEN
    RAISE EXCEPTION 'a number of the predicate is too large' USING ERRCODE = 'WF011',
      DETAIL = wed.place(coalesce(substring(_bare FROM '[0-9]{39}'), substring(_text FROM '(?i)[0-9.]+e[-+]?[0-9]{3}')), _text),
      HINT = 'At most 38 digits, and exponents below 100.';
  END IF;
  FOREACH _char IN ARRAY regexp_split_to_array(regexp_replace(_bare, '[^][()]', '', 'g'), '') LOOP
    _depth := _depth + CASE WHEN _char IN ('(', '[') THEN 1 WHEN _char IN (')', ']') THEN -1 ELSE 0 END;
    IF _depth < 0 OR _depth > 100 THEN EXIT; END IF;
  END LOOP;
  IF _depth <> 0 THEN
    RAISE EXCEPTION '%', CASE WHEN _depth < 0 THEN 'a closing bracket of the predicate was never opened'
        WHEN _depth > 100 THEN 'the predicate nests more than 100 brackets'
        ELSE 'an opening bracket of the predicate is never closed' END
      USING ERRCODE = 'WF011', HINT = 'Balance the brackets.';
  END IF;
END $$;

-- Functions a predicate may call by name, besides casts between allowed types.
CREATE TABLE wed.allowed_function (name text PRIMARY KEY);
INSERT INTO wed.allowed_function SELECT unnest(ARRAY[
  'lower', 'upper', 'initcap', 'btrim', 'ltrim', 'rtrim', 'length', 'char_length', 'character_length',
  'octet_length', 'substr', 'substring', 'left', 'right', 'position', 'strpos', 'starts_with', 'replace',
  'split_part', 'concat', 'concat_ws', 'reverse', 'translate', 'md5', 'ascii', 'like_escape', 'like',
  'abs', 'ceil', 'ceiling', 'floor', 'round', 'trunc', 'mod', 'div', 'sign', 'sqrt', 'greatest', 'least',
  'now', 'transaction_timestamp', 'date_part', 'extract', 'date_trunc', 'date_bin', 'age', 'make_date',
  'make_interval', 'make_time', 'make_timestamptz', 'to_timestamp', 'to_date', 'to_number', 'to_char',
  'isfinite', 'justify_days', 'justify_hours', 'justify_interval', 'timezone', 'overlaps',
  'jsonb_typeof', 'jsonb_array_length', 'jsonb_extract_path', 'jsonb_extract_path_text',
  'jsonb_exists', 'jsonb_exists_any', 'jsonb_exists_all', 'jsonb_contains', 'jsonb_strip_nulls',
  'array_length', 'array_lower', 'array_upper', 'array_ndims', 'cardinality', 'array_position',
  'array_to_string', 'string_to_array', 'num_nulls', 'num_nonnulls', 'bool', 'int4', 'int8', 'numeric',
  'float8', 'text', 'date', 'timestamptz', 'timestamp', 'interval', 'time']);

-- Types a predicate may hold or cast to; arrays of them too.
CREATE TABLE wed.allowed_type (name text PRIMARY KEY);
INSERT INTO wed.allowed_type SELECT unnest(ARRAY['text', 'varchar', 'bpchar', 'unknown', 'int2', 'int4',
  'int8', 'numeric', 'float4', 'float8', 'bool', 'date', 'time', 'timestamp', 'timestamptz', 'interval',
  'uuid', 'jsonb']);

-- Holds an analysed expression against the allow-lists, default reject.
-- In the text of a node tree, constants are numbers and names are escaped, so a tenant's text cannot
-- look like a node or a field.
CREATE FUNCTION wed.check_tree(_tree text, _text text) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _bad text;
BEGIN
  SELECT m[1] INTO _bad FROM regexp_matches(_tree, '\{([A-Z_]+)', 'g') AS m
  WHERE m[1] NOT IN ('VAR', 'CONST', 'FUNCEXPR', 'OPEXPR', 'DISTINCTEXPR', 'NULLIFEXPR',
    'SCALARARRAYOPEXPR', 'BOOLEXPR', 'RELABELTYPE', 'COERCEVIAIO', 'ARRAYCOERCEEXPR', 'CASE', 'CASEEXPR',
    'WHEN', 'CASEWHEN', 'CASETESTEXPR', 'ARRAY', 'ARRAYEXPR', 'COALESCE', 'COALESCEEXPR', 'MINMAX',
    'MINMAXEXPR', 'SQLVALUEFUNCTION', 'NULLTEST', 'BOOLEANTEST', 'SUBSCRIPTINGREF', 'ROWCOMPARE',
    'ROWCOMPAREEXPR', 'COLLATEEXPR', 'NAMEDARGEXPR') LIMIT 1;
  IF _bad IS NOT NULL THEN
    RAISE EXCEPTION 'a predicate may not hold a % expression', lower(_bad) USING ERRCODE = 'WF011',
      HINT = 'Use comparisons, boolean logic, CASE, COALESCE, arithmetic, casts and the listed functions over the attributes.';
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
            OR p.oid IN (SELECT castfunc FROM pg_cast)) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the function % is not allowed in a predicate', coalesce(_bad, '?')
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad, _text), HINT = 'docs/conditions.md lists the functions that are.';
  END IF;
  SELECT o.oprname INTO _bad
  FROM (SELECT DISTINCT m[1]::oid AS op FROM regexp_matches(_tree, ':opno (\d+)', 'g') AS m) f
  LEFT JOIN pg_operator o ON o.oid = f.op
  WHERE o.oid IS NULL OR o.oprnamespace <> 'pg_catalog'::regnamespace
    OR o.oprname NOT IN ('=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '||', '~~', '!~~', '~~*',
      '!~~*', '->', '->>', '#>', '#>>', '@>', '<@', '?', '?|', '?&', '&&', '&', '|', '#', '<<', '>>')
    LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the operator % is not allowed in a predicate', coalesce(_bad, '?')
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad, _text), HINT = 'Use comparison, arithmetic, ||, LIKE, and the operators of jsonb and arrays.';
  END IF;
  SELECT format_type(f.ty, NULL) INTO _bad
  FROM (SELECT DISTINCT m[1]::oid AS ty
        FROM regexp_matches(_tree, ':(?:consttype|resulttype|funcresulttype|opresulttype|vartype|array_typeid) (\d+)', 'g') AS m) f
  LEFT JOIN pg_type t ON t.oid = f.ty
  LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
  WHERE t.oid IS NULL OR coalesce(e.typnamespace, t.typnamespace) <> 'pg_catalog'::regnamespace
    OR coalesce(e.typname, t.typname) NOT IN (SELECT name FROM wed.allowed_type) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the type % is not allowed in a predicate', coalesce(_bad, '?')
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad, _text), HINT = 'Use the types that attributes may have.';
  END IF;
END $$;

-- Needed for the moment in which it becomes their owner.
GRANT USAGE, CREATE ON SCHEMA wed TO wed_predicate;

-- Puts a predicate on the shape table as a constraint that checks nothing: Postgres parses and
-- analyses it there, follows renamed attributes, and refuses to drop one that it uses. Runs as
-- wed_predicate, so that even a fragment that got past check_fragment could do nothing.
CREATE FUNCTION wed.put_on_shape(_shape_schema text, _tgid integer, _predicate text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
BEGIN
  -- Parsed and analysed only, never planned or run: for the error's position, which ALTER TABLE does
  -- not give. The predicate stands on lines of its own: an error's LINE 2 is its first.
  EXECUTE format(E'PREPARE wed_condition_check AS SELECT FROM %I.wed_flow WHERE (\n%s\n)', _shape_schema, _predicate);
  DEALLOCATE wed_condition_check;
  EXECUTE format(E'ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (\n%s\n) NOT VALID',
                 _shape_schema, 'c' || _tgid, _predicate);
END $$;
ALTER FUNCTION wed.put_on_shape(text, integer, text) OWNER TO wed_predicate;

CREATE FUNCTION wed.take_off_shape(_shape_schema text, _tgid integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I.wed_flow DROP CONSTRAINT IF EXISTS %I', _shape_schema, 'c' || _tgid);
END $$;
ALTER FUNCTION wed.take_off_shape(text, integer) OWNER TO wed_predicate;
REVOKE CREATE ON SCHEMA wed FROM wed_predicate;

-- Checks a predicate and returns it as Postgres understood it, with the attributes it reads and whether
-- it may change with time alone: by a function that is not immutable, or by text that is read as a date,
-- which may say 'now'.
CREATE FUNCTION wed.check_predicate(
  _shape_schema text, _tgid integer, _text text, OUT predicate text, OUT reads text[], OUT timely boolean)
LANGUAGE plpgsql AS $$
DECLARE
  _tree text;
  _relation oid := format('%I.wed_flow', _shape_schema)::regclass;
BEGIN
  PERFORM wed.check_fragment(_text);
  PERFORM wed.take_off_shape(_shape_schema, _tgid);
  BEGIN
    PERFORM wed.put_on_shape(_shape_schema, _tgid, _text);
  EXCEPTION WHEN feature_not_supported THEN
    RAISE EXCEPTION '%', CASE WHEN SQLERRM ~ 'subquer' THEN 'a predicate may not hold a subquery'
                              ELSE 'a predicate may not hold this: ' || SQLERRM END USING ERRCODE = 'WF011',
      DETAIL = wed.place('select', _text),
      HINT = 'A predicate looks at the attributes of its own instance only.';
  END;
  SELECT c.conbin::text, pg_get_expr(c.conbin, c.conrelid),
         coalesce((SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
                   WHERE a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)), '{}')
  INTO _tree, predicate, reads
  FROM pg_constraint c WHERE c.conrelid = _relation AND c.conname = 'c' || _tgid;
  PERFORM wed.check_tree(_tree, _text);
  timely := _tree ~ '\{(SQLVALUEFUNCTION|COERCEVIAIO)' OR EXISTS (
    SELECT FROM regexp_matches(_tree, ':funcid (\d+)', 'g') AS m JOIN pg_proc p ON p.oid = m[1]::oid
    WHERE p.provolatile <> 'i'
    UNION ALL
    SELECT FROM regexp_matches(_tree, ':opno (\d+)', 'g') AS m JOIN pg_operator o ON o.oid = m[1]::oid
    JOIN pg_proc p ON p.oid = o.oprcode WHERE p.provolatile <> 'i');
END $$;
