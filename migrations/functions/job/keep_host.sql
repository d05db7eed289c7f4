-- Keeps a host's leases. False: they were lost, and the host must enter anew.
CREATE OR REPLACE FUNCTION wed.keep_host(_host_id integer, _lease interval) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.host SET expires_at = clock_timestamp() + _lease, beside_old = wed.is_beside_old() WHERE host_id = _host_id;
  RETURN FOUND;
END $$;
