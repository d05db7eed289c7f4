-- Refuses a span of time that is longer than 100 years in any of its parts: months, days and time. By the parts, since
-- '71000000 months -2130000000 days' compares as nothing and adds six million years.
CREATE OR REPLACE FUNCTION wed.check_span(_code text, _name text, _span interval) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF extract(year FROM _span) NOT BETWEEN -100 AND 100 OR extract(day FROM _span) NOT BETWEEN -36525 AND 36525
    OR extract(hour FROM _span) NOT BETWEEN -876600 AND 876600 THEN
    RAISE EXCEPTION '% is %, and is at most 100 years', _name, _span USING ERRCODE = _code,
      HINT = 'Months, days and hours are each bounded, for example ''30 s'', ''2 days'', ''1 year''.';
  END IF;
END $$;
