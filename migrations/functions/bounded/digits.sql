-- A number that is multiplied, divided or raised: Postgres keeps four digits in two bytes.
CREATE OR REPLACE FUNCTION wed_bounded.digits(_number numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  IF pg_catalog.pg_column_size(_number) > 500 THEN
    RAISE EXCEPTION 'a number that is computed with has too many digits' USING ERRCODE = 'WF031',
      HINT = 'At most 1000; round(value, digits) cuts, double precision has 15.';
  END IF;
  RETURN _number;
END $$;
