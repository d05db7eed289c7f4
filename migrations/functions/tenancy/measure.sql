-- Counts what a tenant uses, _started being where its sequence was. Every instance that is not final has a
-- pending job.
CREATE OR REPLACE FUNCTION wed.measure(_tenant_id integer, _started bigint) RETURNS wed.usage
LANGUAGE sql AS $$
  UPDATE wed.usage u SET instances = m.instances, jobs = m.jobs, started = _started, measured_at = clock_timestamp()
  FROM (SELECT count(*) AS instances, coalesce(sum(jobs), 0)::bigint AS jobs
        FROM (SELECT count(*) AS jobs FROM wed.flow f JOIN wed.job j USING (flow_id)
              WHERE f.tenant_id = _tenant_id GROUP BY j.flow_id, j.wid) i) m
  WHERE u.tenant_id = _tenant_id RETURNING u.*
$$;
