-- Counts what a tenant uses and keeps it, _started being where its sequence was.
CREATE OR REPLACE FUNCTION wed.measure(_tenant_id integer, _started bigint) RETURNS wed.usage
LANGUAGE sql AS $$
  UPDATE wed.usage u SET instances = m.instances, jobs = m.jobs, started = _started, measured_at = clock_timestamp()
  FROM wed.count_usage(_tenant_id) m
  WHERE u.tenant_id = _tenant_id RETURNING u.*
$$;
