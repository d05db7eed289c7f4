CREATE OR REPLACE FUNCTION wed_bounded.few_digits(_number numeric) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(abs($1) < 1e100 AND scale($1) <= 100, true) OR $1 IN ('NaN', 'Infinity', '-Infinity')
$$;

CREATE OR REPLACE FUNCTION wed_bounded.few_digits(_list numeric[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT bool_and(wed_bounded.few_digits(n)) FROM unnest($1) n), true)
$$;
