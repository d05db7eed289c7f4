-- The component that performs a transition of a flow: the active version of the one bound to it.
CREATE OR REPLACE FUNCTION wed.bound_component(_flow_id integer, _trname text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.component_id
  FROM wed.binding b JOIN wed.flow f USING (flow_id)
  JOIN wed.component c ON c.tenant_id = f.tenant_id AND c.name = b.component_name
  WHERE b.flow_id = _flow_id AND b.trname = _trname
  ORDER BY c.activated_at DESC, c.version DESC LIMIT 1
$$;
