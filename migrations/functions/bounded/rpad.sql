CREATE OR REPLACE FUNCTION wed_bounded.rpad(_text text, _length integer, _by text DEFAULT ' ') RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _length > 1000 THEN
    PERFORM wed_bounded.refuse_length(format('a text is to be %s characters long', _length), 1000);
  END IF;
  RETURN rpad(_text, _length, _by);
END $$;
