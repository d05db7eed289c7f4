-- An operand that Postgres does not know when it plans, so that it does not work out, and keep, what a function makes of
-- constants.
CREATE OR REPLACE FUNCTION wed_bounded.later(_value anyelement) RETURNS anyelement
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
BEGIN
  RETURN _value;
END $$;
