SELECT f.flow_id, f.name, f.description, f.version, f.schema_name,
       coalesce(i.regular, 0) AS regular, coalesce(i.final, 0) AS final, coalesce(i.exception, 0) AS exception,
       (SELECT count(*) FROM wed.job j WHERE j.flow_id = f.flow_id) AS jobs
FROM wed.flow f
JOIN wed.tenant t USING (tenant_id)
LEFT JOIN LATERAL (
  SELECT count(*) FILTER (WHERE status = 'R') AS regular,
         count(*) FILTER (WHERE status = 'F') AS final,
         count(*) FILTER (WHERE status = 'E') AS exception
  FROM wed.instance WHERE flow_id = f.flow_id) i ON true
WHERE t.name = $1 AND ($2::text IS NULL OR f.name = $2)
ORDER BY f.name
