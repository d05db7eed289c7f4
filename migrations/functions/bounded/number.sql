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
DECLARE
  _one text;
BEGIN
  FOREACH _one IN ARRAY _list LOOP
    PERFORM wed_bounded.number(_one);
  END LOOP;
  RETURN _list;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.number(_list jsonb[]) RETURNS jsonb[]
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
CREATE OR REPLACE FUNCTION wed_bounded.number(_value anyelement) RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
