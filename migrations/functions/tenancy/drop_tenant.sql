-- Removes a suspended tenant with everything of it; the audit log keeps what was done.
CREATE OR REPLACE FUNCTION wed.drop_tenant(_tenant_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow_id integer;
BEGIN
  FOR _flow_id IN SELECT flow_id FROM wed.flow WHERE tenant_id = _tenant_id ORDER BY flow_id LOOP
    PERFORM wed.drop_flow(_flow_id);
  END LOOP;
  DELETE FROM wed.tenant WHERE tenant_id = _tenant_id;
END $$;
