CREATE OR REPLACE FUNCTION wed_bounded.pow(_base numeric, _exponent numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED AS $$ SELECT wed_bounded.power($1, $2) $$;
