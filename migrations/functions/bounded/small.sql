-- A length that a text is made to.
CREATE OR REPLACE FUNCTION wed_bounded.small(_length integer) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(_length, 1000, 'characters');
  RETURN _length;
END $$;
