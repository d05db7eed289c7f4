-- Counts anew for tenants that may be near a limit, so that a refused start need not.
CREATE OR REPLACE FUNCTION wed.measure_usage() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _due record;
BEGIN
  FOR _due IN
    SELECT u.tenant_id, coalesce(pg_sequence_last_value(('wed.started_' || u.tenant_id)::regclass), 0) AS top
    FROM wed.usage u JOIN wed.quota q USING (tenant_id)
    WHERE (u.instances + coalesce(pg_sequence_last_value(('wed.started_' || u.tenant_id)::regclass), 0) - u.started
             > q.instances * 0.8
           OR u.jobs + coalesce(pg_sequence_last_value(('wed.started_' || u.tenant_id)::regclass), 0) - u.started
             > q.jobs * 0.8)
      AND u.measured_at < clock_timestamp() - interval '1 second'
    FOR UPDATE OF u SKIP LOCKED
  LOOP
    PERFORM wed.measure(_due.tenant_id, _due.top);
  END LOOP;
END $$;
