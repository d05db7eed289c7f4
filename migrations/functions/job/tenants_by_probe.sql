-- Returns the tenants that have jobs a host could begin now, by two index probes for each tenant that has unclaimed
-- jobs at all, however many.
CREATE OR REPLACE FUNCTION wed.tenants_by_probe(_now timestamptz) RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (WITH RECURSIVE n(tenant_id) AS (
    SELECT min(j.tenant_id) FROM wed.job j WHERE j.host_id IS NULL AND j.component_id IS NOT NULL
    UNION ALL
    SELECT (SELECT min(j.tenant_id) FROM wed.job j
            WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.tenant_id > n.tenant_id)
    FROM n WHERE n.tenant_id IS NOT NULL)
  SELECT coalesce(array_agg(n.tenant_id), '{}') FROM n
  -- Not EXISTS, which may become a join that reads all jobs that are due; and in the order of job_ready, which
  -- is the index to use.
  WHERE (SELECT true FROM wed.job j WHERE j.host_id IS NULL AND j.component_id IS NOT NULL
         AND j.tenant_id = n.tenant_id AND j.due <= _now ORDER BY j.priority DESC, j.due LIMIT 1));
END $$;
