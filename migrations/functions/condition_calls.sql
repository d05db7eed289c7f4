-- Calls that a condition may make, with which constants, and their weights (decision 0037).

-- Holds the calls of an analysed expression against the table, by what they are, whatever they are called. As it is run
-- (_run), what is bounded must be the bounded one, and text that is cast must have passed its guard.
CREATE OR REPLACE FUNCTION wed.check_calls(_nodes wed.expression_node[], _text text, _run boolean) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _bad record;
BEGIN
  SELECT split_part(n.call, '(', 1) AS name, n.node = 'FUNCEXPR' AS is_function INTO _bad
  FROM unnest(_nodes) n LEFT JOIN wed.allowed_call c ON c.call = n.call
  WHERE n.call IS NOT NULL AND NOT CASE
    WHEN n.schema = 'wed_bounded' THEN _run AND (c.bounded OR n.call ~ '^(number|moment|document)\(') IS TRUE
    WHEN n.schema <> 'pg_catalog' THEN false
    WHEN c.call IS NULL THEN n.node = 'FUNCEXPR' AND EXISTS (
      SELECT FROM pg_cast k JOIN pg_proc p ON p.oid = k.castfunc
      WHERE k.castfunc = substring(n.fields FROM '^ :funcid (\d+)')::oid AND p.provolatile <> 'v')
    ELSE NOT (_run AND c.bounded) END LIMIT 1;
  IF FOUND AND _bad.is_function THEN
    RAISE EXCEPTION 'the function % is not allowed in a predicate', _bad.name
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad.name, _text),
        HINT = '`wed explain conditions` lists the functions that are.';
  ELSIF FOUND THEN
    RAISE EXCEPTION 'the operator % is not allowed in a predicate', _bad.name USING ERRCODE = 'WF011',
      DETAIL = wed.place(_bad.name, _text),
        HINT = 'Use comparison, arithmetic, ||, LIKE, and the operators of jsonb and arrays.';
  END IF;
  IF EXISTS (SELECT FROM unnest(_nodes) n WHERE n.node = 'SCALARARRAYOPEXPR'
             AND split_part(n.call, '(', 1) NOT IN ('=', '<>', '<', '<=', '>', '>=', '~~', '!~~', '~~*', '!~~*')) THEN
    RAISE EXCEPTION 'ANY and ALL take a comparison or LIKE in a predicate' USING ERRCODE = 'WF011',
      HINT = 'Join several conditions by OR.';
  END IF;
  IF _run AND EXISTS (
    SELECT FROM unnest(_nodes) n JOIN unnest(_nodes) a ON a.around = n.at AND a.part = 1
    LEFT JOIN unnest(_nodes) whole ON whole.at = n.around AND whole.node = 'ARRAYCOERCEEXPR'
    LEFT JOIN unnest(_nodes) list ON list.around = whole.at AND list.part = 1
    WHERE n.node = 'COERCEVIAIO' AND n.type ~ '^_?(numeric|jsonb|date|timetz|time|timestamp|timestamptz)$'
      AND coalesce(list.type, a.type) ~ '^_?(text|varchar|bpchar)$' AND coalesce(list.node, a.node) <> 'CONST'
      AND (coalesce(list.schema, a.schema) = 'wed_bounded' AND coalesce(list.call,
        a.call) ~ '^(number|moment|document)\(') IS NOT TRUE)
  THEN
    RAISE EXCEPTION 'text cannot be cast so in a predicate' USING ERRCODE = 'WF011',
      HINT = 'Write the cast as value::type, of one value.';
  END IF;
END $$;

-- Returns a function as wed.allowed_call names it.
CREATE OR REPLACE FUNCTION wed.call_of_function(_oid oid, OUT call text, OUT schema text)
LANGUAGE sql STABLE AS $$
  SELECT format('%s(%s)', p.proname, (SELECT string_agg(t.typname, ' ' ORDER BY a.at)
           FROM unnest(p.proargtypes) WITH ORDINALITY a(type, at) JOIN pg_type t ON t.oid = a.type)),
         s.nspname
  FROM pg_proc p JOIN pg_namespace s ON s.oid = p.pronamespace WHERE p.oid = _oid
$$;

-- Returns an operator as wed.allowed_call names it.
CREATE OR REPLACE FUNCTION wed.call_of_operator(_oid oid, OUT call text, OUT schema text)
LANGUAGE sql STABLE AS $$
  SELECT format('%s(%s)', o.oprname, concat_ws(' ', l.typname, r.typname)), s.nspname
  FROM pg_operator o JOIN pg_namespace s ON s.oid = o.oprnamespace LEFT JOIN pg_type l ON l.oid = o.oprleft
    JOIN pg_type r ON r.oid = o.oprright WHERE o.oid = _oid
$$;

-- Refuses operands of an analysed expression that are to be written there and are not, or not so: regular
-- expressions and their flags, formats, paths, time zones.
CREATE OR REPLACE FUNCTION wed.check_operands(_nodes wed.expression_node[], _predicate text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record;
  _hint text;
BEGIN
  FOR _of IN
    SELECT n.call, c.operands[o.part] AS bound, o.node, CASE WHEN o.type = 'text'
      THEN wed.constant_text(o.fields) END AS written,
           o.fields ~ ':constisnull true' AS is_null, o.at,
           p.node = 'FUNCEXPR' AND p.call ~ '^similar_to_escape' AS similar
    FROM unnest(_nodes) n JOIN wed.allowed_call c ON c.call = n.call JOIN unnest(_nodes) o ON o.around = n.at
    LEFT JOIN unnest(_nodes) p ON p.at = o.at
    WHERE c.operands[o.part] IN ('pattern', 'flags', 'format', 'path', 'zone') ORDER BY o.at
  LOOP
    IF _of.bound = 'zone' THEN
      PERFORM wed.check_zone(_nodes, _of.at);
    ELSIF _of.similar THEN
      CONTINUE; -- its own operand is looked at
    ELSIF _of.node <> 'CONST' THEN
      _hint := CASE _of.bound WHEN 'path' THEN 'Write it itself; with a key in an attribute use -> and ->>.'
        WHEN 'format' THEN 'Write the format itself; compose text with || or concat.'
        ELSE 'Write it itself; for a pattern in an attribute use LIKE, for a position substr(text, start, length).' END;
      RAISE EXCEPTION 'the % of % is text in quotes', _of.bound, split_part(_of.call, '(', 1)
        USING ERRCODE = 'WF011', HINT = _hint;
    ELSIF _of.is_null OR _of.bound = 'path' THEN
      CONTINUE; -- each path that is written there is looked at below
    ELSIF _of.bound = 'pattern' THEN
      PERFORM wed.check_pattern(_of.written, _of.call ~ '^similar_to_escape');
    ELSIF _of.bound = 'format' THEN
      PERFORM wed.check_format(_of.written);
    ELSIF _of.written !~ (CASE WHEN _of.call ~ '^regexp_replace' THEN '^[icnmspwg]*$' ELSE '^[icnmspw]*$' END) THEN
      RAISE EXCEPTION 'the flags % are not allowed here', quote_literal(left(_of.written, 20)) USING ERRCODE = 'WF011',
        HINT = 'Allowed are i, c, n, s, m, p, w; of regexp_replace also g.';
    END IF;
  END LOOP;
  PERFORM wed.check_path(replace(m[1], '''''', ''''))
  FROM regexp_matches(_predicate, $r$'((?:[^']|'')*)'::jsonpath$r$, 'g') m;
END $$;

-- Refuses constants of a deparsed predicate that are larger than they look.
CREATE OR REPLACE FUNCTION wed.check_constants(_predicate text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $check$
BEGIN
  IF _predicate ~ $r$'[^']*[0-9.]{39}[^']*'::(numeric|jsonb|numrange)|(^|[^'0-9])[0-9.]{39}$r$ THEN
    RAISE EXCEPTION 'a number of the predicate is too large' USING ERRCODE = 'WF011',
      HINT = 'At most 38 digits, before and behind the point together.';
  END IF;
  IF regexp_replace(_predicate, '''(?:[^'']|'''')*''', '', 'g') ~ 'character\([0-9]{4,}\)' THEN
    RAISE EXCEPTION 'char(n) is too long' USING ERRCODE = 'WF011',
      HINT = 'At most 999; use text, which needs no length.';
  END IF;
END $check$;

-- Returns the text of a constant of a node tree: its bytes, with sign, behind the four of its length.
CREATE OR REPLACE FUNCTION wed.constant_text(_fields text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT convert_from(decode(coalesce(string_agg(lpad(to_hex((b::integer + 256) % 256), 2, '0'), '' ORDER BY n),
    ''), 'hex'),
                      getdatabaseencoding())
  FROM regexp_split_to_table(substring(_fields FROM ':constvalue \d+ \[ (?:-?\d+ ){4}(.*) \]'),
    ' ') WITH ORDINALITY t(b, n)
$$;

-- Returns a number of which _digits and _rest are the parts, without underscores and to the base of ten; null when it
-- is none.
CREATE OR REPLACE FUNCTION wed.plain_number(_digits text, _rest text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN _rest ~* '^(_[0-9]+)*(e[0-9]+(_[0-9]+)*)?$' AND strpos(_rest, '_') > 0 THEN _digits || replace(_rest, '_', '')
    WHEN _digits = '0' AND _rest ~* '^(x(_?[0-9a-f])+|o(_?[0-7])+|b(_?[01])+)$' AND length(_rest) <= 60 THEN (
      SELECT trunc(sum((strpos('0123456789abcdef', d) - 1) * CASE lower(left(_rest, 1)) WHEN 'x' THEN 16 WHEN 'o'
        THEN 8 ELSE 2 END ^ (n - 1)::numeric))::text
      FROM string_to_table(reverse(lower(replace(substr(_rest, 2), '_', ''))), NULL) WITH ORDINALITY t(d, n))
    END
$$;

-- Refuses a format whose placeholders could make a large value of small ones.
CREATE OR REPLACE FUNCTION wed.check_format(_format text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _places integer;
  _wrong integer;
BEGIN
  SELECT count(*), count(*) FILTER (WHERE m[2] NOT IN ('s', 'I', 'L') OR strpos(m[1], '*') > 0 OR EXISTS (
      SELECT FROM regexp_split_to_table(m[1], '[-$]') d WHERE length(d) > 4 OR d <> '' AND d::integer > 1000))
  INTO _places, _wrong FROM regexp_matches(replace(_format, '%%', ''), '%([-0-9$*]*)(.?)', 'g') m;
  IF _wrong > 0 OR _places > 64 THEN
    RAISE EXCEPTION 'the format % holds a placeholder that is not allowed', quote_literal(left(_format, 60))
      USING ERRCODE = 'WF011',
      HINT = 'Write %s, %I or %L, at most 64 of them, each at most 1000 wide.';
  END IF;
END $$;

-- Returns how often a format puts in the argument that it puts in most often. A placeholder that names none takes the
-- next.
CREATE OR REPLACE FUNCTION wed.format_repeats(_format text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _place text[];
  _argument integer := 0;
  _uses integer[] := array_fill(0, ARRAY[10000]);
BEGIN
  FOR _place IN SELECT regexp_matches(replace(_format, '%%', ''), '%(?:([0-9]{1,4})\$)?', 'g') LOOP
    _argument := coalesce(_place[1]::integer, _argument + 1);
    _uses[_argument + 1] := _uses[_argument + 1] + 1;
  END LOOP;
  RETURN greatest((SELECT max(u) FROM unnest(_uses) u), 1);
END $$;

-- Refuses a path into a document that could take longer than a few looks at all of it. The guard of the hosts judges
-- in the same way (host/guard/src/pattern.rs).
CREATE OR REPLACE FUNCTION wed.check_path(_path text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $check$
DECLARE
  _bare text := regexp_replace(_path, '"(?:[^"\\]|\\.)*"', '"', 'g');
  _close text := regexp_replace(_bare, '\s', '', 'g');
  _rest text := _close;
  _group text[];
  _whole boolean := false;     -- a filter looks at more than its own element
  _why text;
BEGIN
  -- From the innermost brackets outwards.
  LOOP
    _group := regexp_match(_rest, '(\??)\(([^()]*)\)');
    EXIT WHEN _group IS NULL OR _whole;
    _whole := _group[1] = '?' AND strpos(_group[2], '$') > 0;
    _rest := overlay(_rest PLACING CASE WHEN _group[1] = '?' THEN '' ELSE _group[2] END
                     FROM strpos(_rest, _group[1] || '(' || _group[2] || ')') FOR length(_group[1] || _group[2]) + 2);
  END LOOP;
  -- As it is written here, each key is in quotes.
  _why := CASE
    WHEN octet_length(_path) > 600 THEN 'is longer than 256 bytes'
    WHEN _bare ~ 'like_regex' THEN 'holds a regular expression'
    WHEN strpos(_close, '**') > 0 THEN 'does not name each step'
    WHEN strpos(_close, ',') > 0 THEN 'takes a list of elements'
    WHEN (SELECT count(*) FROM regexp_matches(_bare, '\[\s*\*\s*\]|\.\s*\*| to |\]to', 'g')) > 2
      OR length(_close) - length(replace(_close, '?', '')) > 2 THEN 'looks at all elements more than twice'
    WHEN _whole THEN 'looks at the whole in a filter'
    WHEN _close ~ '[=<>][-+(]*[@$]' OR _close ~ 'startswith[@$]' THEN 'compares with something else than a constant'
    WHEN _close ~ '[+/%]|(?<![\[.*])\*|-[$@(]|(?<![(=<>,\[&|!eE]|last)-' THEN 'computes'
    WHEN EXISTS (SELECT FROM regexp_matches(_close, '(\.?)([a-z0-9_]*)\(', 'gi') m
                 WHERE NOT (m[2] = '' OR m[1] <> '' AND m[2] IN ('type', 'size', 'double', 'ceiling', 'floor', 'abs')
                            OR m[1] = '' AND m[2] = 'exists')) THEN 'has a method that is not allowed'
    END;
  IF _why IS NOT NULL THEN
    RAISE EXCEPTION 'the path % %', quote_literal(left(_path, 60)), _why USING ERRCODE = 'WF011',
      HINT = 'Write ->, ->> or @>, or several paths; `wed explain conditions` tells what a path may hold.';
  END IF;
END $check$;

-- Refuses a regular expression that could run for long. Postgres makes an automaton of it: the time is a matter
-- of its size and of the text's length, if it refers to nothing that matched before and does not look around.
-- The guard of the hosts judges in the same way (host/guard/src/pattern.rs).
CREATE OR REPLACE FUNCTION wed.check_pattern(_pattern text, _similar boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $check$
DECLARE
  _bare text := regexp_replace(_pattern, '^\(\?[icnmspw]+\)', '');
  _size numeric;
  _why text;
  _group text[];
  _endless boolean;
  _open boolean;
  _bad boolean;
BEGIN
  IF octet_length(_pattern) > 400 THEN
    _bare := '';
    _why := 'could take very long';
  END IF;
  IF regexp_replace(_bare, '\\\\', '', 'g') ~ '\\[1-9]' THEN
    _why := 'refers to what matched before';
  END IF;
  -- Without escapes and brackets, of which a mark is left each: for one of several characters, for a certain one,
  -- for a place or a group, which may be none.
  _bare := regexp_replace(regexp_replace(regexp_replace(regexp_replace(_bare, '\\[AmMyYZ]', E'\x03', 'g'),
    '\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[A-Za-z0-9])', E'\x01', 'g'), '\\.', E'\x02', 'g'),
    '\[\^?\]?(?:\[:[a-z]+:\]|\[\.[^]]*\.\]|\[=[^]]*=\]|\[(?![:.=])|[^][])*\]', E'\x01', 'g');
  SELECT (octet_length(_pattern) + coalesce(sum(n) FILTER (WHERE m[1] <> ')'), 0))
         * coalesce(exp(sum(ln(greatest(n, 1)::float8)) FILTER (WHERE m[1] = ')')), 1)
  INTO _size FROM regexp_matches(_bare, '(.)\{(\d+)(?:,(\d*))?\}', 'g') m,
    LATERAL (SELECT CASE WHEN length(m[2]) > 3 OR length(m[3]) > 3 THEN 1000
                    ELSE greatest(m[2]::integer, nullif(m[3], '')::integer) END AS n) x;
  _why := CASE WHEN _pattern ~ '^\*\*\*' THEN 'begins with a director' WHEN _bare ~ '\(\?(?!:)' THEN 'looks around'
               WHEN _size >= 400.5 THEN 'could take very long' ELSE _why END;
  -- A group repeated without end, of something repeated without end and nothing certain that must come in between.
  _bare := replace(_bare, '(?:', '(');
  LOOP
    _group := regexp_match(_bare, '\(([^()]*)\)([*+]|\{\d+,\})?');
    EXIT WHEN _group IS NULL OR _why IS NOT NULL;
    SELECT bool_or(endless), bool_or(NOT fixed), bool_or(endless AND NOT fixed) INTO _endless, _open, _bad
    FROM regexp_split_to_table(_group[1], '\|') b, LATERAL (SELECT b ~ '[*+]|,\}' AS endless,
      regexp_replace(b, '(?:.)(?:[*+?]|\{[^}]*\})', '', 'g') ~ E'[^\x03.^$?]' AS fixed) x;
    IF _bad AND _group[2] IS NOT NULL THEN
      _why := 'repeats without end what is repeated without end';
    END IF;
    _bare := regexp_replace(_bare, '\([^()]*\)', CASE WHEN NOT _endless THEN E'\x03' WHEN _open THEN E'\x03+'
      ELSE 'f' END);
  END LOOP;
  IF _why IS NULL THEN
    BEGIN
      PERFORM 'x' ~ CASE WHEN _similar THEN similar_to_escape(_pattern) ELSE _pattern END;
    EXCEPTION WHEN invalid_regular_expression THEN
      _why := 'cannot be read: ' || SQLERRM;
    END;
  END IF;
  IF _why IS NOT NULL THEN
    RAISE EXCEPTION 'the regular expression % %', quote_literal(left(_pattern, 60)), _why USING ERRCODE = 'WF011',
      HINT =
        'Make it shorter and repeat less; a repeated group counts as often as it is repeated. Join two conditions '
        'by AND instead of looking around.';
  END IF;
END $check$;

-- Refuses a time zone that is not written there by its name, nor a choice of such. Postgres keeps each zone that it was
-- ever asked for.
CREATE OR REPLACE FUNCTION wed.check_zone(_nodes wed.expression_node[], _at integer) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (
    WITH RECURSIVE z AS (
      SELECT n.* FROM unnest(_nodes) n WHERE n.at = _at
      UNION ALL
      SELECT n.* FROM z JOIN unnest(_nodes) n ON n.around = z.at AND CASE z.node
        WHEN 'CASE' THEN n.node IN ('WHEN', 'CASEWHEN') OR n.part > 1
        WHEN 'WHEN' THEN n.part = 2 WHEN 'CASEWHEN' THEN n.part = 2
        WHEN 'COALESCE' THEN true WHEN 'NULLIFEXPR' THEN n.part = 1 ELSE false END)
    SELECT FROM z WHERE node NOT IN ('CASE', 'WHEN', 'CASEWHEN', 'COALESCE', 'NULLIFEXPR')
      AND NOT (node = 'CONST' AND (fields ~ ':constisnull true' OR wed.is_zone(wed.constant_text(fields)))))
  THEN
    RAISE EXCEPTION 'a time zone is written there, by its name' USING ERRCODE = 'WF011',
      HINT =
        'For example ''UTC'', ''Europe/Berlin'' or ''+02''; of a few zones write CASE a1 WHEN ''DE'' THEN '
        '''Europe/Berlin'' ELSE ''UTC'' END.';
  END IF;
END $$;

-- Returns whether a text names a time zone as Postgres's list of them does, or is an offset.
CREATE OR REPLACE FUNCTION wed.is_zone(_text text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _text ~*
    '^\s*(?:[a-z][a-z/_-]{0,39}|(?:etc/)?(?:gmt|utc|uct)[+-]?[0-9]{1,2}|est5edt|cst6cdt|mst7mdt|pst8pdt|[+-]?[0-2]?[0-9](?::?(?:00|15|30|45))?)\s*$'
$$;

-- Returns which of the kinds that are weighed a node's value is: text, a document (or array), or narrow.
CREATE OR REPLACE FUNCTION wed.kind_of(_node text, _type text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN _node IN ('WHEN', 'CASEWHEN', 'NAMEDARGEXPR') THEN 'text'
    WHEN _type = 'jsonb' OR _type LIKE '\_%' THEN 'document'
    WHEN _type IN ('text', 'varchar', 'bpchar', 'bytea', 'json') THEN 'text' ELSE 'narrow' END
$$;

-- Returns how a node's value is made, in the words of wed.call_weight; null where it is one of its operands.
CREATE OR REPLACE FUNCTION wed.made_by(_of wed.expression_node, _operand_kind text, _kind text) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN _of.node IN ('MINMAX', 'ROWCOMPARE') THEN 'compare'
    WHEN _of.node IN ('ARRAY', 'SUBSCRIPTINGREF') THEN 'copy'
    WHEN _of.node IN ('COERCEVIAIO', 'ARRAYCOERCEEXPR') THEN CASE _operand_kind || _kind
      WHEN 'textdocument' THEN 'parse' WHEN 'documenttext' THEN 'join' WHEN 'documentdocument' THEN 'make'
      WHEN 'texttext' THEN 'copy' END
    WHEN _of.call IS NOT NULL THEN coalesce(
      nullif((SELECT makes FROM wed.allowed_call WHERE call = _of.call), ''), CASE _kind WHEN 'narrow' THEN NULL
        ELSE 'copy' END)
    END
$$;

-- Returns the size of a node's value in rows, as text and as what a document holds besides: of a document that becomes
-- text six times as much, of text that is read as a document three times.
CREATE OR REPLACE FUNCTION wed.size_of(
  _of wed.expression_node, _makes text, _kind text, _plain bigint, _within bigint, _deep bigint, _most bigint,
  OUT text bigint, OUT documents bigint)
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN _kind = 'narrow' OR _makes = 'narrow' OR _of.node IN ('CONST', 'CASETESTEXPR') THEN 0
    WHEN _of.node = 'VAR' THEN (_kind = 'text')::integer
    WHEN _makes = 'capped' THEN CASE _kind WHEN 'text' THEN 16 ELSE 0 END
    WHEN _makes IS NULL OR _of.node IN ('MINMAX', 'NULLIFEXPR') THEN CASE _kind WHEN 'text' THEN _most ELSE 0 END
    WHEN _of.node = 'SUBSCRIPTINGREF' AND _kind = 'text' THEN _plain + _within + _deep
    WHEN _kind = 'text' THEN _plain + 6 * (_within + _deep)
    WHEN _makes = 'parse' THEN _within
    ELSE _plain + _within END,
  CASE
    WHEN _kind <> 'document' OR _makes = 'narrow' OR _of.node IN ('CONST', 'CASETESTEXPR') THEN 0
    WHEN _of.node = 'VAR' THEN 1
    WHEN _makes = 'capped' THEN 16
    WHEN _makes IS NULL OR _of.node IN ('MINMAX', 'NULLIFEXPR') THEN _most
    WHEN _makes = 'parse' THEN 3 * _plain + _deep
    ELSE _deep END
$$;

-- Returns what an analysed expression weighs, by the table's own words (host/guard/src/catalog.toml,
-- host/guard/src/weight.rs): each node's value has a size, in rows, as text and as documents; each call weighs by
-- the sizes of its operands.
CREATE OR REPLACE FUNCTION wed.weigh(_nodes wed.expression_node[]) RETURNS integer
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _n wed.expression_node;
  _zeros bigint[] := array_fill(0::bigint, ARRAY[cardinality(_nodes)]);
  _plain bigint[] := _zeros;   -- of a node's operands that are text: their text
  _within bigint[] := _zeros;  -- of those that are documents: the text in them
  _deep bigint[] := _zeros;    -- and what else is in them
  _most bigint[] := _zeros;    -- the largest of them
  _kinds text[] := array_fill(''::text, ARRAY[cardinality(_nodes) + 1]);
  _makes text;
  _kind text;
  _size record;
  _weight bigint := 0;
  _times integer;
BEGIN
  FOR _i IN REVERSE cardinality(_nodes) .. 1 LOOP
    _n := _nodes[_i];
    -- COLLATE has the kind of its operand, which comes next.
    _kind := CASE _n.node WHEN 'COLLATE' THEN _kinds[_i + 1] ELSE wed.kind_of(_n.node, _n.type) END;
    _kinds[_i] := _kind;
    CONTINUE WHEN _n.node IN ('CONST', 'BOOLEXPR'); -- no weight, and no size
    IF _n.call LIKE 'format(%' THEN
      _times := wed.format_repeats(wed.constant_text(_nodes[_i + 1].fields));
      _plain[_i] := _plain[_i] * _times + 1;
      _within[_i] := _within[_i] * _times;
      _deep[_i] := _deep[_i] * _times;
    END IF;
    _makes := wed.made_by(_n, _kinds[_i + 1], _kind);
    _weight := _weight + coalesce((SELECT CASE WHEN _makes = 'capped' THEN w.text
                                          ELSE w.text * (_plain[_i] + _within[_i]) + w.documents * _deep[_i] END
                                   FROM wed.call_weight w WHERE w.makes = _makes), 0);
    _size := wed.size_of(_n, _makes, _kind, _plain[_i], _within[_i], _deep[_i], _most[_i]);
    IF _n.around IS NOT NULL THEN
      IF _kind = 'document' THEN
        _within[_n.around] := least(_within[_n.around] + _size.text, 1000000);
        _deep[_n.around] := least(_deep[_n.around] + _size.documents, 1000000);
      ELSE
        _plain[_n.around] := least(_plain[_n.around] + _size.text, 1000000);
      END IF;
      _most[_n.around] := greatest(_most[_n.around], _size.text, _size.documents);
    END IF;
  END LOOP;
  IF _weight > 1600 THEN
    RAISE EXCEPTION 'the predicate makes too many large values: it weighs %', _weight USING ERRCODE = 'WF011',
      HINT =
        'At most 1600: a text that is made counts 1, one in another case 8, taking text out of a document 6, '
        'a document as text or made anew 96, text as a document 192; '
        'each as often as values of a row''s size are in it.';
  END IF;
  RETURN _weight;
END $$;
