-- Enters a host. Its leases hold while its row does not expire.
CREATE OR REPLACE FUNCTION wed.enter_host(_name text, _lease interval) RETURNS integer
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.host (name, expires_at, beside_old)
  VALUES (_name, clock_timestamp() + _lease, wed.is_beside_old()) RETURNING host_id
$$;
