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
DECLARE
  _one text;
BEGIN
  FOREACH _one IN ARRAY _list LOOP
    PERFORM wed_bounded.moment(_one);
  END LOOP;
  RETURN _list;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.moment(_value anyelement) RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
