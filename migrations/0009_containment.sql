-- Containment: what keeps hostile values from holding a backend, and rows from growing without bound.
-- statement_timeout is not enough: Postgres looks at it between rows, not within an expression.

-- Functions through which conditions and SET clauses pass values whose size decides how long a
-- computation takes. They are called in the database of every flow, by its own role and by
-- wed_predicate; being in PL/pgSQL, each call is also a moment at which a timeout is seen.
CREATE SCHEMA wed_bounded;
GRANT USAGE ON SCHEMA wed_bounded TO PUBLIC;
COMMENT ON SCHEMA wed_bounded IS 'Wedflow''s own: refuses values that would take too long to compute with.';

-- Text that is about to be cast to a number: at most 100 digits, before and behind the point.
CREATE FUNCTION wed_bounded.number(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text) <= 100 AND strpos(_text, 'e') = 0 AND strpos(_text, 'E') = 0 THEN
    RETURN _text;
  END IF;
  IF octet_length(_text) > 200 OR _text ~ '[eE][-+]?[0-9_]{4}' OR _text ~ '[0-9_.]{103}'
     OR abs(coalesce(replace(substring(_text FROM '[eE]([-+]?[0-9_]{1,3})'), '_', '')::integer, 0)) > 100 THEN
    RAISE EXCEPTION 'the number % has too many digits', quote_literal(left(_text, 40)) USING ERRCODE = 'WF031',
      HINT = 'At most 100 digits before the point and 100 behind it.';
  END IF;
  RETURN _text;
END $$;
CREATE FUNCTION wed_bounded.number(_value jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF jsonb_typeof(_value) = 'number' THEN
    PERFORM wed_bounded.number(_value #>> '{}');
  END IF;
  RETURN _value;
END $$;
CREATE FUNCTION wed_bounded.number(_list text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _one text;
BEGIN
  FOREACH _one IN ARRAY _list LOOP
    PERFORM wed_bounded.number(_one);
  END LOOP;
  RETURN _list;
END $$;
CREATE FUNCTION wed_bounded.number(_list jsonb[]) RETURNS jsonb[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _one jsonb;
BEGIN
  FOREACH _one IN ARRAY _list LOOP
    PERFORM wed_bounded.number(_one);
  END LOOP;
  RETURN _list;
END $$;
-- All other types have few digits, or come from columns that are held to them.
CREATE FUNCTION wed_bounded.number(_value anyelement) RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;

-- What a text, array or document is searched for: searching takes the product of both lengths.
CREATE FUNCTION wed_bounded.refuse_long(_what text, _most integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RAISE EXCEPTION 'a value that is searched for has %', _what USING ERRCODE = 'WF032',
    HINT = format('At most %s. Compare whole values with =.', _most);
END $$;
CREATE FUNCTION wed_bounded.short(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text) > 256 THEN
    PERFORM wed_bounded.refuse_long(octet_length(_text) || ' bytes', 256);
  END IF;
  RETURN _text;
END $$;
-- As text: what it takes where it is kept may be compressed.
CREATE FUNCTION wed_bounded.short(_value jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF pg_column_size(_value) > 2048 OR octet_length(_value::text) > 2048 THEN
    PERFORM wed_bounded.refuse_long('more than 2048 bytes', 2048);
  END IF;
  RETURN _value;
END $$;
-- A set of characters, of which each is looked for at each character of a text.
CREATE FUNCTION wed_bounded.few(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text) > 256 OR length(_text) > 64 THEN
    PERFORM wed_bounded.refuse_long('more than 64 characters', 64);
  END IF;
  RETURN _text;
END $$;
CREATE FUNCTION wed_bounded.short(_list anyarray) RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF cardinality(_list) > 256 THEN
    PERFORM wed_bounded.refuse_long(cardinality(_list) || ' elements', 256);
  END IF;
  RETURN _list;
END $$;
CREATE FUNCTION wed_bounded.short(_value anynonarray) RETURNS anynonarray
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
-- An array that others are looked for in: that of four attributes at most.
CREATE FUNCTION wed_bounded.list(_list anyarray) RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF cardinality(_list) > 16384 THEN
    PERFORM wed_bounded.refuse_long(cardinality(_list) || ' elements', 16384);
  END IF;
  RETURN _list;
END $$;
CREATE FUNCTION wed_bounded.list(_value anynonarray) RETURNS anynonarray
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;

-- Text that is about to be read as a date or time: with no zone of one's own making in it. Postgres keeps
-- each zone that it has ever been asked for.
CREATE FUNCTION wed_bounded.moment(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text) > 100 OR _text ~ '[A-Za-z][A-Za-z/_.:]{2,}[-+]?[0-9]' THEN
    RAISE EXCEPTION '% is not taken for a point in time', quote_literal(left(_text, 40)) USING ERRCODE = 'WF032',
      HINT = 'Write it as 2024-01-31 12:00:00+01, or with the name of a zone: 2024-01-31 12:00 Europe/Berlin.';
  END IF;
  RETURN _text;
END $$;
CREATE FUNCTION wed_bounded.moment(_list text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _one text;
BEGIN
  FOREACH _one IN ARRAY _list LOOP
    PERFORM wed_bounded.moment(_one);
  END LOOP;
  RETURN _list;
END $$;
CREATE FUNCTION wed_bounded.moment(_value anyelement) RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;

-- As Postgres's own, where what it makes stays below 4 MiB.
CREATE FUNCTION wed_bounded.replace(_text text, _from text, _to text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text)::bigint / greatest(octet_length(_from), 1) * octet_length(_to) > 4194304 THEN
    RAISE EXCEPTION 'the text could grow to more than 4 MiB by this replacement' USING ERRCODE = 'WF032',
      HINT = 'Replace by something shorter, or in a shorter text.';
  END IF;
  RETURN replace(_text, _from, _to);
END $$;

-- What a regular expression is held against: 8 KiB, and 1 KiB where it is looked for again and again.
CREATE FUNCTION wed_bounded.matched(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text) > 8192 THEN
    RAISE EXCEPTION 'a text of % bytes is held against a regular expression', octet_length(_text) USING ERRCODE = 'WF032',
      HINT = 'At most 8192. Use LIKE, or look at a part of it: left(text, 1000).';
  END IF;
  RETURN _text;
END $$;
CREATE FUNCTION wed_bounded.matched_often(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text) > 1024 THEN
    RAISE EXCEPTION 'a text of % bytes is looked through for all matches of a regular expression', octet_length(_text)
      USING ERRCODE = 'WF032', HINT = 'At most 1024. Use replace, split_part or string_to_array, or look at a part of it.';
  END IF;
  RETURN _text;
END $$;

-- As Postgres's own, where what they make is not too long.
CREATE FUNCTION wed_bounded.refuse_length(_what text, _most integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RAISE EXCEPTION '%', _what USING ERRCODE = 'WF032', HINT = format('At most %s.', _most);
END $$;
CREATE FUNCTION wed_bounded.repeat(_text text, _times integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text)::bigint * _times > 65536 THEN
    PERFORM wed_bounded.refuse_length(format('%s bytes are to be repeated %s times', octet_length(_text), _times), 65536);
  END IF;
  -- Of nothing Postgres counts the times.
  RETURN CASE WHEN _text = '' THEN '' ELSE repeat(_text, _times) END;
END $$;
CREATE FUNCTION wed_bounded.lpad(_text text, _length integer, _by text DEFAULT ' ') RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _length > 1000 THEN
    PERFORM wed_bounded.refuse_length(format('a text is to be %s characters long', _length), 1000);
  END IF;
  RETURN lpad(_text, _length, _by);
END $$;
CREATE FUNCTION wed_bounded.rpad(_text text, _length integer, _by text DEFAULT ' ') RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _length > 1000 THEN
    PERFORM wed_bounded.refuse_length(format('a text is to be %s characters long', _length), 1000);
  END IF;
  RETURN rpad(_text, _length, _by);
END $$;

-- A power of decimals, where it has few digits; of double precision it is never large.
CREATE FUNCTION wed_bounded.power(_base numeric, _exponent numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _base NOT IN (0, 'NaN', 'Infinity', '-Infinity') AND _exponent NOT IN ('NaN', 'Infinity', '-Infinity')
     AND (abs(_exponent) > 1e6 OR abs(_exponent * log(abs(_base))) > 1000 OR scale(_exponent) > 100) THEN
    RAISE EXCEPTION 'a power has too many digits' USING ERRCODE = 'WF031',
      HINT = 'At most 1000 digits; cast to double precision for more.';
  END IF;
  RETURN power(_base, _exponent);
END $$;
CREATE FUNCTION wed_bounded.power(_base double precision, _exponent double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT power($1, $2) $$;
CREATE FUNCTION wed_bounded.pow(_base numeric, _exponent numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT wed_bounded.power($1, $2) $$;
CREATE FUNCTION wed_bounded.pow(_base double precision, _exponent double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT power($1, $2) $$;

-- A number of an attribute: what has too many digits is refused; NaN and the infinities have none.
CREATE FUNCTION wed_bounded.refuse_digits(_attribute text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the value of attribute "%" has too many digits', _attribute USING ERRCODE = 'WF031',
    HINT = 'At most 100 digits before the point and 100 behind it; round(value, digits) cuts.';
END $$;
CREATE FUNCTION wed_bounded.few_digits(_number numeric) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(abs($1) < 1e100 AND scale($1) <= 100, true) OR $1 IN ('NaN', 'Infinity', '-Infinity')
$$;
CREATE FUNCTION wed_bounded.few_digits(_list numeric[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT bool_and(wed_bounded.few_digits(n)) FROM unnest($1) n), true)
$$;
CREATE FUNCTION wed_bounded.refuse_row(_wid integer, _bytes integer) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the state of instance % takes % bytes', _wid, _bytes USING ERRCODE = 'WF033',
    HINT = 'At most 262144 (256 KiB) for all attributes together. Keep large things elsewhere, and their place in the state.';
END $$;

-- Holds a flow's rows to their size.
CREATE FUNCTION wed.bound_rows(_schema text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT bytes CHECK (pg_column_size(wed_flow.*) <= 262144
                    OR wed_bounded.refuse_row(wed_flow.*))', _schema);
END $$;

CREATE FUNCTION wed_bounded.refuse_row(_row record) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RETURN wed_bounded.refuse_row(_row.wid, pg_catalog.pg_column_size(_row));
END $$;
CREATE FUNCTION wed_bounded.measure_row(_wid integer, _row text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN octet_length(_row) <= 262144 OR wed_bounded.refuse_row(_wid, octet_length(_row));
END $$;
CREATE FUNCTION wed_bounded.refuse_elements(_attribute text, _elements integer) RETURNS boolean
LANGUAGE plpgsql STRICT AS $$
BEGIN
  RAISE EXCEPTION 'the value of attribute "%" has % elements', _attribute, _elements USING ERRCODE = 'WF033',
    HINT = 'At most 4096. Keep long lists elsewhere, and their place in the state.';
END $$;

-- Holds a numeric attribute to its digits, an array to its elements, and what may be long to what the row's
-- size counts: the value as it is, not compressed (came_compressed).
CREATE FUNCTION wed.bound_attribute(_schema text, _name text, _sql_type text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _sql_type IN ('text', 'jsonb') OR _sql_type ~ '\[\]$' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I SET STORAGE EXTERNAL', _schema, _name);
  END IF;
  IF _sql_type ~ '\[\]$' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (
        cardinality(%I) <= 4096 OR wed_bounded.refuse_elements(%L, cardinality(%3$I))) NOT VALID',
      _schema, 'size_' || md5(_name), _name, _name);
  END IF;
  IF _sql_type = 'numeric' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (
        (abs(%I) < 1e100 AND scale(%3$I) <= 100) IS NOT FALSE AND %3$I <> ''NaN''
        OR wed_bounded.few_digits(%3$I) OR wed_bounded.refuse_digits(%L)) NOT VALID',
      _schema, 'digits_' || _name, _name, _name);
  ELSIF _sql_type = 'numeric[]' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (
        wed_bounded.few_digits(%I) OR wed_bounded.refuse_digits(%L)) NOT VALID',
      _schema, 'digits_' || _name, _name, _name);
  END IF;
END $$;

-- The number that the next tokens of a deparsed expression are, up to a comma or bracket; null when they are none.
CREATE FUNCTION wed.written_number(_tokens text[]) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT substring(array_to_string(_tokens, '')
    FROM $r$^\s*\(*'?(-?[0-9]+(?:\.[0-9]*)?)'?(?:::(?:integer|bigint|numeric|double precision))?\)?(?:::(?:numeric|double precision|bigint|integer))?[,)]$r$)
$$;

-- What a set of characters counts: four times each, and the most of it where it is not written there.
CREATE FUNCTION wed.written_set(_token text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _length integer := CASE WHEN _token ~ '^''' THEN length(replace(_token, '''''', '''')) - 2 WHEN _token = 'NULL' THEN 0 ELSE 64 END;
BEGIN
  IF _length > 64 THEN
    RAISE EXCEPTION 'a set of more than 64 characters' USING ERRCODE = 'WF011',
      HINT = 'Each character of the text is looked for in it; name fewer, or use a regular expression.';
  END IF;
  RETURN 4 * _length;
END $$;

-- What constants count that are searched for: their bytes, and four for each of an array that is written as such.
CREATE FUNCTION wed.written_list(_text text) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(sum(CASE WHEN m[1] ~ '^''' THEN octet_length(m[1]) - 2 ELSE 4 END
                      + CASE WHEN _text ~ '^ARRAY' THEN 4 ELSE 0 END), 0)::integer
  FROM regexp_matches(_text, $r$('(?:[^']|'')*'|(?<![a-z0-9_.])[0-9.]+)$r$, 'g') m
$$;

-- Writes a condition, as Postgres deparsed it, so that it can be run: casts to numeric, and what is
-- searched for, pass through wed_bounded, and so do regular expressions, lengths and exponents. What of these is
-- written there and too large is refused.
-- It reads tokens and keeps a stack of brackets; a string of the deparser's has no escapes, and it puts each operation and each
-- operand of a cast in brackets of its own.
CREATE FUNCTION wed.guarded(_sql text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $guarded$
DECLARE
  _t text[];
  _n integer;
  _out text[];
  _opens integer[] := '{}';   -- where in _out each open bracket stands
  _names text[] := '{}';      -- the function it belongs to
  _argument integer[] := '{}';
  _wrapped boolean[] := '{}'; -- an inner bracket is to be closed with it
  _d integer := 0;
  _i integer := 0;
  _token text;
  _rest text;
  _next text;
  _number text;
  _literal text;
  _sought integer := 0;       -- bytes that are searched for, altogether
  _what text;                 -- how: as a text, a set of characters, the parts of a list
  _range text := '(int4range|int8range|numrange|daterange|tsrange|tstzrange)';
  _list text := $r$ARRAY\[(?:(?:'(?:[^']|'')*'|\(?-?[0-9.]+\)?)(?:::[a-z ]+)?(?:, |(?=\])))+\]$r$;
BEGIN
  IF _sql !~ '::(numeric|date|time|jsonpath)|[@|?#^~]|&&| - |<@|\m(strpos|btrim|ltrim|rtrim|split_part|string_to_array|array_to_string|to_char|to_date|to_number|to_timestamp|translate|replace|concat_ws|lpad|rpad|repeat|power|pow|format|jsonb_exists_a[nl][yl]|regexp_[a-z_]+)\(|"substring"\(|POSITION\(|TRIM\(' THEN
    RETURN _sql;
  END IF;
  _t := ARRAY(SELECT m[1] FROM regexp_matches(_sql,
    $r$('(?:[^']|'')*'|"(?:[^"]|"")*"|(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*|[0-9.]+|\s+|::|[-+*/<>=~!@#%^&|?]+|.)$r$,
    'g') AS m);
  _n := cardinality(_t);
  _out := _t;
  WHILE _i < _n LOOP
    _i := _i + 1;
    _token := _t[_i];
    IF _t[_i + 1] = '::' AND _t[_i + 2] = 'jsonpath' THEN
      _literal := replace(substr(_token, 2, length(_token) - 2), '''''', '''');
      PERFORM wed.check_path(_literal);
      _sought := _sought + wed.path_cost(_literal);
    ELSIF _token IN ('(', '[') THEN
      _d := _d + 1;
      _opens[_d] := _i;
      _names[_d] := CASE WHEN _token = '(' AND _i > 1 AND _t[_i - 1] ~ '^([A-Za-z_"]|[^\x01-\x7f])' THEN btrim(_t[_i - 1], '"') ELSE '' END;
      _argument[_d] := 1;
      _wrapped[_d] := false;
      IF _names[_d] = 'replace' THEN
        _out[_i - 1] := 'wed_bounded.replace';
      ELSIF _names[_d] = 'POSITION' AND _t[_i + 1] = '(' THEN
        IF _t[_i + 2] ~ '^''' THEN
          _sought := _sought + octet_length(_t[_i + 2]) - 1;
        ELSE
          _out[_i] := _out[_i] || 'wed_bounded.short';
          _sought := _sought + 128;
        END IF;
      ELSIF _names[_d] = 'format' THEN
        IF _t[_i + 1] !~ '^''' THEN
          RAISE EXCEPTION 'the format of format is text in quotes' USING ERRCODE = 'WF011',
            HINT = 'Write the format itself; compose text with || or concat.';
        END IF;
        PERFORM wed.check_format(replace(substr(_t[_i + 1], 2, length(_t[_i + 1]) - 2), '''''', ''''));
      ELSIF _names[_d] = 'concat_ws' THEN
        IF _t[_i + 1] ~ '^''' THEN
          _sought := _sought + octet_length(_t[_i + 1]) - 1;
        ELSE
          _out[_i] := _out[_i] || 'wed_bounded.short(';
          _wrapped[_d] := true;
          _sought := _sought + 128;
        END IF;
      END IF;
    ELSIF _token IN (')', ']') THEN
      IF _wrapped[_d] THEN _out[_i] := ')' || _out[_i]; END IF;
      IF _token = ')' AND _names[_d] IN ('', 'CASE') AND _t[_i + 1] = '::' AND _t[_i + 2] = 'numeric' THEN
        _out[_opens[_d]] := 'wed_bounded.number' || _out[_opens[_d]];
      ELSIF _token = ')' AND _names[_d] IN ('', 'CASE') AND _t[_i + 1] = '::' AND _t[_i + 2] IN ('date', 'timestamp', 'time') THEN
        _out[_opens[_d]] := 'wed_bounded.moment' || _out[_opens[_d]];
      END IF;
      _d := _d - 1;
    ELSIF _token = ',' AND _d > 0 THEN
      IF _wrapped[_d] THEN
        _out[_i] := ')' || _out[_i];
        _wrapped[_d] := false;
      END IF;
      _argument[_d] := _argument[_d] + 1;
      _next := _t[_i + 2]; -- behind one space
      IF _next = '(' AND _t[_i + 3] ~ '^''' AND _t[_i + 7] = 'COLLATE' THEN _next := _t[_i + 3]; END IF;
      IF _names[_d] IN ('lpad', 'rpad', 'repeat', 'power', 'pow') AND _argument[_d] = 2 THEN
        _number := wed.written_number(_t[_i + 1 : _i + 12]);
        IF abs(_number::numeric) > 1000 THEN
          RAISE EXCEPTION 'the second argument of % is too large', _names[_d] USING ERRCODE = 'WF011', HINT = 'At most 1000.';
        END IF;
        IF _number IS NULL OR _names[_d] IN ('power', 'pow') AND (abs(_number::numeric) > 16 OR strpos(_number, '.') > 0)
           OR _names[_d] = 'repeat' AND _t[_opens[_d] + 1] !~ '^''' THEN
          _out[_opens[_d] - 1] := 'wed_bounded.' || _names[_d];
        END IF;
      ELSIF _names[_d] ~ '^regexp_'
         OR _names[_d] = 'substring' AND _argument[_d] = 2 AND _next ~ '^''' AND _t[_i + 4] = 'text' THEN
        IF _argument[_d] = 2 OR _argument[_d] = (CASE _names[_d] WHEN 'regexp_replace' THEN 4 ELSE 3 END) THEN
          IF _next !~ '^''' OR _t[_i + 3] IS DISTINCT FROM '::' OR _t[_i + 5] NOT IN (',', ')') THEN
            RAISE EXCEPTION 'a regular expression and its flags are text in quotes' USING ERRCODE = 'WF011',
              HINT = 'Write it itself; for a pattern in an attribute use LIKE.';
          END IF;
          _literal := replace(substr(_next, 2, length(_next) - 2), '''''', '''');
          IF _argument[_d] = 2 THEN
            PERFORM wed.check_pattern(_literal);
            _out[_opens[_d]] := _out[_opens[_d]] || CASE WHEN _names[_d] IN ('regexp_count', 'regexp_split_to_array')
              THEN 'wed_bounded.matched_often(' ELSE 'wed_bounded.matched(' END;
            _out[_i] := ')' || _out[_i];
          ELSIF _literal !~ (CASE _names[_d] WHEN 'regexp_replace' THEN '^[icnmspwg]*$' ELSE '^[icnmspw]*$' END) THEN
            RAISE EXCEPTION 'the flags % are not allowed here', quote_literal(left(_literal, 20)) USING ERRCODE = 'WF011',
              HINT = 'Allowed are i, c, n, s, m, p, w; of regexp_replace also g.';
          ELSIF strpos(_literal, 'g') > 0 THEN
            _out[_opens[_d]] := replace(_out[_opens[_d]], 'wed_bounded.matched(', 'wed_bounded.matched_often(');
          END IF;
        ELSE
          IF _names[_d] = 'regexp_replace' AND _argument[_d] = 3 THEN
            _sought := _sought + CASE WHEN _next ~ '^''' THEN octet_length(_next) - 1 ELSE 128 END;
          END IF;
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.short(';
            _wrapped[_d] := true;
          END IF;
        END IF;
      ELSE
        _what := CASE WHEN _argument[_d] = 2 AND _names[_d] IN ('btrim', 'ltrim', 'rtrim', 'translate') THEN 'set'
          WHEN _argument[_d] = 2 AND _names[_d] IN ('strpos', 'split_part', 'string_to_array', 'array_to_string', 'to_char',
                 'to_date', 'to_number', 'to_timestamp', 'replace')
            OR _argument[_d] = 3 AND _names[_d] IN ('translate', 'string_to_array', 'array_to_string', 'replace', 'lpad', 'rpad')
            THEN 'text'
          WHEN _argument[_d] = 2 AND _names[_d] IN ('jsonb_exists_any', 'jsonb_exists_all') THEN 'parts' END;
        IF _what = 'set' THEN
          _sought := _sought + wed.written_set(_next);
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.few(';
            _wrapped[_d] := true;
          END IF;
        ELSIF _what = 'parts' THEN
          _rest := substring(array_to_string(_t[_i + 2 :], '') FROM ('^' || _list));
          _sought := _sought + CASE WHEN _next ~ '^''' THEN octet_length(_next) - 2
            WHEN _rest IS NOT NULL THEN wed.written_list(_rest) WHEN _next = 'ARRAY' THEN 128 ELSE 256 END;
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.short(';
            _wrapped[_d] := true;
          END IF;
        ELSIF _what = 'text' THEN
          _sought := _sought + CASE WHEN _next ~ '^''' THEN octet_length(_next) - 1 WHEN _next = 'NULL' THEN 1 ELSE 128 END;
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.short(';
            _wrapped[_d] := true;
          END IF;
        END IF;
      END IF;
    ELSIF _d > 0 AND _names[_d] = 'TRIM' AND _token IN ('BOTH', 'LEADING', 'TRAILING') THEN
      IF _t[_i + 2] <> 'FROM' THEN
        _sought := _sought + wed.written_set(_t[_i + 2]);
        IF _t[_i + 2] !~ '^''' THEN
          _out[_i] := _out[_i] || ' wed_bounded.few(';
          _wrapped[_d] := true;
        END IF;
      END IF;
    ELSIF _d > 0 AND _names[_d] = 'TRIM' AND _token = 'FROM' AND _wrapped[_d] THEN
      _out[_i] := ') FROM';
      _wrapped[_d] := false;
    ELSIF _d > 0 AND _token IN ('~', '!~', '~*', '!~*') AND _t[_i - 1] ~ '^\s' THEN
      _rest := array_to_string(_t[_i + 1 : _i + 7], '');
      _literal := substring(_rest FROM $r$^ (?:similar_to_escape\()?'((?:[^']|'')*)'::text\)$r$);
      IF _literal IS NULL THEN
        RAISE EXCEPTION 'a regular expression is text in quotes' USING ERRCODE = 'WF011',
          HINT = 'Write it itself; for a pattern in an attribute use LIKE.';
      END IF;
      PERFORM wed.check_pattern(replace(_literal, '''''', ''''), _rest ~ '^ similar_to_escape');
      _out[_opens[_d]] := _out[_opens[_d]] || 'wed_bounded.matched(';
      _out[_i] := ') ' || _token;
    ELSIF _token IN ('~~', '!~~', '~~*', '!~~*') AND _t[_i + 2] IN ('ANY', 'ALL') THEN
      IF array_to_string(_t[_i + 3 :], '') !~ $r$^ \((?:ARRAY\['(?:[^']|'')*'::text(?:, '(?:[^']|'')*'::text)*\]|'(?:[^'\\]|'')*'::text\[\])\)$r$ THEN
        RAISE EXCEPTION 'the patterns of LIKE ANY are written there, as text in quotes' USING ERRCODE = 'WF011',
          HINT = 'Write LIKE ANY (ARRAY[...]), or several LIKE joined by OR.';
      END IF;
      _rest := substring(array_to_string(_t[_i + 3 :], '') FROM $r$^ \((ARRAY\['(?:[^']|'')*'::text(?:, '(?:[^']|'')*'::text)*\]|'(?:[^'\\]|'')*')$r$);
      _sought := _sought + (SELECT sum(octet_length(m[1]) - 2 + CASE WHEN _token ~ '\*' THEN 8 ELSE 1 END
                                       * (1 + CASE WHEN _rest ~ '^''' THEN length(_rest) - length(replace(_rest, ',', '')) ELSE 0 END))
                            FROM regexp_matches(_rest, $r$('(?:[^']|'')*')$r$, 'g') m);
    ELSIF _d > 0 AND _token IN ('@>', '<@', '&&', '?|', '?&', '~~', '!~~', '~~*', '!~~*', '-') AND _t[_i + 1] = ' ' THEN
      _next := _t[_i + 2];
      IF _next = '(' AND _t[_i + 3] ~ '^''' AND _t[_i + 7] = 'COLLATE' THEN _next := _t[_i + 3]; END IF;
      _rest := array_to_string(_t[_opens[_d] + 1 : _i - 1], '');
      IF _token !~ '[-~]' AND (_rest ~ $r$^'(?:[^']|'')*'::[a-z ]+(?:\[\])? $$r$ OR _rest ~ ('^' || _list || ' $')) THEN
        -- What is searched for stands on the left, and is written there.
        _sought := _sought + wed.written_list(_rest);
      ELSIF _token IN ('@>', '<@', '&&') AND (_rest ~ ('^' || _range || '\(') OR _next ~ ('^' || _range || '$') AND _t[_i + 3] = '(') THEN
        -- A range takes no longer than its bounds. By the call, not the name alone: an attribute may be called so.
        NULL;
      ELSE
        IF _token IN ('@>', '<@', '&&') AND _rest !~ '^("[^"]*"|[^[:space:]("]+) $' THEN
          _out[_opens[_d]] := _out[_opens[_d]] || 'wed_bounded.list(';
          _out[_i] := ') ' || _token;
        END IF;
        IF _next !~ '^(''|[0-9])' THEN
          _out[_i] := _out[_i] || ' wed_bounded.short(';
          _wrapped[_d] := true;
        END IF;
        IF _next = 'ARRAY' THEN
          _rest := substring(array_to_string(_t[_i + 2 :], '') FROM ('^' || _list));
        END IF;
        _sought := _sought + CASE
          WHEN _next ~ '^''' THEN octet_length(_next) - 2 + CASE WHEN _token IN ('~~', '!~~') THEN 1 WHEN _token ~ '~~\*' THEN 8 ELSE 0 END
          WHEN _next = 'ARRAY' AND _rest IS NOT NULL THEN wed.written_list(_rest)
          WHEN _token = '-' THEN 0
          WHEN _token ~ '~~' OR _next IN ('ARRAY', 'jsonb_build_object', 'jsonb_build_array') THEN 128 ELSE 256 END;
      END IF;
    ELSIF _token = '^' THEN
      _number := wed.written_number(_t[_i + 1 : _i + 12]);
      IF abs(_number::numeric) > 1000 THEN
        RAISE EXCEPTION 'a power''s exponent is too large' USING ERRCODE = 'WF011', HINT = 'At most 1000.';
      END IF;
      IF _number IS NULL OR abs(_number::numeric) > 16 OR strpos(_number, '.') > 0 THEN
        _out[_opens[_d]] := _out[_opens[_d]] || 'wed_bounded.power(';
        _out[_i] := ',';
        _wrapped[_d] := true;
      END IF;
    END IF;
  END LOOP;
  IF _sought > 1024 THEN
    RAISE EXCEPTION 'the predicate searches for more than 1024 bytes' USING ERRCODE = 'WF011',
      HINT = 'Use fewer or shorter patterns of LIKE; compare whole values with IN (...). What is no constant counts 128, an array or document 256.';
  END IF;
  RETURN array_to_string(_out, '');
END $guarded$;

REVOKE ALL ON FUNCTION wed.bound_rows, wed.bound_attribute, wed.guarded, wed.written_number, wed.written_set, wed.written_list FROM PUBLIC;
-- Every writer's session asks (0003).
GRANT EXECUTE ON FUNCTION wed.is_by_hand TO PUBLIC;

-- Makes a version of a component the one in use, for what is fired from now on and for jobs that nobody
-- has in hand. Without a version: the one before the present. Returns it; null when there is none.
CREATE FUNCTION wed.activate_component(_tenant_id integer, _name text, _version integer) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM wed.tenant WHERE tenant_id = _tenant_id FOR NO KEY UPDATE;
  IF _version IS NULL THEN
    SELECT max(c.version) INTO _version FROM wed.component c
    WHERE c.tenant_id = _tenant_id AND c.name = _name AND c.version < (
      SELECT a.version FROM wed.component a WHERE a.tenant_id = _tenant_id AND a.name = _name
      ORDER BY a.activated_at DESC, a.version DESC LIMIT 1);
  END IF;
  UPDATE wed.component SET activated_at = clock_timestamp()
  WHERE tenant_id = _tenant_id AND name = _name AND version = _version;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM wed.resolve_bindings(flow_id) FROM (
    SELECT DISTINCT b.flow_id FROM wed.binding b JOIN wed.flow f USING (flow_id)
    WHERE f.tenant_id = _tenant_id AND b.component_name = _name ORDER BY b.flow_id) x;
  RETURN _version;
END $$;

-- Removes the versions of a tenant's components that nothing uses, but for the newest _keep of each name
-- and the active one.
CREATE FUNCTION wed.collect_components(_tenant_id integer, _keep integer) RETURNS TABLE (name text, version integer)
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM wed.component c USING (
    SELECT component_id, row_number() OVER (PARTITION BY k.name ORDER BY k.version DESC) AS back,
           row_number() OVER (PARTITION BY k.name ORDER BY k.activated_at DESC, k.version DESC) AS used
    FROM wed.component k WHERE k.tenant_id = _tenant_id) r
  WHERE r.component_id = c.component_id AND r.back > _keep AND r.used > 1
    AND NOT EXISTS (SELECT FROM wed.trigger t WHERE t.component_id = c.component_id)
    AND NOT EXISTS (SELECT FROM wed.job j WHERE j.component_id = c.component_id)
  RETURNING c.name, c.version
$$;
REVOKE ALL ON FUNCTION wed.activate_component, wed.collect_components FROM PUBLIC;

-- A flow's own role may lock its tables. Hosts wait for such locks for a moment only, so that other flows'
-- work goes on, and put the locked flow's jobs off.
ALTER FUNCTION wed.write_states SET lock_timeout = '1s';
-- A flow's UPDATE finds its instances in their order, for every two batches the same, and hands them on so (0003).
ALTER FUNCTION wed.write_states SET enable_bitmapscan = off;
ALTER FUNCTION wed.write_states SET enable_seqscan = off;
ALTER FUNCTION wed.fail_batch SET lock_timeout = '1s';
ALTER FUNCTION wed.skip_if_stale SET lock_timeout = '100ms';

CREATE FUNCTION wed.put_off(_host_id integer, _tokens bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1, due = now() + interval '15 s',
    waits_for = 'a lock on the table of its flow'
  WHERE host_id = _host_id AND token = ANY (_tokens);
END $$;
REVOKE ALL ON FUNCTION wed.put_off FROM PUBLIC;

-- In a database of our own, what Postgres lets everybody do by default and no flow needs is taken from
-- PUBLIC: locks by number, which are other flows' too; large objects, which belong to no flow and have no
-- bound; messages into the write-ahead log; the source of functions, which conditions are compiled into.
-- It needs a superuser, as the catalog is one's. What is left is told in SECURITY.md.
DO $contain$
DECLARE
  _function regprocedure;
BEGIN
  IF EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname !~ '^_sqlx_')
     OR EXISTS (SELECT FROM pg_namespace WHERE nspname NOT IN ('public', 'information_schema') AND nspname !~ '^(pg_|wed)') THEN
    RETURN;
  END IF;
  FOR _function IN
    SELECT oid::regprocedure FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace AND (
      proname ~ '^pg_(try_)?advisory_' OR proname ~ '^lo_|^lowrite$|^loread$'
      OR proname IN ('pg_logical_emit_message', 'pg_get_functiondef', 'pg_get_function_sqlbody'))
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', _function);
  END LOOP;
  -- All columns but those that hold a function's body.
  EXECUTE 'REVOKE SELECT ON pg_proc FROM PUBLIC';
  EXECUTE format('GRANT SELECT (%s) ON pg_proc TO PUBLIC', (
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = 'pg_proc'::regclass AND NOT attisdropped AND attname NOT IN ('prosrc', 'prosqlbody', 'probin')
      AND (attnum > 0 OR attname IN ('tableoid'))));
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'a superuser could take more from PUBLIC in this database; see SECURITY.md';
END $contain$;
