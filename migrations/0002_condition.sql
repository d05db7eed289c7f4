-- Conditions. A predicate is checked by Postgres's own parser against an empty table of the flow's
-- shape, its analysed tree is held against an allow-list, and what is stored and run is the deparsed
-- tree, never the text. Every way of writing wed_trig passes here.

-- Where a name stands in a predicate, as a sentence.
CREATE FUNCTION wed.place(_name text, _text text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE strpos(lower(_text), lower(_name)) WHEN 0 THEN 'It is what Postgres makes of the predicate.'
    ELSE format('At character %s of the predicate.', strpos(lower(_text), lower(_name))) END
$$;

-- Refuses a fragment that could be anything but one expression: read token by token as Postgres's
-- lexer does, it must be balanced and hold no semicolon, no parameter. Returns it with spaces for its comments.
CREATE FUNCTION wed.check_fragment(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $check$
DECLARE
  _at integer := 1;
  _rest text;
  _token text;
  _open text := '';
  _next text;
  _fault text;
  _before text;
  _bare text := '';
  _depth integer;
  _digits text;
  _number text;
  _hint text := 'A predicate is one expression over the attributes, as after WHERE.';
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
  LOOP
    _rest := substr(_text, _at);
    EXIT WHEN _rest = '';
    -- Those of these schemas are what is meant without one.
    IF lower(_before) NOT IN ('pg_catalog', 'wed_flow') AND _before ~ $r$([A-Za-z0-9_$")]|[^\x01-\x7f]|\])$r$ AND _rest ~ '^\s*\.\s*[^0-9[:space:]]' THEN
      RAISE EXCEPTION 'names are written without a table or schema' USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at), HINT = 'Write the name alone.';
    ELSIF lower(_before) = 'variadic' OR lower(_before) = 'operator' AND _rest ~ '^\s*\('
          AND _rest !~* replace('^G\(G("?pg_catalog"?G\.G)?([<>=~!@#%^&|?+*]|-(?!-)|/(?!\*))+G\)', 'G', '(?:\s|/\*[^*]*\*/|--[^\n]*\n)*') THEN
      RAISE EXCEPTION '% is not allowed in a predicate', upper(_before) USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at), HINT = 'Write the operator''s sign, the arguments one by one.';
    END IF;
    -- What means nothing here: space, digits, commas, dots, operators without - / and what follows.
    _token := substring(_rest FROM $r$^[^-A-Za-z_'"$;\\`()\[\]/\x80-\U0010ffff]+$r$);
    IF _token IS NULL THEN
      _token := substring(_rest FROM $r$^(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*$r$);
      IF _token IN ('e', 'E') AND substr(_rest, 2, 1) = '''' THEN
        _token := substring(_rest FROM $r$^[eE]'(?:[^'\\]|''|\\.)*'$r$);
        _fault := CASE WHEN _token IS NULL THEN 'an unterminated string' END;
      END IF;
    END IF;
    IF _token IS NULL AND _fault IS NULL THEN
      CASE left(_rest, 1)
        WHEN '''' THEN
          _token := substring(_rest FROM $r$^'(?:[^']|'')*'$r$);
          _fault := CASE WHEN _token IS NULL THEN 'an unterminated string' END;
        WHEN '"' THEN
          _token := substring(_rest FROM $r$^"(?:[^"]|"")*"$r$);
          _fault := CASE WHEN _token IS NULL THEN 'an unterminated quoted name' END;
        WHEN '$' THEN
          _token := substring(_rest FROM $r$^\$(?:(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_]|[^\x01-\x7f])*)?\$$r$);
          IF _token IS NULL THEN
            _fault := quote_literal('$');
          ELSIF strpos(substr(_rest, length(_token) + 1), _token) = 0 THEN
            _fault := 'an unterminated string';
          ELSE
            _token := left(_rest, strpos(substr(_rest, length(_token) + 1), _token) - 1 + 2 * length(_token));
          END IF;
        WHEN '-', '/' THEN
          _token := left(_rest, 1);
          IF left(_rest, 2) = '--' THEN
            _token := substring(_rest FROM $r$^[^\n\r]*$r$);
          ELSIF left(_rest, 2) = '/*' THEN
            _token := '/*';
            _depth := 1;
            WHILE _depth > 0 LOOP
              _next := substring(substr(_rest, length(_token) + 1) FROM $r$^(?:[^*/]|\*(?!/)|/(?!\*))*(?:\*/|/\*)$r$);
              IF _next IS NULL THEN
                _fault := 'an unterminated comment';
                EXIT;
              END IF;
              _token := _token || _next;
              _depth := _depth + CASE right(_next, 2) WHEN '*/' THEN -1 ELSE 1 END;
            END LOOP;
          END IF;
        WHEN '(', '[' THEN
          _token := left(_rest, 1);
          _open := _open || _token;
          IF length(_open) > 200 THEN
            RAISE EXCEPTION 'the predicate nests more than 200 brackets' USING ERRCODE = 'WF011',
              HINT = 'Write it with fewer brackets.';
          END IF;
        WHEN ')', ']' THEN
          _token := left(_rest, 1);
          IF right(_open, 1) IS DISTINCT FROM translate(_token, ')]', '([') THEN
            RAISE EXCEPTION 'a closing bracket of the predicate was never opened' USING ERRCODE = 'WF011',
              DETAIL = format('At character %s of the predicate.', _at), HINT = 'Balance the brackets.';
          END IF;
          _open := left(_open, -1);
        ELSE
          _fault := quote_literal(left(_rest, 1));
      END CASE;
    END IF;
    IF _fault IS NOT NULL THEN
      RAISE EXCEPTION '% is not allowed in a predicate', _fault USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at), HINT = _hint;
    END IF;
    _at := _at + length(_token);
    IF _token ~ '^(--|/\*)' THEN
      _bare := _bare || regexp_replace(_token, '[^\n\r]', ' ', 'g');
      CONTINUE;
    END IF;
    -- What follows digits without a space is a number as later versions write it: with underscores, to another base.
    _digits := CASE WHEN _token ~ '^[A-Za-z_]' THEN substring(_bare FROM '[0-9.]+$') END;
    _number := CASE WHEN _digits IS NOT NULL AND current_setting('server_version_num')::integer < 160000 THEN wed.plain_number(_digits, _token) END;
    IF _number IS NOT NULL THEN
      _bare := left(_bare, -length(_digits)) || repeat(' ', length(_digits) + length(_token) - length(_number));
      _token := _number;
    END IF;
    -- Earlier versions know no AT LOCAL; it is UTC where conditions are evaluated.
    IF lower(_token) = 'local' AND lower(_before) = 'at' AND current_setting('server_version_num')::integer < 170000 THEN
      _bare := _bare || 'TIME ZONE ''UTC''';
      _before := NULL;
      CONTINUE;
    END IF;
    _bare := _bare || _token;
    -- White space joins what it stands between; of a string nothing is asked.
    IF _token !~ '^\s+$' THEN
      _before := CASE WHEN _token IN ('"pg_catalog"', '"wed_flow"') THEN btrim(_token, '"')
                      WHEN _token ~ '^[(\[\])"]' THEN right(_token, 1)
                      WHEN _token ~ $r$^[A-Za-z_]|^[^\x01-\x7f]$r$ AND right(_token, 1) <> '''' THEN _token END;
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

-- A number of which _digits and _rest are the parts, without underscores and to the base of ten; null when it is none.
CREATE FUNCTION wed.plain_number(_digits text, _rest text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN _rest ~* '^(_[0-9]+)*(e[0-9]+(_[0-9]+)*)?$' AND strpos(_rest, '_') > 0 THEN _digits || replace(_rest, '_', '')
    WHEN _digits = '0' AND _rest ~* '^(x(_?[0-9a-f])+|o(_?[0-7])+|b(_?[01])+)$' AND length(_rest) <= 60 THEN (
      SELECT trunc(sum((strpos('0123456789abcdef', d) - 1) * CASE lower(left(_rest, 1)) WHEN 'x' THEN 16 WHEN 'o' THEN 8 ELSE 2 END ^ (n - 1)::numeric))::text
      FROM string_to_table(reverse(lower(replace(substr(_rest, 2), '_', ''))), NULL) WITH ORDINALITY t(d, n))
    END
$$;

-- Functions a predicate may call by name, besides casts between allowed types: those of the guard
-- (host/guard/src/catalog/functions.txt), but for the volatile ones.
CREATE TABLE wed.allowed_function (name text PRIMARY KEY);
INSERT INTO wed.allowed_function SELECT unnest(ARRAY[
  'abs', 'acos', 'age', 'array_append', 'array_cat', 'array_dims', 'array_length', 'array_lower', 'array_ndims',
  'array_position', 'array_positions', 'array_prepend', 'array_remove', 'array_replace', 'array_to_json',
  'array_to_string', 'array_upper', 'ascii', 'asin', 'atan', 'atan2', 'bit_length', 'btrim', 'cardinality',
  'cbrt', 'ceil', 'ceiling', 'char_length', 'character_length', 'chr', 'concat', 'concat_ws', 'cos', 'cot',
  'date', 'date_bin', 'date_part', 'date_trunc', 'daterange', 'decode', 'degrees', 'div', 'encode', 'exp', 'extract', 'floor',
  'format', 'gcd', 'initcap', 'int4range', 'int8range', 'isempty', 'isfinite', 'json_array_length', 'json_build_array', 'json_build_object',
  'json_extract_path', 'json_extract_path_text', 'json_strip_nulls', 'json_typeof', 'jsonb_array_length',
  'jsonb_build_array', 'jsonb_build_object', 'jsonb_contains', 'jsonb_exists', 'jsonb_exists_all',
  'jsonb_exists_any', 'jsonb_extract_path', 'jsonb_extract_path_text', 'jsonb_insert', 'jsonb_object',
  'jsonb_path_exists', 'jsonb_path_match', 'jsonb_path_query_first', 'jsonb_set', 'jsonb_strip_nulls', 'jsonb_typeof', 'justify_days', 'justify_hours', 'justify_interval', 'lcm',
  'left', 'length', 'like_escape', 'ln', 'log', 'log10', 'lower', 'lower_inc', 'lower_inf', 'lpad', 'ltrim', 'make_date', 'make_interval',
  'make_time', 'make_timestamp', 'make_timestamptz', 'md5', 'min_scale', 'mod', 'now', 'num_nonnulls',
  'num_nulls', 'numrange', 'octet_length', 'overlaps', 'overlay', 'pi', 'position', 'pow', 'power', 'radians', 'range_merge', 'regexp_count',
  'regexp_instr', 'regexp_like', 'regexp_match', 'regexp_replace', 'regexp_split_to_array', 'regexp_substr',
  'repeat', 'replace', 'reverse', 'right', 'round', 'rpad', 'rtrim', 'scale', 'sha224', 'sha256', 'sha384',
  'sha512', 'sign', 'similar_to_escape', 'sin', 'split_part', 'sqrt', 'starts_with', 'statement_timestamp',
  'string_to_array', 'strpos', 'substr', 'substring', 'tan', 'timezone', 'to_char', 'to_date', 'to_hex',
  'to_json', 'to_jsonb', 'to_number', 'to_timestamp', 'transaction_timestamp', 'translate', 'trim_array',
  'trim_scale', 'trunc', 'tsrange', 'tstzrange', 'upper', 'upper_inc', 'upper_inf', 'width_bucket']);

-- Types a predicate may hold or cast to; arrays of them too.
CREATE TABLE wed.allowed_type (name text PRIMARY KEY);
INSERT INTO wed.allowed_type SELECT unnest(ARRAY['text', 'varchar', 'unknown', 'int2', 'int4',
  'int8', 'numeric', 'float4', 'float8', 'bool', 'date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval',
  'uuid', 'jsonb', 'json', 'bytea', 'bpchar', 'jsonpath', 'int4range', 'int8range', 'numrange', 'daterange', 'tsrange',
  'tstzrange']);

-- Refuses a regular expression that could run for long. Postgres makes an automaton of it: the time is a matter
-- of its size and of the text's length, if it refers to nothing that matched before and does not look around.
-- The guard of the hosts judges in the same way (host/guard/src/pattern.rs).
CREATE FUNCTION wed.check_pattern(_pattern text, _similar boolean DEFAULT false) RETURNS void
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
  _bare := regexp_replace(regexp_replace(regexp_replace(regexp_replace(_bare, '\\[AmMyYZ]', E'\x03', 'g'), '\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[A-Za-z0-9])', E'\x01', 'g'), '\\.', E'\x02', 'g'),
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
    _bare := regexp_replace(_bare, '\([^()]*\)', CASE WHEN NOT _endless THEN E'\x03' WHEN _open THEN E'\x03+' ELSE 'f' END);
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
      HINT = 'Make it shorter and repeat less; a repeated group counts as often as it is repeated. Join two conditions by AND instead of looking around.';
  END IF;
END $check$;

-- Refuses a path into a document that could take longer than a few looks at all of it. The guard of the hosts judges
-- in the same way (host/guard/src/pattern.rs).
CREATE FUNCTION wed.check_path(_path text) RETURNS void
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
    WHEN EXISTS (SELECT FROM regexp_matches(_close, '(\.?)([a-z0-9_]*)\(', 'gi') m
                 WHERE NOT (m[2] = '' OR m[1] <> '' AND m[2] IN ('type', 'size', 'double', 'ceiling', 'floor', 'abs')
                            OR m[1] = '' AND m[2] = 'exists')) THEN 'has a method that is not allowed'
    END;
  IF _why IS NOT NULL THEN
    RAISE EXCEPTION 'the path % %', quote_literal(left(_path, 60)), _why USING ERRCODE = 'WF011',
      HINT = 'Write ->, ->> or @>, or several paths; docs/conditions.md tells what a path may hold.';
  END IF;
END $check$;

-- What a path counts of what is searched for, as Postgres writes it: a chain of names and at most four numbers of elements takes
-- a look at each value or two. (What is no list is made one at each number.)
CREATE FUNCTION wed.path_cost(_path text) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN _path ~ '^(?:strict )?\$(?:\."(?:[^"\\]|\\.)*"|\[(?:[0-9]+|last)\])*$'
    AND regexp_count(regexp_replace(_path, '"(?:[^"\\]|\\.)*"', '', 'g'), '\[') <= 4 THEN 24 ELSE 128 END
$$;

-- Whether a text names a time zone as Postgres's list of them does, or is an offset.
CREATE FUNCTION wed.is_zone(_text text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _text ~* '^\s*(?:[a-z][a-z/_-]{0,39}|(?:etc/)?(?:gmt|utc|uct)[+-]?[0-9]{1,2}|est5edt|cst6cdt|mst7mdt|pst8pdt|[+-]?[0-2]?[0-9](?::?(?:00|15|30|45))?)\s*$'
$$;

-- Refuses a format whose placeholders could make a large value of small ones.
CREATE FUNCTION wed.check_format(_format text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _places integer;
  _wrong integer;
BEGIN
  SELECT count(*), count(*) FILTER (WHERE m[2] NOT IN ('s', 'I', 'L') OR strpos(m[1], '*') > 0 OR EXISTS (
      SELECT FROM regexp_split_to_table(m[1], '[-$]') d WHERE length(d) > 4 OR d <> '' AND d::integer > 1000))
  INTO _places, _wrong FROM regexp_matches(replace(_format, '%%', ''), '%([-0-9$*]*)(.?)', 'g') m;
  IF _wrong > 0 OR _places > 64 THEN
    RAISE EXCEPTION 'the format % holds a placeholder that is not allowed', quote_literal(left(_format, 60)) USING ERRCODE = 'WF011',
      HINT = 'Write %s, %I or %L, at most 64 of them, each at most 1000 wide.';
  END IF;
END $$;

-- How often a format puts in its argument _n, counted from 1. One that names no argument takes the next.
CREATE FUNCTION wed.format_uses(_format text, _n integer) RETURNS integer
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _place text[];
  _argument integer := 0;
  _uses integer := 0;
BEGIN
  FOR _place IN SELECT regexp_matches(replace(_format, '%%', ''), '%(?:([0-9]{1,4})\$)?', 'g') LOOP
    _argument := coalesce(_place[1]::integer, _argument + 1);
    _uses := _uses + (_argument = _n)::integer;
  END LOOP;
  RETURN _uses;
END $$;

-- A text constant of a node tree. What is not ASCII becomes '?'.
CREATE FUNCTION wed.constant_text(_fields text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  -- Its bytes, with sign, behind the four of its length.
  SELECT coalesce(string_agg(CASE WHEN b::integer BETWEEN 1 AND 127 THEN chr(b::integer) ELSE '?' END, '' ORDER BY n), '')
  FROM regexp_split_to_table(substring(_fields FROM ':constvalue \d+ \[ (?:-?\d+ ){4}(.*) \]'), ' ') WITH ORDINALITY t(b, n)
$$;

-- Refuses an analysed expression whose values could take too much memory, all intermediate ones together, when every
-- attribute is as large as its row may be: each text, array or document is made anew by everything that is made of
-- it. Also a form of a function that the deparsed text does not tell apart: substring(text, text) takes a regular
-- expression, which is written there.
CREATE FUNCTION wed.check_work(_tree text) RETURNS integer
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _part text[];
  _costs bigint[] := '{}';     -- how often what a node gives is made anew in those around it
  _kinds text[] := '{}';
  _children integer[] := '{}';
  _d integer := 0;
  _around bigint;
  _cost bigint;
  _work double precision := 0; -- in parts as large as a row, 256 kB
  _formats text[] := '{}';     -- of format: what it is given
  _name text;
  _wide boolean;
  _type text;
  _types text[] := '{}';
  _conversions integer := 0;   -- of documents and arrays to text, or the other way round
  _extracted integer := 0;     -- texts that are taken out of documents
  _operator oid;
  _again integer[] := '{}';    -- how many around a node make the document anew that it gives
  _below integer[] := '{}';    -- and around what is in it
  _documents integer := 0;     -- of an attribute's size, that are made
  _compared integer := 0;
  _comparing oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprname IN ('=', '<>', '<', '<=', '>', '>=') AND oprleft = 'jsonb'::regtype);
  _extracting oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprname IN ('->>', '#>>'));
  _making oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprname IN ('||', '-', '#-') AND oprresult = 'jsonb'::regtype);
  _joining oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprcode IN ('textanycat'::regproc, 'anytextcat'::regproc));
  -- What makes text or a document of documents and arrays.
  _writing text := '^(to_jsonb?|array_to_json|array_to_string|jsonb_object|jsonb?_build_(array|object)|concat|concat_ws|format)\(';
  _held integer[] := '{}';     -- how many documents a node's value may hold
  _zones boolean[] := '{}';    -- whether a node gives the name of a time zone, or is a branch of what does
  _zone boolean;
  _more integer;
  _uses integer;
BEGIN
  FOR _part IN SELECT regexp_matches(_tree, '(\{)([A-Z_]+)([^{}]*)|\}([^{}]*)', 'g') LOOP
    IF _part[1] IS NULL THEN
      _d := _d - 1;
      CONTINUE WHEN _d = 0;
      -- The type of a cast stands behind what is cast.
      IF _types[_d] IS NULL AND strpos(_part[4], ':resulttype ') > 0 THEN
        _types[_d] := (SELECT t.typname FROM pg_type t WHERE t.oid = substring(_part[4] FROM ':resulttype (\d+)')::oid);
      END IF;
      -- All that are in an array, or are joined, and the most of those that one is chosen from.
      _held[_d + 1] := CASE
        WHEN _kinds[_d + 1] IN ('NULLTEST', 'BOOLEXPR', 'BOOLEANTEST', 'SCALARARRAYOPEXPR', 'DISTINCTEXPR', 'ROWCOMPARE', 'ROWCOMPAREEXPR') THEN 0
        WHEN _types[_d + 1] IS NULL THEN _held[_d + 1]
        WHEN _types[_d + 1] ~ '^_?jsonb?$' THEN greatest(_held[_d + 1], 1)
        WHEN _types[_d + 1] ~ '^_' THEN _held[_d + 1] ELSE 0 END;
      _held[_d] := CASE WHEN _kinds[_d] ~ '^(CASE|COALESCE|MINMAX)' THEN greatest(_held[_d], _held[_d + 1]) ELSE _held[_d] + _held[_d + 1] END;
      _more := greatest(_held[_d + 1] - 1, 0);
      IF _kinds[_d] ~ _writing AND _types[_d + 1] ~ '^_|^(jsonb?|bytea)$' THEN
        -- Each as often as a format says.
        _uses := CASE WHEN _kinds[_d] LIKE 'format(%' THEN coalesce(wed.format_uses(_formats[_d], _children[_d] - 1), 64) ELSE 1 END;
        _conversions := _conversions + 4 * _uses * (1 + _more);
        _work := _work + _costs[_d] * _uses * (1 + _more) * CASE _types[_d + 1] WHEN 'jsonb' THEN 6 WHEN '_numeric' THEN 12 WHEN '_jsonb' THEN 12 WHEN 'json' THEN 8 WHEN 'bytea' THEN 8 ELSE 2 END;
      END IF;
      IF _kinds[_d] = 'COERCEVIAIO' THEN
        _type := _types[_d];
        IF _types[_d + 1] ~ '^_|^jsonb?$' AND _type ~ '^_|^text$|^varchar$|^jsonb?$'
           OR _type ~ '^_|^jsonb?$' AND _types[_d + 1] ~ '^text$|^varchar$' THEN
          _conversions := _conversions + 4 * (1 + _more);
          _work := _work + (1 + _costs[_d]) * (1 + _more) * CASE _types[_d + 1] WHEN 'jsonb' THEN 6 WHEN '_numeric' THEN 12 ELSE 8 END;
        END IF;
        -- Text of an attribute's size may hold more values than a document of that size.
        IF _kinds[_d + 1] <> 'CONST' AND _types[_d + 1] IS DISTINCT FROM 'jsonb' THEN
          _documents := _documents + CASE WHEN _type = 'jsonb' THEN 2 + 3 * _again[_d] WHEN _type = 'json' THEN 3 * _again[_d]
                                          WHEN _type ~ '^_' THEN _again[_d] ELSE 0 END;
        END IF;
      END IF;
      CONTINUE;
    END IF;
    _around := 0;
    _zone := false;
    IF _d > 0 THEN
      _around := _costs[_d];
      _children[_d] := _children[_d] + 1;
      IF _kinds[_d] LIKE 'format(%' THEN
        -- Each argument is in what it makes as often as the format says.
        IF _children[_d] = 1 THEN
          _formats[_d] := CASE WHEN _part[2] = 'CONST' THEN wed.constant_text(_part[3]) END;
          _around := 0;
          _work := _work + _costs[_d] / 262144.0 * (SELECT coalesce(sum(left(m[1], 4)::integer), 0)
            FROM regexp_matches(_formats[_d], '%(?:[0-9]+\$)?-?([0-9]+)[^0-9$]', 'g') m);
        ELSE
          _around := _costs[_d] * coalesce(wed.format_uses(_formats[_d], _children[_d] - 1), 64);
        END IF;
      END IF;
      IF _children[_d] = 2 AND _costs[_d] > 64 AND _kinds[_d] ~ '^(repeat|[lr]pad)\(' THEN
        _work := _work + _costs[_d] * CASE WHEN _part[2] = 'CONST' AND _kinds[_d] LIKE '_pad(%' THEN 0.016 ELSE 0.25 END;
      END IF;
      -- What is put in for each byte at most.
      IF _kinds[_d] LIKE 'replace(%' AND _children[_d] = 3 THEN
        _work := _work + _costs[_d] * CASE WHEN _part[2] = 'CONST' THEN greatest(1, least(16, coalesce(substring(_part[3] FROM ':constvalue (\d+) \[')::integer, 5) - 4)) ELSE 16 END;
      END IF;
      IF _kinds[_d] = '"substring"(text,text)' AND _children[_d] = 2 AND _part[2] <> 'CONST' THEN
        RAISE EXCEPTION 'a regular expression is text in quotes' USING ERRCODE = 'WF011',
          HINT = 'Write it itself; for a position write substr(text, start, length).';
      END IF;
      -- A zone, or a choice of several: each of them is written there.
      _zone := _kinds[_d] LIKE 'timezone(text,%' AND _children[_d] = 1 OR _kinds[_d] LIKE 'date_trunc(%,text)' AND _children[_d] = 3
        OR _kinds[_d] LIKE 'make_timestamptz(%,text)' AND _children[_d] = 7
        OR _zones[_d] AND CASE _kinds[_d] WHEN 'CASE' THEN _part[2] = 'WHEN' OR _children[_d] > 1
          WHEN 'CASEEXPR' THEN _part[2] = 'CASEWHEN' OR _children[_d] > 1
          WHEN 'WHEN' THEN _children[_d] = 2 WHEN 'CASEWHEN' THEN _children[_d] = 2
          WHEN 'COALESCE' THEN true WHEN 'COALESCEEXPR' THEN true WHEN 'NULLIFEXPR' THEN _children[_d] = 1 ELSE false END;
      IF _zone AND _part[2] NOT IN ('CASE', 'CASEEXPR', 'WHEN', 'CASEWHEN', 'COALESCE', 'COALESCEEXPR', 'NULLIFEXPR')
         AND NOT (_part[2] = 'CONST' AND (_part[3] ~ ':constisnull true' OR wed.is_zone(wed.constant_text(_part[3])))) THEN
        RAISE EXCEPTION 'a time zone is written there, by its name' USING ERRCODE = 'WF011',
          HINT = 'For example ''UTC'', ''Europe/Berlin'' or ''+02''; of a few zones write CASE a1 WHEN ''DE'' THEN ''Europe/Berlin'' ELSE ''UTC'' END.';
      END IF;
      IF _kinds[_d] LIKE 'array_to_string(%' AND _children[_d] = 1 AND _part[2] <> 'VAR' THEN
        _kinds[_d] := 'array_to_string(made';
      ELSIF _kinds[_d] LIKE 'array_to_string(%' AND _part[2] = 'CONST' THEN
        -- Between the elements, of which an attribute has not so many.
        _work := _work + _around * coalesce(substring(_part[3] FROM ':constvalue (\d+) \[')::bigint, 0)
                 * CASE WHEN _kinds[_d] = 'array_to_string(made' THEN 2 ELSE 0.02 END;
      END IF;
    END IF;
    _d := _d + 1;
    IF _d > 200 THEN
      RAISE EXCEPTION 'the predicate is nested too deep' USING ERRCODE = 'WF011',
        HINT = 'Use concat(...) for long chains of ||, IN (...) for long chains of OR.';
    END IF;
    _name := coalesce(substring(_part[3] FROM '^ :funcid (\d+)')::oid::regprocedure::text, _part[2]);
    _type := (SELECT t.typname FROM pg_type t WHERE t.oid = substring(_part[3]
        FROM ':(?:opresulttype|funcresulttype|resulttype|vartype|array_typeid|coalescetype|casetype|minmaxtype|refrestype|typeId) (\d+)')::oid);
    _wide := coalesce(_type ~ '^_' OR _type IN ('text', 'varchar', 'bpchar', 'jsonb', 'json', 'bytea'), false);
    _types[_d] := _type;
    _operator := substring(_part[3] FROM '^ :opno (\d+)')::oid;
    IF _name ~ '^jsonb?_extract_path_text' OR _operator = ANY (_extracting) THEN
      _conversions := _conversions + 1;
      _extracted := _extracted + 1;
      _work := _work + 5 * (1 + _around);
    ELSIF _name ~ '^jsonb_(set|insert|strip_nulls)\(' OR _operator = ANY (_making) THEN
      _conversions := _conversions + 2;
    END IF;
    _again[_d] := CASE WHEN _d > 1 THEN _below[_d - 1] ELSE 0 END;
    _below[_d] := CASE
      WHEN _part[2] IN ('NULLTEST', 'BOOLEXPR', 'BOOLEANTEST', 'SCALARARRAYOPEXPR', 'DISTINCTEXPR', 'COERCEVIAIO', 'ROWCOMPARE', 'ROWCOMPAREEXPR')
        OR _type NOT IN ('jsonb', 'json') AND _type !~ '^_' THEN 0
      WHEN _name ~ '^(to_jsonb|jsonb_(object|build_array|build_object|set|insert|strip_nulls))\(' OR _operator = ANY (_making) THEN _again[_d] + 1
      ELSE _again[_d] END;
    IF _part[2] = 'VAR' AND _type ~ '^_?jsonb$' OR _name ~ '^(string_to_array|regexp_split_to_array)\(' THEN
      _documents := _documents + _again[_d];
    END IF;
    _compared := _compared + coalesce((_operator = ANY (_comparing) OR _type = 'jsonb' AND _d > 1 AND (_kinds[_d - 1] LIKE 'MINMAX%' OR _kinds[_d - 1] LIKE 'ROWCOMPARE%'
      OR _d > 2 AND _kinds[_d - 1] LIKE 'ARRAY%' AND _kinds[_d - 2] LIKE 'SCALARARRAYOP%'))::integer, 0);
    _cost := _around;
    IF _wide AND _part[2] IN ('OPEXPR', 'FUNCEXPR', 'COERCEVIAIO', 'ARRAY', 'ARRAYEXPR', 'ARRAYCOERCEEXPR') THEN
      _cost := least(1 + _around, 1000000);
      -- What these make is bounded by itself.
      _work := _work + (1 + _around) * CASE WHEN _name LIKE 'string_to_array(%' THEN 8 WHEN _name LIKE 'regexp_replace(%' THEN 4 ELSE 0 END;
    ELSIF _part[2] = 'CONST' OR _part[2] = 'VAR' AND NOT _wide THEN
      -- Small, but for formats within formats.
      _work := _work + CASE WHEN _around < 64 THEN 0
        ELSE _around * greatest(substring(_part[3] FROM ':constvalue (\d+)')::integer, 1000) / 262144.0 END;
    ELSIF _wide AND _part[2] = 'VAR' THEN
      _work := _work + _around;
    END IF;
    _costs[_d] := _cost;
    _kinds[_d] := CASE WHEN _operator = ANY (_joining) THEN 'concat(||)' ELSE _name END;
    _children[_d] := 0;
    _zones[_d] := _zone;
    _held[_d] := 0;
  END LOOP;
  IF _documents > 16 THEN
    RAISE EXCEPTION 'the predicate makes too many documents of any size' USING ERRCODE = 'WF011',
      HINT = 'At most 16; one that is made of another that is made counts again. Make one of constants and join it.';
  END IF;
  IF _compared > 200 THEN
    RAISE EXCEPTION 'the predicate compares documents more than 200 times' USING ERRCODE = 'WF011',
      HINT = 'Compare text: doc ->> ''a'' IN (...).';
  END IF;
  IF _conversions > 64 THEN
    RAISE EXCEPTION 'the predicate makes too many documents, or text of documents and arrays' USING ERRCODE = 'WF011',
      HINT = 'Taking text out of a document counts 1, making another of one 2, all of one as text 4, together at most 64. Compare parts by @>, or in several triggers.';
  END IF;
  IF _work > 768 THEN
    RAISE EXCEPTION 'the values in the predicate could take too much memory' USING ERRCODE = 'WF011',
      HINT = 'Use concat(...) for long chains of ||, and text attributes less often.';
  END IF;
  -- In megabytes. A text that is taken out of a document takes two parts, the document and the text; the rest of the
  -- five is the time of it.
  RETURN (_work - _extracted * 3) / 4 + _documents * 20;
END $$;

-- Holds an analysed expression against the allow-lists, default reject.
-- In the text of a node tree, constants are numbers and names are escaped, so a tenant's text cannot
-- look like a node or a field.
CREATE FUNCTION wed.check_tree(_tree text, _text text) RETURNS integer
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
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad, _text), HINT = 'docs/conditions.md lists the functions that are.';
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

-- Needed for the moment in which it becomes their owner.
GRANT USAGE, CREATE ON SCHEMA wed TO wed_predicate;

-- Puts a predicate on the shape table, for a moment, as a constraint that checks nothing: Postgres parses
-- and analyses it there, and follows attributes that are renamed meanwhile. Runs as wed_predicate, so that even a fragment that got past check_fragment could do nothing.
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
  _shape_schema text, _tgid integer, _text text, OUT predicate text, OUT reads text[], OUT timely boolean, OUT weight integer)
LANGUAGE plpgsql
-- The deparser writes strings and points in time as the session's settings are.
SET standard_conforming_strings = on SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _tree text;
  _relation oid := format('%I.wed_flow', _shape_schema)::regclass;
BEGIN
  _text := wed.check_fragment(_text);
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
  -- Everybody can read constraints.
  PERFORM wed.take_off_shape(_shape_schema, _tgid);
  weight := wed.check_tree(_tree, _text);
  IF 'wid' = ANY (reads) THEN
    RAISE EXCEPTION 'wid is the identity of an instance, not an attribute' USING ERRCODE = 'WF011',
      DETAIL = wed.place('wid', _text), HINT = 'A condition is over the attributes.';
  END IF;
  IF predicate ~ $r$'[^']*[0-9.]{39}[^']*'::(numeric|jsonb|numrange)|(^|[^'0-9])[0-9.]{39}$r$ THEN
    RAISE EXCEPTION 'a number of the predicate is too large' USING ERRCODE = 'WF011',
      HINT = 'At most 38 digits, before and behind the point together.';
  END IF;
  IF regexp_replace(predicate, '''(?:[^'']|'''')*''', '', 'g') ~ 'character\([0-9]{4,}\)' THEN
    RAISE EXCEPTION 'char(n) is too long' USING ERRCODE = 'WF011', HINT = 'At most 999; use text, which needs no length.';
  END IF;
  IF EXISTS (SELECT FROM regexp_matches(predicate, $r$(?:AT TIME ZONE |timezone\()'((?:[^']|'')*)'::text$r$, 'g') z
             WHERE NOT wed.is_zone(z[1])) THEN
    RAISE EXCEPTION 'a time zone is written by its name' USING ERRCODE = 'WF011', HINT = 'For example ''UTC'', ''Europe/Berlin'' or ''+02''.';
  END IF;
  PERFORM wed.guarded(predicate);
  timely := _tree ~ '\{(SQLVALUEFUNCTION|COERCEVIAIO)' OR EXISTS (
    SELECT FROM regexp_matches(_tree, ':funcid (\d+)', 'g') AS m JOIN pg_proc p ON p.oid = m[1]::oid
    WHERE p.provolatile <> 'i'
    UNION ALL
    SELECT FROM regexp_matches(_tree, ':opno (\d+)', 'g') AS m JOIN pg_operator o ON o.oid = m[1]::oid
    JOIN pg_proc p ON p.oid = o.oprcode WHERE p.provolatile <> 'i');
END $$;
