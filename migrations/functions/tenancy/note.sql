-- Appends to the audit log, in the transaction of what is done. Nobody may take from the log, so no entry is long.
CREATE OR REPLACE FUNCTION wed.note(_actor text, _tenant text, _action text, _target text, _detail jsonb) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.audit (tenant_id, tenant_name, actor, action, target, detail)
  VALUES ((SELECT tenant_id FROM wed.tenant WHERE name = _tenant), _tenant, _actor, _action, left(_target, 300),
          wed.short_detail(_detail) || wed.asked_by())
$$;
