-- A value of any length that is looked through.
CREATE OR REPLACE FUNCTION wed_bounded.read(_value anyelement) RETURNS anyelement
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  IF pg_catalog.pg_column_size(_value) > 4096 THEN PERFORM wed_bounded.look(0, 1, ''); END IF;
  RETURN _value;
END $$;
