-- Whether a number has few digits before and behind the point; NaN and the infinities have none.
CREATE OR REPLACE FUNCTION wed_bounded.few_digits(_number numeric) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(abs($1) < 1e100 AND scale($1) <= 100, true) OR $1 IN ('NaN', 'Infinity', '-Infinity')
$$;

CREATE OR REPLACE FUNCTION wed_bounded.few_digits(_list numeric[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT bool_and(wed_bounded.few_digits(n)) FROM unnest($1) n), true)
$$;

-- And whether all numbers of a document have, and it is not much longer as text: 1e131000 takes ten bytes of it, and
-- 131 kB where it is written out; 0e-16383 likewise.
CREATE OR REPLACE FUNCTION wed_bounded.few_digits(_document jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 @? '$.** ? (@ > 1e1000 || @ < -1e1000 || (@ < 1e-1000 && @ > -1e-1000 && @ != 0))' THEN false
    WHEN pg_column_size($1) <= 2048 THEN true
    WHEN (SELECT sum(scale(n::numeric)) FROM jsonb_path_query($1, 'strict $.** ? (@.type() == "number")') n) > 2097152
      THEN false
    ELSE coalesce(octet_length($1::text) <= 2097152, true) END
$$;

CREATE OR REPLACE FUNCTION wed_bounded.few_digits(_list jsonb[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT bool_and(wed_bounded.few_digits(d)) FROM unnest($1) d), true)
$$;

-- Whether a document is nested at most 100 levels deep, as each of less than 800 bytes is.
CREATE OR REPLACE FUNCTION wed_bounded.is_shallow(_document jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(NOT $1 @? 'strict $.**{100} ? (@.type() == "array" || @.type() == "object")', true)
$$;

CREATE OR REPLACE FUNCTION wed_bounded.is_shallow(_list jsonb[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT bool_and(wed_bounded.is_shallow(d)) FROM unnest($1) d), true)
$$;
