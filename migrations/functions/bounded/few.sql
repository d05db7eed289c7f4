-- A set of characters, of which each is looked for at each character of a text.
CREATE OR REPLACE FUNCTION wed_bounded.few(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text) > 256 OR length(_text) > 64 THEN
    PERFORM wed_bounded.refuse_long('more than 64 characters', 64);
  END IF;
  RETURN _text;
END $$;
