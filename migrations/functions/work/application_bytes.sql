-- The size of a tenant's component in use; null when there is none.
CREATE OR REPLACE FUNCTION wed.application_bytes(_tenant_id integer, _name text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT octet_length(c.bytes) FROM wed.component c WHERE c.tenant_id = _tenant_id AND c.name = _name
  ORDER BY c.activated_at DESC LIMIT 1
$$;
