-- What tells a version of a tenant's component from others: the ETag under which it is served. Null when there is none.
CREATE OR REPLACE FUNCTION wed.application_mark(_tenant_id integer, _name text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('"%s-%s-%s"', c.name, c.version, c.digest) FROM wed.component c WHERE c.tenant_id = _tenant_id
    AND c.name = _name
  ORDER BY c.activated_at DESC LIMIT 1
$$;
