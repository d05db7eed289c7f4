SELECT f.name, f.description, f.version, c.regular, c.final, c.exception, c.jobs, c.estimated
FROM wed.flow f
JOIN wed.tenant t USING (tenant_id)
CROSS JOIN LATERAL wed.count_flow(f.flow_id) c
WHERE t.name = $1 AND ($2::text IS NULL OR f.name = $2)
ORDER BY f.name
