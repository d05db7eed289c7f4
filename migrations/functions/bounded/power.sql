-- A power of decimals, where it has few digits; of double precision it is never large.
CREATE OR REPLACE FUNCTION wed_bounded.power(_base numeric, _exponent numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _base NOT IN (0, 'NaN', 'Infinity', '-Infinity') AND _exponent NOT IN ('NaN', 'Infinity', '-Infinity')
     AND (abs(_exponent) > 1e6 OR abs(_exponent * log(abs(_base))) > 1000 OR scale(_exponent) > 100) THEN
    RAISE EXCEPTION 'a power has too many digits' USING ERRCODE = 'WF031',
      HINT = 'At most 1000 digits; cast to double precision for more.';
  END IF;
  RETURN power(_base, _exponent);
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.power(_base double precision, _exponent double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT power($1, $2) $$;
