-- The tenants that have jobs a host could begin now, found by one probe of an index for each tenant that has
-- unclaimed jobs at all, however many. Left out are those named, and those that are suspended or have used up
-- a quota.
-- In plpgsql, which keeps the plan: it is made anew at each call of a function in SQL, and takes longer than this.
CREATE OR REPLACE FUNCTION wed.tenants_with_work(_now timestamptz, _without integer[]) RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (WITH RECURSIVE n(tenant_id) AS (
    SELECT min(j.tenant_id) FROM wed.job j WHERE j.host_id IS NULL AND j.component_id IS NOT NULL
    UNION ALL
    SELECT (SELECT min(j.tenant_id) FROM wed.job j
            WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.tenant_id > n.tenant_id)
    FROM n WHERE n.tenant_id IS NOT NULL)
  SELECT coalesce(array_agg(n.tenant_id), '{}') FROM n
  WHERE n.tenant_id <> ALL (_without) AND n.tenant_id <> ALL ((SELECT wed.resting())::integer[])
    -- Not EXISTS, which may become a join that reads all jobs that are due; and in the order of job_ready, which
    -- is the index to use.
    AND (SELECT true FROM wed.job j WHERE j.host_id IS NULL AND j.component_id IS NOT NULL
         AND j.tenant_id = n.tenant_id AND j.due <= _now ORDER BY j.priority DESC, j.due LIMIT 1));
END $$;
