-- The hosts, with the jobs of a tenant that each has in flight. Hosts are few, and a host bounds its jobs.
SELECT jsonb_build_object('host_id', h.host_id, 'name', h.name, 'version', h.version, 'running', wed.host_runs(h),
  'started', wed.rfc3339(h.started), 'leased_until', wed.rfc3339(h.expires_at),
  'jobs', (SELECT count(*) FROM wed.job j WHERE j.host_id = h.host_id AND j.tenant_id = t.tenant_id))
FROM wed.tenant t CROSS JOIN wed.host h WHERE t.name = $1 ORDER BY h.host_id
