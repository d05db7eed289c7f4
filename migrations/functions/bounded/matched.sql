-- A text that a regular expression is held against; often, where all matches are looked for.
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
