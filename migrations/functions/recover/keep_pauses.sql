-- Keeps what is paused paused: jobs that hosts gave back or that were fired meanwhile. For the hosts' sweep.
CREATE OR REPLACE FUNCTION wed.keep_pauses() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow_id integer;
  _changed bigint := 0;
BEGIN
  FOR _flow_id IN
    SELECT DISTINCT f.flow_id FROM wed.pause p
    JOIN wed.flow f ON f.tenant_id = p.tenant_id AND (p.flow_id IS NULL OR p.flow_id = f.flow_id) ORDER BY 1
  LOOP
    _changed := _changed + wed.keep_paused(_flow_id);
  END LOOP;
  RETURN _changed;
END $$;
