-- Suspends a tenant, or resumes it: its flows' roles may not log in, and their sessions end; hosts claim
-- none of its jobs, and give back those that its running ones fire, because the flows' versions change.
CREATE OR REPLACE FUNCTION wed.suspend_tenant(_tenant_id integer, _suspend boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  UPDATE wed.tenant SET suspended_at = CASE WHEN _suspend THEN coalesce(suspended_at, now()) END
  WHERE tenant_id = _tenant_id;
  FOR _flow IN SELECT * FROM wed.flow WHERE tenant_id = _tenant_id ORDER BY flow_id LOOP
    PERFORM wed.compile(_flow.flow_id);
    EXECUTE format('ALTER ROLE %I %s', _flow.role_name, CASE WHEN _suspend THEN 'NOLOGIN' ELSE 'LOGIN' END);
    IF _suspend THEN
      PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = _flow.role_name;
    END IF;
  END LOOP;
  IF NOT _suspend THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;
