-- The names of a flow, as templates want them.
CREATE OR REPLACE FUNCTION wed.flow_names(_flow wed.flow) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('flow_id', _flow.flow_id, 'tenant_id', _flow.tenant_id,
    'schema', quote_ident(_flow.schema_name), 'shape', quote_ident(_flow.shape_schema),
    'role', quote_ident(_flow.role_name))
$$;
