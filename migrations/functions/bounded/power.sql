-- A power of decimals, where it has few digits.
CREATE OR REPLACE FUNCTION wed_bounded.power(_base numeric, _exponent numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _base NOT IN (0, 'NaN', 'Infinity', '-Infinity') AND _exponent NOT IN ('NaN', 'Infinity', '-Infinity')
     AND (abs(_exponent) > 1e6 OR abs(_exponent * log(abs(wed_bounded.digits(_base)))) > 1000
       OR scale(_exponent) > 100) THEN
    RAISE EXCEPTION 'a power has too many digits' USING ERRCODE = 'WF031',
      HINT = 'At most 1000 digits; cast to double precision for more.';
  END IF;
  RETURN power(_base, _exponent);
END $$;
