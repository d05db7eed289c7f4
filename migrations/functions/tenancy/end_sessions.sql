-- Ends the sessions of the roles of a tenant's flows; returns how many there were.
CREATE OR REPLACE FUNCTION wed.end_sessions(_tenant_id integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _session record;
  _ended bigint := 0;
BEGIN
  FOR _session IN SELECT a.pid FROM pg_stat_activity a JOIN wed.flow f ON f.role_name = a.usename
    WHERE f.tenant_id = _tenant_id LOOP
    PERFORM pg_terminate_backend(_session.pid, 1000);
    _ended := _ended + 1;
  END LOOP;
  RETURN _ended;
END $$;
