-- Registers a host and returns its number. Its leases hold while its row does not expire.
CREATE OR REPLACE FUNCTION wed.register_host(
  _name text, _lease interval, _version text DEFAULT NULL, _interface integer DEFAULT wed.interface_version())
    RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _host_id integer;
BEGIN
  PERFORM wed.refuse_other_interface(_interface);
  INSERT INTO wed.host (name, expires_at, beside_old, version, interface)
  VALUES (_name, clock_timestamp() + _lease, wed.is_beside_old(), _version, _interface) RETURNING host_id INTO _host_id;
  RETURN _host_id;
END $$;
