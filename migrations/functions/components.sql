-- Components of tenants: versions, the one in use, what binds them.

-- Gives the triggers of a flow, and their jobs that no host has, the components that are bound now.
CREATE OR REPLACE FUNCTION wed.update_components(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.trigger SET component_id = wed.bound_component(flow_id, trname)
  WHERE flow_id = _flow_id AND component_id IS DISTINCT FROM wed.bound_component(flow_id, trname);
  UPDATE wed.job j SET component_id = t.component_id FROM wed.trigger t
  WHERE t.flow_id = _flow_id AND j.flow_id = _flow_id AND j.tgid = t.tgid AND j.host_id IS NULL
    AND j.component_id IS DISTINCT FROM t.component_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;

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

-- Returns the component that performs a transition of a flow: the active version of the one bound to it.
CREATE OR REPLACE FUNCTION wed.bound_component(_flow_id integer, _trname text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.component_id
  FROM wed.binding b JOIN wed.flow f USING (flow_id)
  JOIN wed.component c ON c.tenant_id = f.tenant_id AND c.name = b.component_name
  WHERE b.flow_id = _flow_id AND b.trname = _trname
  ORDER BY c.activated_at DESC, c.version DESC LIMIT 1
$$;

-- Resolves the components of a flow's triggers and pending jobs anew, and makes a new version of the flow.
CREATE OR REPLACE FUNCTION wed.resolve_bindings(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed.update_components(_flow_id);
  PERFORM wed.compile(_flow_id);
END $$;

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
