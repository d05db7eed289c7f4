-- Lists the components that bindings of a flow name and that were never uploaded.
CREATE OR REPLACE FUNCTION wed.missing_components(_flow_id integer) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY(
    SELECT DISTINCT b.component_name FROM wed.binding b JOIN wed.flow f USING (flow_id)
    WHERE b.flow_id = _flow_id AND NOT EXISTS (SELECT FROM wed.component c
      WHERE c.tenant_id = f.tenant_id AND c.name = b.component_name)
    ORDER BY 1)
$$;
