CREATE OR REPLACE FUNCTION wed_bounded.pow(_base numeric, _exponent numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT wed_bounded.power($1, $2) $$;

CREATE OR REPLACE FUNCTION wed_bounded.pow(_base double precision, _exponent double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT power($1, $2) $$;
