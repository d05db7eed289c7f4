-- Prolongs a host's leases, and notes the session that does so (wed.host_runs). False: they were lost, and the host must
-- register anew.
CREATE OR REPLACE FUNCTION wed.renew_lease(
  _host_id integer, _lease interval, _interface integer DEFAULT wed.interface_version()) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed.refuse_other_interface(_interface);
  UPDATE wed.host SET expires_at = clock_timestamp() + _lease, beside_old = wed.is_beside_old(),
    session_pid = pg_backend_pid()
  WHERE host_id = _host_id;
  RETURN FOUND;
END $$;
