SELECT f.name, f.description, coalesce((SELECT max(v.version) FROM wed.flow_version v WHERE v.flow_id = f.flow_id), 0) AS version,
  c.regular, c.final, c.exception, c.jobs, c.estimated
FROM wed.flow f
JOIN wed.tenant t USING (tenant_id)
CROSS JOIN LATERAL wed.count_flow(f.flow_id) c
WHERE t.name = $1 AND ($2::text IS NULL OR f.name = $2)
ORDER BY f.name
