-- A condition's answer, unless the time for a state's conditions is up.
CREATE OR REPLACE FUNCTION wed_bounded.in_time(_holds boolean) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.look(0, 1, '');
  RETURN _holds;
END $$;
