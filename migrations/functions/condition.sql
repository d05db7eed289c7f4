-- Checking a condition (decision 0001): as text, as Postgres's own tree, as plan; nothing else reaches SQL.

-- Checks a predicate and returns it as Postgres understood it, as it is run, with the attributes it reads, what it
-- weighs, and whether it may change with time alone: by a function that is not immutable, or by text that is read as a
-- date, which may say 'now'.
CREATE OR REPLACE FUNCTION wed.check_predicate(
  _shape_schema text, _tgid integer, _text text,
  OUT predicate text, OUT reads text[], OUT timely boolean, OUT weight integer, OUT guarded text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _found record;
  _nodes wed.expression_node[];
BEGIN
  _text := wed.check_fragment(_text);
  BEGIN
    _found := wed.analysed(_shape_schema, _tgid, _text, false);
  EXCEPTION WHEN feature_not_supported THEN
    RAISE EXCEPTION '%', CASE WHEN SQLERRM ~ 'subquer' THEN 'a predicate may not hold a subquery'
                              ELSE 'a predicate may not hold this: ' || SQLERRM END USING ERRCODE = 'WF011',
      DETAIL = wed.place('select', _text),
      HINT = 'A predicate looks at the attributes of its own instance only.';
  END;
  predicate := _found.sql;
  reads := _found.reads;
  _nodes := wed.expression_nodes(_found.tree);
  PERFORM wed.check_nodes(_nodes, _text);
  PERFORM wed.check_constants(predicate);
  PERFORM wed.check_operands(_nodes, predicate);
  IF 'wid' = ANY (reads) THEN
    RAISE EXCEPTION 'wid is the identity of an instance, not an attribute' USING ERRCODE = 'WF011',
      DETAIL = wed.place('wid', _text), HINT = 'A condition is over the attributes.';
  END IF;
  PERFORM wed.check_calls(_nodes, _text, false);
  weight := wed.weigh(_nodes);
  guarded := wed.guarded(_shape_schema, _tgid, predicate, weight);
  timely := EXISTS (SELECT FROM unnest(_nodes) n WHERE n.node IN ('SQLVALUEFUNCTION', 'COERCEVIAIO')
    OR n.schema = 'pg_catalog' AND EXISTS (SELECT FROM pg_proc p WHERE p.provolatile <> 'i' AND p.oid IN (
      substring(n.fields FROM '^ :funcid (\d+)')::oid, substring(n.fields FROM ' :opfuncid (\d+)')::oid)));
END $$;

-- Refuses a fragment that could be anything but one expression: read token by token as Postgres's
-- lexer does, it must be balanced and hold no semicolon, no parameter. Returns it with spaces for its comments.
CREATE OR REPLACE FUNCTION wed.check_fragment(_text text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $check$
DECLARE
  _at integer := 1;
  _near text := '';   -- the text from there on, as far as one token needs it
  _found record;
  _written record;
  _open text := '';
  _before text;
  _bare text := '';
  _last text := '';   -- its last character
BEGIN
  PERFORM wed.check_length(_text);
  LOOP
    IF length(_near) < 300 THEN _near := substr(_text, _at, 450); END IF;
    EXIT WHEN _near = '';
    IF lower(_before) IN ('variadic', 'operator') OR ltrim(_near, E' \t\r\n\v\f') LIKE '.%' THEN
      PERFORM wed.check_name(_before, _near, _at);
    END IF;
    _found := wed.token_at(_near, _text, _at);
    IF _found.fault IS NOT NULL THEN
      RAISE EXCEPTION '% is not allowed in a predicate', _found.fault USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at),
        HINT = 'A predicate is one expression over the attributes, as after WHERE.';
    END IF;
    IF _found.token IN ('(', '[', ')', ']') THEN _open := wed.check_bracket(_open, _found.token, _at); END IF;
    _at := _at + length(_found.token);
    _near := substr(_near, length(_found.token) + 1);
    IF left(_found.token, 2) IN ('--', '/*') THEN
      _bare := _bare || regexp_replace(_found.token, '[^\n\r]', ' ', 'g');
      _last := ' ';
      CONTINUE;
    END IF;
    -- Names alone may be written in another way: behind a digit they are part of a number.
    IF lower(_found.token) = 'local' OR strpos('0123456789.', _last) > 0 THEN
      _written := wed.portable_token(_bare, _found.token, _before);
      _bare := left(_bare, length(_bare) - _written.taken) || _written.token;
      _last := right(_written.token, 1);
    ELSE
      _bare := _bare || _found.token;
      _last := right(_found.token, 1);
    END IF;
    -- White space joins what it stands between; of a string nothing is asked.
    IF btrim(_found.token, E' \t\r\n\v\f') <> '' THEN
      _before := CASE WHEN _found.token IN ('"pg_catalog"', '"wed_flow"') THEN btrim(_found.token, '"')
                      WHEN left(_found.token, 1) IN ('(', '[', ']', ')', '"') THEN right(_found.token, 1)
                      WHEN _found.token ~ $r$^[A-Za-z_]|^[^\x01-\x7f]$r$ AND right(_found.token, 1) <> ''''
                        THEN _found.token END;
    END IF;
  END LOOP;
  IF _open <> '' THEN
    RAISE EXCEPTION 'an opening bracket of the predicate is never closed' USING ERRCODE = 'WF011',
      HINT = 'Balance the brackets.';
  END IF;
  IF btrim(_bare, E' \t\r\n\v\f') = '' THEN
    RAISE EXCEPTION 'a condition needs a predicate' USING ERRCODE = 'WF011',
      HINT = 'It holds a comment only. Write what stands after WHERE, for example: a1 = ''ready'' AND a2 IS NULL';
  END IF;
  RETURN _bare;
END $check$;

-- Refuses a fragment that is empty, too long, or holds a control character.
CREATE OR REPLACE FUNCTION wed.check_length(_text text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $check$
BEGIN
  IF _text IS NULL OR btrim(_text, E' \t\r\n\v\f') = '' THEN
    RAISE EXCEPTION 'a condition needs a predicate' USING ERRCODE = 'WF011',
      HINT = 'Write what stands after WHERE, for example: a1 = ''ready'' AND a2 IS NULL';
  END IF;
  IF octet_length(_text) > 16384 THEN
    RAISE EXCEPTION 'the predicate has % bytes; 16384 are allowed', octet_length(_text)
      USING ERRCODE = 'WF011', HINT = 'Split it into several triggers.';
  END IF;
  IF _text ~ E'[\x01-\x08\x0e-\x1f]' THEN
    RAISE EXCEPTION 'the predicate holds a control character' USING ERRCODE = 'WF011',
      HINT = 'Remove it; to compare with one, write it as E''\x01'' or compare with an attribute that holds it.';
  END IF;
END $check$;

-- Returns the brackets that are open after a token; refuses one that closes another than the last, and more than 200.
CREATE OR REPLACE FUNCTION wed.check_bracket(_open text, _token text, _at integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $check$
BEGIN
  IF _token IN ('(', '[') THEN
    IF length(_open) >= 200 THEN
      RAISE EXCEPTION 'the predicate nests more than 200 brackets' USING ERRCODE = 'WF011',
        HINT = 'Write it with fewer brackets.';
    END IF;
    RETURN _open || _token;
  ELSIF _token IN (')', ']') THEN
    IF right(_open, 1) IS DISTINCT FROM translate(_token, ')]', '([') THEN
      RAISE EXCEPTION 'a closing bracket of the predicate was never opened' USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at), HINT = 'Balance the brackets.';
    END IF;
    RETURN left(_open, -1);
  END IF;
  RETURN _open;
END $check$;

-- Returns the comment that a text begins with, with those within it; null where it does not end.
CREATE OR REPLACE FUNCTION wed.comment_at(_rest text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $check$
DECLARE
  _comment text := '/*';
  _next text;
  _depth integer := 1;
BEGIN
  WHILE _depth > 0 LOOP
    _next := substring(substr(_rest, length(_comment) + 1) FROM $r$^(?:[^*/]|\*(?!/)|/(?!\*))*(?:\*/|/\*)$r$);
    IF _next IS NULL THEN RETURN NULL; END IF;
    _comment := _comment || _next;
    _depth := _depth + CASE right(_next, 2) WHEN '*/' THEN -1 ELSE 1 END;
  END LOOP;
  RETURN _comment;
END $check$;

-- Returns the token that a text begins with, as Postgres's lexer reads it, or what is wrong there. Only what is between
-- quotes or comment signs may be longer than _near, of which 300 characters are there unless the text ends: finding
-- a place in a long text takes long.
CREATE OR REPLACE FUNCTION wed.token_at(_near text, _text text, _at integer, OUT token text, OUT fault text)
LANGUAGE plpgsql IMMUTABLE AS $check$
DECLARE
  _rest text;
BEGIN
  -- What means nothing here: space, digits, commas, dots, operators without - / and what follows.
  token := substring(_near FROM $r$^[^-A-Za-z_'"$;\\`()\[\]/\x80-\U0010ffff]+$r$);
  IF token IS NULL THEN
    token := substring(_near FROM $r$^(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*$r$);
    IF length(token) > 250 THEN
      fault := 'a name of more than 250 characters';
    ELSIF token IN ('e', 'E') AND substr(_near, 2, 1) = '''' THEN
      token := substring(substr(_text, _at) FROM $r$^[eE]'(?:[^'\\]|''|\\.)*'$r$);
      fault := CASE WHEN token IS NULL THEN 'an unterminated string' END;
    END IF;
  END IF;
  IF token IS NOT NULL OR fault IS NOT NULL THEN RETURN; END IF;
  token := left(_near, 1);
  IF token IN ('(', '[', ')', ']') OR token IN ('-', '/') AND left(_near, 2) NOT IN ('--', '/*') THEN RETURN; END IF;
  -- A quote at the end of what is near may be half of one.
  IF token = '''' AND length(substring(_near FROM $r$^'(?:[^']|'')*'$r$)) < length(_near) THEN
    token := substring(_near FROM $r$^'(?:[^']|'')*'$r$);
    RETURN;
  END IF;
  _rest := substr(_text, _at);
  CASE token
    WHEN '''' THEN
      token := substring(_rest FROM $r$^'(?:[^']|'')*'$r$);
      fault := CASE WHEN token IS NULL THEN 'an unterminated string' END;
    WHEN '"' THEN
      token := substring(_rest FROM $r$^"(?:[^"]|"")*"$r$);
      fault := CASE WHEN token IS NULL THEN 'an unterminated quoted name' END;
    WHEN '$' THEN
      token := substring(_near FROM $r$^\$(?:(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_]|[^\x01-\x7f])*)?\$$r$);
      IF token IS NULL THEN
        fault := quote_literal('$');
      ELSIF strpos(substr(_rest, length(token) + 1), token) = 0 THEN
        fault := 'an unterminated string';
      ELSE
        token := left(_rest, strpos(substr(_rest, length(token) + 1), token) - 1 + 2 * length(token));
      END IF;
    WHEN '-' THEN
      token := substring(_rest FROM $r$^[^\n\r]*$r$);
    WHEN '/' THEN
      token := wed.comment_at(_rest);
      fault := CASE WHEN token IS NULL THEN 'an unterminated comment' END;
    ELSE
      fault := quote_literal(token);
  END CASE;
END $check$;

-- Returns what is written instead of a token, and how much of what stands before it: numbers with underscores or to
-- another base, and AT LOCAL, as versions write them that do not know these.
CREATE OR REPLACE FUNCTION wed.portable_token(_bare text, _token text, _before text, OUT token text, OUT taken integer)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _version integer := current_setting('server_version_num')::integer;
  _digits text;
BEGIN
  token := _token;
  taken := 0;
  IF lower(_token) = 'local' AND lower(_before) = 'at' AND _version < 170000 THEN
    token := 'TIME ZONE ''UTC''';
  ELSIF _token ~ '^[A-Za-z_]' AND _version < 160000 THEN
    _digits := substring(right(_bare, 100) FROM '[0-9.]+$');
    IF wed.plain_number(_digits, _token) IS NOT NULL THEN
      token := repeat(' ', length(_digits) + length(_token) - length(wed.plain_number(_digits, _token)))
               || wed.plain_number(_digits, _token);
      taken := length(_digits);
    END IF;
  END IF;
END $$;

-- Conditions. A predicate is checked by Postgres's own parser against an empty table of the flow's
-- shape, its analysed tree is held against an allow-list, and what is stored and run is the deparsed
-- tree, never the text. Every way of writing wed_trig passes here.

-- Returns where a name stands in a predicate, as a sentence.
CREATE OR REPLACE FUNCTION wed.place(_name text, _text text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE strpos(lower(_text), lower(_name)) WHEN 0 THEN 'It is what Postgres makes of the predicate.'
    ELSE format('At character %s of the predicate.', strpos(lower(_text), lower(_name))) END
$$;

-- Returns a predicate as Postgres understands it against a flow's shape: its node tree, the text that it deparses to,
-- and the attributes that it reads. Every setting that the parser or the deparser reads is pinned here and in
-- put_on_shape.
CREATE OR REPLACE FUNCTION wed.analysed(
  _shape_schema text, _tgid integer, _predicate text, _bounded boolean, OUT tree text, OUT sql text, OUT reads text[])
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601'
SET quote_all_identifiers = off SET extra_float_digits = 1 AS $$
BEGIN
  PERFORM wed.take_off_shape(_shape_schema, _tgid);
  PERFORM wed.put_on_shape(_shape_schema, _tgid, _predicate, _bounded);
  SELECT c.conbin::text, pg_get_expr(c.conbin, c.conrelid),
         coalesce((SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
                   WHERE a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)), '{}')
  INTO tree, sql, reads
  FROM pg_constraint c WHERE c.conrelid = format('%I.wed_flow', _shape_schema)::regclass AND c.conname = 'c' || _tgid;
  -- Everybody can read constraints.
  PERFORM wed.take_off_shape(_shape_schema, _tgid);
END $$;

-- Returns a condition, as Postgres deparsed it, spelled so that its bounded calls can be put in by name: casts of text
-- to numbers, points in time and documents look at the text first, and POSITION and TRIM are plain calls. It reads
-- tokens and keeps a stack of brackets; a string of the deparser's has no escapes, and it puts each operand of a cast
-- in brackets. The result is analysed again and judged by what Postgres finds (wed.check_calls).
CREATE OR REPLACE FUNCTION wed.spelled(_sql text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _t text[] := ARRAY(SELECT m[1] FROM regexp_matches(_sql,
    $r$('(?:[^']|'')*'|"(?:[^"]|"")*"|(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*$r$
      || $r$|[0-9.]+|\s+|::|[-+*/<>=~!@#%^&|?]+|.)$r$,
    'g') AS m);
  _n integer := cardinality(_t);
  _open integer[];   -- where each open bracket stands
  _between integer[]; -- where IN or FROM stands in it
  _call text[];      -- what is to be called instead
  _d integer := 0;
  _guard text;
  _at integer;
BEGIN
  FOR _i IN 1 .. _n LOOP
    IF _t[_i] IN ('(', '[') THEN
      _d := _d + 1;
      _open[_d] := _i;
      _between[_d] := NULL;
      _call[_d] := CASE WHEN _t[_i] <> '(' OR _i = 1 THEN NULL WHEN _t[_i - 1] = 'POSITION' THEN 'strpos'
        WHEN _t[_i - 1] = 'TRIM'
        THEN CASE _t[_i + 1] WHEN 'BOTH' THEN 'btrim' WHEN 'LEADING' THEN 'ltrim' WHEN 'TRAILING' THEN 'rtrim' END END;
    ELSIF _d > 0 AND _t[_i] = (CASE _call[_d] WHEN 'strpos' THEN 'IN' ELSE 'FROM' END) THEN
      _between[_d] := _i;
    ELSIF _t[_i] IN (')', ']') AND _d > 0 THEN
      _at := _open[_d];
      IF _call[_d] IS NOT NULL AND _between[_d] IS NOT NULL THEN
        -- What is looked for stands first; without it TRIM takes spaces off.
        _guard := btrim(array_to_string(_t[_at + CASE _call[_d] WHEN 'strpos' THEN 1 ELSE 2 END : _between[_d] - 1],
          ''));
        _t[_at - 1] := _call[_d];
        _t[_at] := '(' || array_to_string(_t[_between[_d] + 1 : _i - 1], '') || CASE _guard WHEN '' THEN '' ELSE ', '
          || _guard END;
        FOR _j IN _at + 1 .. _i - 1 LOOP _t[_j] := ''; END LOOP;
      END IF;
      _guard := CASE WHEN _t[_i] <> ')' OR _t[_i + 1] IS DISTINCT FROM '::'
        OR _t[_at - 1] ~ '^([A-Za-z_"]|[^\x01-\x7f])' THEN NULL
        WHEN _t[_i + 2] = 'numeric' THEN 'number' WHEN _t[_i + 2] IN ('date', 'time', 'timestamp') THEN 'moment'
        WHEN _t[_i + 2] = 'jsonb' THEN 'document' END;
      IF _guard IS NOT NULL THEN _t[_at] := ' wed_bounded.' || _guard || _t[_at]; END IF;
      _d := _d - 1;
    END IF;
  END LOOP;
  RETURN array_to_string(_t, '');
END $$;

-- Puts a predicate on the shape table, for a moment, as a constraint that checks nothing: Postgres parses
-- and analyses it there, and follows attributes that are renamed meanwhile. Where it is _bounded, functions and
-- operators are looked for among the bounded ones first. Runs as wed_predicate, so that even a fragment that got
-- past check_fragment could do nothing.
CREATE OR REPLACE FUNCTION wed.put_on_shape(
  _shape_schema text, _tgid integer, _predicate text, _bounded boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' SET backslash_quote = safe_encoding SET transform_null_equals = off AS $$
BEGIN
  IF _bounded THEN PERFORM set_config('search_path', 'wed_bounded, pg_catalog, pg_temp', true); END IF;
  -- Parsed and analysed only, never planned or run: for the error's position, which ALTER TABLE does
  -- not give. The predicate stands on lines of its own: an error's LINE 2 is its first.
  EXECUTE format(E'PREPARE wed_condition_check AS SELECT FROM %I.wed_flow WHERE (\n%s\n)', _shape_schema, _predicate);
  DEALLOCATE wed_condition_check;
  EXECUTE format(E'ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (\n%s\n) NOT VALID',
                 _shape_schema, 'c' || _tgid, _predicate);
END $$;

ALTER FUNCTION wed.put_on_shape(text, integer, text, boolean) OWNER TO wed_predicate;

CREATE OR REPLACE FUNCTION wed.take_off_shape(_shape_schema text, _tgid integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I.wed_flow DROP CONSTRAINT IF EXISTS %I', _shape_schema, 'c' || _tgid);
END $$;

ALTER FUNCTION wed.take_off_shape(text, integer) OWNER TO wed_predicate;

-- Plans a condition as it is run, on the empty shape table: Postgres computes what is constant in it, and so finds
-- constants that are beyond a bound.
CREATE OR REPLACE FUNCTION wed.plan_on_shape(_shape_schema text, _guarded text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601'
  AS $$
DECLARE
  _hint text;
BEGIN
  EXECUTE format('EXPLAIN SELECT FROM %I.wed_flow WHERE %s', _shape_schema, _guarded);
EXCEPTION WHEN SQLSTATE 'WF031' OR SQLSTATE 'WF032' THEN
  GET STACKED DIAGNOSTICS _hint = PG_EXCEPTION_HINT;
  RAISE EXCEPTION '%', SQLERRM USING ERRCODE = 'WF011', HINT = _hint;
WHEN OTHERS THEN
  NULL; -- a condition may fail for some states, or for all
END $$;

ALTER FUNCTION wed.plan_on_shape(text, text) OWNER TO wed_predicate;

-- Returns the nodes of an analysed expression, in the order in which they open. In the text of a node tree, constants
-- are numbers and names are escaped, so a tenant's text cannot look like a node or a field.
CREATE OR REPLACE FUNCTION wed.expression_nodes(_tree text) RETURNS wed.expression_node[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _token text[];
  _node text[];
  _fields text[];
  _around integer[];
  _part integer[];
  _depth integer[];
  _parts integer[];
  _open integer[];
  _d integer := 0;
  _n integer := 0;
BEGIN
  FOR _token IN SELECT regexp_matches(_tree, '\{([A-Z_]+)([^{}]*)|\}([^{}]*)', 'g') LOOP
    IF _token[1] IS NULL THEN
      _d := _d - 1;
      IF _d > 0 THEN _fields[_open[_d]] := _fields[_open[_d]] || _token[3]; END IF;
      CONTINUE;
    END IF;
    _n := _n + 1;
    _around[_n] := CASE WHEN _d > 0 THEN _open[_d] END;
    IF _d > 0 THEN _parts[_open[_d]] := _parts[_open[_d]] + 1; END IF;
    _part[_n] := CASE WHEN _d > 0 THEN _parts[_open[_d]] END;
    _node[_n] := regexp_replace(_token[1], '(?<=CASE|WHEN|ARRAY|COALESCE|MINMAX|ROWCOMPARE|COLLATE|^ROW)EXPR$', '');
    _fields[_n] := _token[2];
    _parts[_n] := 0;
    _d := _d + 1;
    _depth[_n] := _d;
    _open[_d] := _n;
  END LOOP;
  -- What the same number names is looked up once.
  RETURN ARRAY(
    WITH n AS MATERIALIZED (
      SELECT u.*, substring(u.fields FROM
          ':(?:opresulttype|funcresulttype|resulttype|vartype|consttype|array_typeid|coalescetype|'
          'casetype|minmaxtype|refrestype|typeId|relabeltype) (\d+)')::oid AS type,
        CASE WHEN u.node = 'FUNCEXPR' THEN substring(u.fields FROM '^ :funcid (\d+)')::oid END AS function,
        substring(u.fields FROM '^ :opno (\d+)')::oid AS operator
      FROM unnest(_around, _part, _depth, _node, _fields) WITH ORDINALITY u(around, part, depth, node, fields, at)
    ), f AS MATERIALIZED (
      SELECT d.function, c.* FROM (SELECT DISTINCT function FROM n WHERE function IS NOT NULL) d,
        wed.call_of_function(d.function) c
    ), o AS MATERIALIZED (
      SELECT d.operator, c.* FROM (SELECT DISTINCT operator FROM n WHERE operator IS NOT NULL) d,
        wed.call_of_operator(d.operator) c
    )
    SELECT ROW(n.at, n.around, n.part, n.depth, n.node, n.fields, t.typname, coalesce(f.call, o.call),
               coalesce(f.schema, o.schema))::wed.expression_node
    FROM n LEFT JOIN pg_type t ON t.oid = n.type LEFT JOIN f USING (function) LEFT JOIN o USING (operator)
    ORDER BY n.at);
END $$;

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

-- Refuses what follows a name and would make another thing of it: a table or schema in front, VARIADIC, OPERATOR of a
-- schema of somebody's own.
CREATE OR REPLACE FUNCTION wed.check_name(_before text, _near text, _at integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $check$
BEGIN
  -- Those of these schemas are what is meant without one.
  IF lower(_before) NOT IN ('pg_catalog', 'wed_flow') AND _before ~ $r$([A-Za-z0-9_$")]|[^\x01-\x7f]|\])$r$
    AND _near ~ '^\s*\.\s*[^0-9[:space:]]' THEN
    RAISE EXCEPTION 'names are written without a table or schema' USING ERRCODE = 'WF011',
      DETAIL = format('At character %s of the predicate.', _at), HINT = 'Write the name alone.';
  ELSIF lower(_before) = 'variadic' OR lower(_before) = 'operator' AND _near ~ '^\s*\('
        AND _near !~* replace('^G\(G("?pg_catalog"?G\.G)?([<>=~!@#%^&|?+*]|-(?!-)|/(?!\*))+G\)', 'G',
          '(?:\s|/\*[^*]*\*/|--[^\n]*\n)*') THEN
    RAISE EXCEPTION '% is not allowed in a predicate', upper(_before) USING ERRCODE = 'WF011',
      DETAIL = format('At character %s of the predicate.', _at),
      HINT = 'Write the operator''s sign, the arguments one by one.';
  END IF;
END $check$;
