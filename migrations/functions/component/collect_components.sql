-- Removes the versions of a tenant's components that nothing uses, but for the newest _keep of each name
-- and the active one.
CREATE OR REPLACE FUNCTION wed.collect_components(_tenant_id integer, _keep integer) RETURNS TABLE (name text,
  version integer)
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM wed.component c USING (
    SELECT component_id, row_number() OVER (PARTITION BY k.name ORDER BY k.version DESC) AS back,
           row_number() OVER (PARTITION BY k.name ORDER BY k.activated_at DESC, k.version DESC) AS used
    FROM wed.component k WHERE k.tenant_id = _tenant_id) r
  WHERE r.component_id = c.component_id AND r.back > _keep AND r.used > 1
    AND NOT EXISTS (SELECT FROM wed.trigger t WHERE t.component_id = c.component_id)
    AND NOT EXISTS (SELECT FROM wed.job j WHERE j.component_id = c.component_id)
  RETURNING c.name, c.version
$$;
