-- What of a tenant's flows does not fit a component that they bind, said when it is uploaded or activated.
CREATE OR REPLACE FUNCTION wed.component_faults(_tenant text, _component text) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT format('flow %s: %s', f.name, w.fault)
  FROM wed.flow f JOIN wed.tenant t USING (tenant_id)
  CROSS JOIN LATERAL wed.binding_faults(f.flow_id) w(fault)
  WHERE t.name = _tenant AND w.fault ~ ('component ' || _component || ' ')
    AND EXISTS (SELECT FROM wed.binding b WHERE b.flow_id = f.flow_id AND b.component_name = _component)
  ORDER BY f.name
$$;
