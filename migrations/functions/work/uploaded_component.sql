-- The name of a tenant's component if it is uploaded, else null.
CREATE OR REPLACE FUNCTION wed.uploaded_component(_tenant_id integer, _name text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT min(c.name) FROM wed.component c WHERE c.tenant_id = _tenant_id AND c.name = _name
$$;
