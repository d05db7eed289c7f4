CREATE OR REPLACE FUNCTION wed_bounded.measure_row(_wid integer, _row text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_row) > 262144 THEN
    PERFORM wed_bounded.refuse_row(_wid, octet_length(_row));
  END IF;
  RETURN true;
END $$;
