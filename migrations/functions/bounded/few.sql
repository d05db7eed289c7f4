-- A set of characters, of which each is looked for at each character of a text.
CREATE OR REPLACE FUNCTION wed_bounded.few(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.length(_text), 64, 'characters');
  RETURN _text;
END $$;
