-- Counts a tenant's instances that are not final, each of which has a pending job, and its jobs.
CREATE OR REPLACE FUNCTION wed.count_usage(_tenant_id integer, OUT instances bigint, OUT jobs bigint)
LANGUAGE sql STABLE AS $$
  SELECT count(*), coalesce(sum(jobs), 0)::bigint
  FROM (SELECT count(*) AS jobs FROM wed.flow f JOIN wed.job j USING (flow_id)
        WHERE f.tenant_id = _tenant_id GROUP BY j.flow_id, j.wid) i
$$;
