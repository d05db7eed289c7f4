-- Makes a version of a component the one in use, for what is fired from now on and for jobs that nobody
-- has in flight. Without a version: the one before the present. Returns it; null when there is none.
CREATE OR REPLACE FUNCTION wed.activate_component(_tenant_id integer, _name text, _version integer) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM wed.tenant WHERE tenant_id = _tenant_id FOR NO KEY UPDATE;
  IF _version IS NULL THEN
    SELECT max(c.version) INTO _version FROM wed.component c
    WHERE c.tenant_id = _tenant_id AND c.name = _name AND c.version < (
      SELECT a.version FROM wed.component a WHERE a.tenant_id = _tenant_id AND a.name = _name
      ORDER BY a.activated_at DESC, a.version DESC LIMIT 1);
  END IF;
  UPDATE wed.component SET activated_at = clock_timestamp()
  WHERE tenant_id = _tenant_id AND name = _name AND version = _version;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM wed.resolve_bindings(flow_id) FROM (
    SELECT DISTINCT b.flow_id FROM wed.binding b JOIN wed.flow f USING (flow_id)
    WHERE f.tenant_id = _tenant_id AND b.component_name = _name ORDER BY b.flow_id) x;
  RETURN _version;
END $$;
