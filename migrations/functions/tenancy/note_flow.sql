-- The same about something of a flow.
CREATE OR REPLACE FUNCTION wed.note_flow(_actor text, _flow_id integer, _action text, _part text,
  _detail jsonb) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.audit (tenant_id, tenant_name, actor, action, target, detail)
  SELECT t.tenant_id, t.name, _actor, _action, left(concat_ws('/', f.name, _part), 300),
         wed.short_detail(_detail) || wed.asked_by()
  FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE f.flow_id = _flow_id
$$;
