SELECT f.flow_id, f.name, f.description, f.version, f.schema_name, i.regular, i.final, i.exception, j.jobs
FROM wed.flow f
JOIN wed.tenant t USING (tenant_id)
-- Counted only where it is asked for: a flow may have millions of instances.
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE status = 'R') AS regular,
         count(*) FILTER (WHERE status = 'F') AS final,
         count(*) FILTER (WHERE status = 'E') AS exception
  FROM wed.instance WHERE $3 AND flow_id = f.flow_id) i
CROSS JOIN LATERAL (SELECT count(*) AS jobs FROM wed.job WHERE $3 AND flow_id = f.flow_id) j
WHERE t.name = $1 AND ($2::text IS NULL OR f.name = $2)
ORDER BY f.name
