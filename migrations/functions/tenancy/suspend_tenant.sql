-- Suspends a tenant, or resumes it: its flows' roles may not log in, nothing of it is started or changed
-- (wed.is_suspended), and hosts claim none of its jobs. It waits for nothing that the tenant holds; to be committed
-- before its sessions are ended (wed.end_sessions), who could otherwise come back, and before its flows are compiled,
-- by which hosts give back what its running transitions fire.
CREATE OR REPLACE FUNCTION wed.suspend_tenant(_tenant_id integer, _suspend boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _role text;
BEGIN
  UPDATE wed.tenant SET suspended_at = CASE WHEN _suspend THEN coalesce(suspended_at, now()) END
  WHERE tenant_id = _tenant_id;
  FOR _role IN SELECT role_name FROM wed.flow WHERE tenant_id = _tenant_id ORDER BY flow_id LOOP
    EXECUTE format('ALTER ROLE %I %s', _role, CASE WHEN _suspend THEN 'NOLOGIN' ELSE 'LOGIN' END);
  END LOOP;
  IF NOT _suspend THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;
