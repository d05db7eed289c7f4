-- Bounded functions and operators: what conditions and clauses run instead of Postgres's own where a value's size
-- decides how long it takes (decision 0025).

-- As Postgres's own, where what it puts in stays below 4 MiB.
CREATE OR REPLACE FUNCTION wed_bounded.array_to_string(anyarray, text, text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$
  SELECT wed_bounded.joined($1, wed_bounded.short($2), wed_bounded.short($3))
$$;

CREATE OR REPLACE FUNCTION wed_bounded.array_to_string(anyarray, text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$ SELECT wed_bounded.joined($1, wed_bounded.short($2), NULL) $$;

CREATE OR REPLACE FUNCTION wed_bounded.joined(_list anyarray, _between text, _for_null text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.look(cardinality(_list)::bigint * greatest(octet_length(_between), octet_length(_for_null)),
    4194304, 'bytes');
  RETURN array_to_string(_list, _between, _for_null);
END $$;

-- Checks a number that is multiplied, divided or raised: 1000 digits. Postgres keeps four digits in two bytes.
CREATE OR REPLACE FUNCTION wed_bounded.digits(_number numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  IF pg_catalog.pg_column_size(_number) > 500 THEN
    RAISE EXCEPTION 'a number that is computed with has too many digits' USING ERRCODE = 'WF031',
      HINT = 'At most 1000; round(value, digits) cuts, double precision has 15.';
  END IF;
  RETURN _number;
END $$;

-- Text that is about to be read as a document: its numbers have few digits, written out. (What stands in quotes is no
-- number.)
CREATE OR REPLACE FUNCTION wed_bounded.document(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.look(0, 1, '');
  IF _text ~ '[0-9.][eE][-+]?0*[1-9][0-9]{3}' AND
     regexp_replace(_text, '"(?:[^"\\]|\\.)*"', '', 'g') ~ '[0-9.][eE][-+]?0*[1-9][0-9]{3}' THEN
    RAISE EXCEPTION 'a number of a document has too many digits' USING ERRCODE = 'WF031',
      HINT = 'At most 1000 digits before the point and behind it; write larger ones as text.';
  END IF;
  RETURN _text;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.document(_list text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.document(one) FROM unnest(_list) one;
  RETURN _list;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.document(_value anyelement) RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;

-- Checks a set of characters, each of which is compared with each character of a text: 64 of them.
CREATE OR REPLACE FUNCTION wed_bounded.few(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.length(_text), 64, 'characters');
  RETURN _text;
END $$;

-- Returns whether a number has few digits before and behind the point; NaN and the infinities have none.
CREATE OR REPLACE FUNCTION wed_bounded.few_digits(_number numeric) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(abs($1) < 1e100 AND scale($1) <= 100, true) OR $1 IN ('NaN', 'Infinity', '-Infinity')
$$;

CREATE OR REPLACE FUNCTION wed_bounded.few_digits(_list numeric[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT bool_and(wed_bounded.few_digits(n)) FROM unnest($1) n), true)
$$;

-- And whether all numbers of a document have, and it is not much longer as text: 1e131000 takes ten bytes of it, and
-- 131 kB where it is written out; 0e-16383 likewise.
CREATE OR REPLACE FUNCTION wed_bounded.few_digits(_document jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 @? '$.** ? (@ > 1e1000 || @ < -1e1000 || (@ < 1e-1000 && @ > -1e-1000 && @ != 0))' THEN false
    WHEN pg_column_size($1) <= 2048 THEN true
    WHEN (SELECT sum(scale(n::numeric)) FROM jsonb_path_query($1, 'strict $.** ? (@.type() == "number")') n) > 2097152
      THEN false
    ELSE coalesce(octet_length($1::text) <= 2097152, true) END
$$;

CREATE OR REPLACE FUNCTION wed_bounded.few_digits(_list jsonb[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT bool_and(wed_bounded.few_digits(d)) FROM unnest($1) d), true)
$$;

-- Returns whether a document is nested at most 100 levels deep, as each of less than 800 bytes is.
CREATE OR REPLACE FUNCTION wed_bounded.is_shallow(_document jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(NOT $1 @? 'strict $.**{100} ? (@.type() == "array" || @.type() == "object")', true)
$$;

CREATE OR REPLACE FUNCTION wed_bounded.is_shallow(_list jsonb[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT bool_and(wed_bounded.is_shallow(d)) FROM unnest($1) d), true)
$$;

-- Returns a condition's answer; raises when the time for a state's conditions is up.
CREATE OR REPLACE FUNCTION wed_bounded.in_time(_holds boolean) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.look(0, 1, '');
  RETURN _holds;
END $$;

-- Returns the keys that an expression names, as a document of key and quantity; a quantity of null is exclusive. The
-- keys are one value, an array, or a document of quantities; _quantity, where it is declared, a number for each, or one
-- for all. A number is the same key however many zeros it ends with; a declared quantity without a value is refused.
CREATE OR REPLACE FUNCTION wed_bounded.keys(_keys jsonb, _counted boolean, _quantity jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _name text := _keys #>> '{}';
  _found jsonb;
  _bad text;
BEGIN
  IF _name IS NULL THEN RETURN '{}'; END IF;
  -- Most are one text.
  IF NOT _counted AND jsonb_typeof(_keys) = 'string' AND octet_length(_name) BETWEEN 1 AND 256
     AND left(_name, 1) NOT IN ('{', '[') THEN
    RETURN jsonb_build_object(_name, NULL);
  END IF;
  IF (jsonb_typeof(_keys) = 'array' AND jsonb_array_length(_keys) > 64) OR pg_column_size(_keys) > 32768 THEN
    RAISE EXCEPTION 'a reservation names more than 64 keys' USING ERRCODE = 'WF060',
        HINT = 'Reserve fewer, or one key for all.';
  END IF;
  WITH k AS (
    SELECT key, value AS amount FROM jsonb_each(CASE jsonb_typeof(_keys) WHEN 'object' THEN _keys ELSE '{}' END)
    UNION ALL
    SELECT wed_bounded.key_name(e), CASE WHEN NOT _counted THEN NULL ELSE coalesce(nullif(
        CASE jsonb_typeof(_quantity) WHEN 'array' THEN _quantity -> (at - 1)::integer ELSE _quantity END, 'null'),
        '"none"') END
    FROM jsonb_array_elements(CASE jsonb_typeof(_keys) WHEN 'array' THEN _keys WHEN 'object' THEN '[]'
        ELSE jsonb_build_array(_keys) END)
      WITH ORDINALITY u(e, at) WHERE e <> 'null'
  ), c AS (
    SELECT key, amount, octet_length(key) NOT BETWEEN 1 AND 256 OR left(key, 1) IN ('{', '[')
      OR amount IS NOT NULL AND jsonb_typeof(amount) NOT IN ('number', 'null')
          OR coalesce(length(amount::text), 0) > 40 AS bad FROM k
  ), n AS (
    SELECT key, bad, CASE WHEN NOT bad AND jsonb_typeof(amount) = 'number' THEN amount::numeric END AS amount FROM c)
  SELECT jsonb_object_agg(key, amount) FILTER (WHERE NOT bad AND amount IS DISTINCT
      FROM 0), min(left(key, 80)) FILTER (WHERE bad OR amount < 0)
  INTO _found, _bad
  FROM (SELECT key, bool_or(bad) AS bad, CASE WHEN bool_or(amount IS NULL) THEN NULL ELSE sum(amount) END AS amount
      FROM n GROUP BY key) g;
  IF _bad IS NOT NULL THEN
    RAISE EXCEPTION 'the key "%" cannot be reserved, or not by this quantity', left(_bad, 80) USING ERRCODE = 'WF060',
      HINT = 'A key is a text or number of 1 to 256 bytes; a quantity is a number that is not negative.';
  ELSIF (SELECT count(*) FROM jsonb_object_keys(coalesce(_found, '{}'))) > 64 THEN
    RAISE EXCEPTION 'a reservation names more than 64 keys' USING ERRCODE = 'WF060',
        HINT = 'Reserve fewer, or one key for all.';
  END IF;
  RETURN coalesce(_found, '{}');
END $$;

-- Returns the name of a key: a text as it is, a number without trailing zeros.
CREATE OR REPLACE FUNCTION wed_bounded.key_name(_key jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE jsonb_typeof(_key) WHEN 'number' THEN trim_scale(_key::numeric)::text ELSE _key #>> '{}' END
$$;

-- Returns an operand that Postgres does not know when it plans, so that it does not work out, and keep, what a function
-- makes of constants.
CREATE OR REPLACE FUNCTION wed_bounded.later(_value anyelement) RETURNS anyelement
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
BEGIN
  RETURN _value;
END $$;

-- Checks an operand where it is used: refuses one that is longer than _most, and any when the time for a
-- state's conditions is up (wed.begun is set by the function that evaluates them). Being a statement, it is also
-- where a cancelled or timed-out query ends.
CREATE OR REPLACE FUNCTION wed_bounded.look(_bytes bigint, _most bigint, _of text) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _bytes > _most THEN
    RAISE EXCEPTION 'a value that is computed with has % %', _bytes, _of USING ERRCODE = 'WF032',
      HINT = format('At most %s here. Compare whole values with =, or take a part: left(text, 64).', _most);
  ELSIF extract(epoch FROM clock_timestamp()) - nullif(current_setting('wed.begun', true), '')::numeric > 1 THEN
    RAISE EXCEPTION 'evaluating the conditions took more than 1 s' USING ERRCODE = 'WF034',
      HINT = 'Search shorter texts and documents, or let a transition compute what the conditions need.';
  END IF;
END $$;

-- Checks a text that a regular expression is matched with: 8 KiB. wed_bounded.often: where all matches are found.
CREATE OR REPLACE FUNCTION wed_bounded.matched(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.octet_length(_text), 8192, 'bytes');
  RETURN _text;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.often(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.octet_length(_text), 1024, 'bytes');
  RETURN _text;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.measure_row(_wid integer, _row text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_row) > 262144 THEN
    PERFORM wed_bounded.refuse_row(_wid, octet_length(_row));
  END IF;
  RETURN true;
END $$;

-- Text that is about to be read as a date or time: with no zone of one's own making in it. Postgres keeps
-- each zone that it has ever been asked for.
CREATE OR REPLACE FUNCTION wed_bounded.moment(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text) > 100 OR _text ~ '[A-Za-z][A-Za-z/_.:]{2,}[-+]?[0-9]' THEN
    RAISE EXCEPTION '% is not taken for a point in time', quote_literal(left(_text, 40)) USING ERRCODE = 'WF032',
      HINT = 'Write it as 2024-01-31 12:00:00+01, or with the name of a zone: 2024-01-31 12:00 Europe/Berlin.';
  END IF;
  RETURN _text;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.moment(_list text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.moment(one) FROM unnest(_list) one;
  RETURN _list;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.moment(_value anyelement) RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;

-- Text that is about to be cast to a number: at most 100 digits, before and behind the point.
CREATE OR REPLACE FUNCTION wed_bounded.number(_text text) RETURNS text
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

CREATE OR REPLACE FUNCTION wed_bounded.number(_value jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF jsonb_typeof(_value) = 'number' THEN
    PERFORM wed_bounded.number(_value #>> '{}');
  END IF;
  RETURN _value;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.number(_list text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.number(one) FROM unnest(_list) one;
  RETURN _list;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.number(_list jsonb[]) RETURNS jsonb[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.number(one) FROM unnest(_list) one;
  RETURN _list;
END $$;

-- All other types have few digits, or come from columns that are held to them.
CREATE OR REPLACE FUNCTION wed_bounded.number(_value anyelement) RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;

-- Arrays that are held against each other, element by element, and documents.
CREATE OR REPLACE FUNCTION wed_bounded.pair(_one anyarray, _other anyarray) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.cardinality(_one)::bigint * pg_catalog.cardinality(_other), 16777216,
    'pairs of elements');
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.pair(_one jsonb, _other jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.pg_column_size(_one)::bigint * pg_catalog.pg_column_size(_other), 268435456,
    'pairs of bytes');
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.pow(_base numeric, _exponent numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED AS $$ SELECT wed_bounded.power($1, $2) $$;

-- Returns a power of decimals; raises when it has many digits.
CREATE OR REPLACE FUNCTION wed_bounded.power(_base numeric, _exponent numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _base NOT IN (0, 'NaN', 'Infinity', '-Infinity') AND _exponent NOT IN ('NaN', 'Infinity', '-Infinity')
     AND (abs(_exponent) > 1e6 OR abs(_exponent * log(abs(wed_bounded.digits(_base)))) > 1000
       OR scale(_exponent) > 100) THEN
    RAISE EXCEPTION 'a power has too many digits' USING ERRCODE = 'WF031',
      HINT = 'At most 1000 digits; cast to double precision for more.';
  END IF;
  RETURN power(_base, _exponent);
END $$;

-- Checks the time before a value of any length is read through.
CREATE OR REPLACE FUNCTION wed_bounded.read(_value anyelement) RETURNS anyelement
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  IF pg_catalog.pg_column_size(_value) > 4096 THEN PERFORM wed_bounded.look(0, 1, ''); END IF;
  RETURN _value;
END $$;

-- Raises in the place of a stored condition that the rules allow no more.
CREATE OR REPLACE FUNCTION wed_bounded.refuse_condition(_why text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RAISE EXCEPTION 'the condition is not allowed any more: %', _why USING ERRCODE = 'WF011',
    HINT = 'Write it anew in wed_trig.';
END $$;

-- Refuses a number of an attribute with too many digits; NaN and the infinities have none.
CREATE OR REPLACE FUNCTION wed_bounded.refuse_digits(_attribute text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the value of attribute "%" has too many digits', _attribute USING ERRCODE = 'WF031',
    HINT =
      'At most 100 digits before the point and 100 behind it, of numbers in documents 1000; round(value, digits) cuts.';
END $$;

-- Refuses a document of an attribute that is nested deeper than its readers allow.
CREATE OR REPLACE FUNCTION wed_bounded.refuse_depth(_attribute text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the document in attribute "%" is nested too deeply', _attribute USING ERRCODE = 'WF035',
    HINT = 'At most 100 levels of arrays and objects. Flatten it, or keep its text.';
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.refuse_elements(_attribute text, _elements integer) RETURNS boolean
LANGUAGE plpgsql STRICT AS $$
BEGIN
  RAISE EXCEPTION 'the value of attribute "%" has % elements', _attribute, _elements USING ERRCODE = 'WF033',
    HINT = 'At most 4096. Keep long lists elsewhere, and their place in the state.';
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.refuse_row(_wid integer, _bytes integer) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the state of instance % takes % bytes', _wid, _bytes USING ERRCODE = 'WF033',
    HINT =
      'At most 262144 (256 KiB) for all attributes together. Keep large things elsewhere, and their place in the '
      'state.';
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.refuse_row(_row record) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RETURN wed_bounded.refuse_row(_row.wid, pg_catalog.pg_column_size(_row));
END $$;

-- As Postgres's own, with a result of at most 64 KiB; an empty text is not repeated, for Postgres would loop over it.
-- Stable, so that no result over constants is folded into the plans of every session.
CREATE OR REPLACE FUNCTION wed_bounded.repeat(text, integer) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$ SELECT wed_bounded.repeated($1, wed_bounded.small($2)) $$;

CREATE OR REPLACE FUNCTION wed_bounded.repeated(_text text, _times integer) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.look(octet_length(_text)::bigint * _times, 65536, 'bytes');
  RETURN CASE WHEN _text = '' THEN '' ELSE repeat(_text, _times) END;
END $$;

-- As Postgres's own, with a result of at most 4 MiB. Stable, so that no result over constants is folded into the plans
-- of every session.
CREATE OR REPLACE FUNCTION wed_bounded.replace(text, text, text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$ SELECT wed_bounded.replaced($1, wed_bounded.short($2),
  wed_bounded.short($3)) $$;

CREATE OR REPLACE FUNCTION wed_bounded.replaced(_text text, _from text, _to text) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.look(octet_length(_text)::bigint / greatest(octet_length(_from), 1) * octet_length(_to),
    4194304, 'bytes');
  RETURN replace(_text, _from, _to);
END $$;

-- Checks a text, or an array, that others are searched for: searching takes the product of both lengths.
CREATE OR REPLACE FUNCTION wed_bounded.short(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  IF pg_catalog.octet_length(_text) > 256 THEN PERFORM wed_bounded.look(pg_catalog.octet_length(_text), 256,
    'bytes'); END IF;
  RETURN _text;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.short(_list anyarray) RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.cardinality(_list), 256, 'elements');
  RETURN _list;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.short(_value anynonarray) RETURNS anynonarray
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.pg_column_size(_value), 2048, 'bytes');
  RETURN _value;
END $$;

-- Checks a length to which a text is padded: 1000 characters.
CREATE OR REPLACE FUNCTION wed_bounded.small(_length integer) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(_length, 1000, 'characters');
  RETURN _length;
END $$;

-- Makes an operator of the schema wed_bounded, of a function that is there, unless it has been made.
CREATE OR REPLACE FUNCTION wed.bounded_operator(_sign text, _left regtype, _right regtype, _function text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_operator WHERE oprnamespace = 'wed_bounded'::regnamespace AND oprname = _sign
                   AND oprleft = _left AND oprright = _right) THEN
    EXECUTE format('CREATE OPERATOR wed_bounded.%s (FUNCTION = %s, LEFTARG = %s, RIGHTARG = %s)', _sign, _function,
      _left, _right);
  END IF;
END $$;
