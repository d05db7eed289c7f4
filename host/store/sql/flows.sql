SELECT f.flow_id, f.name, f.description, f.version, f.schema_name, c.regular, c.final, c.exception, c.jobs, c.estimated
FROM wed.flow f
JOIN wed.tenant t USING (tenant_id)
-- Counted only where it is asked for.
CROSS JOIN LATERAL (
  SELECT * FROM wed.count_flow(f.flow_id) WHERE $3
  UNION ALL
  SELECT 0, 0, 0, 0, false WHERE NOT $3) c
WHERE t.name = $1 AND ($2::text IS NULL OR f.name = $2)
ORDER BY f.name
