SELECT c.name, c.version, c.digest, octet_length(c.bytes) AS size, c.manifest,
       to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS created_at, a.active,
       CASE WHEN a.active THEN
         ARRAY(SELECT f.name || '/' || b.trname FROM wed.binding b JOIN wed.flow f USING (flow_id)
               WHERE f.tenant_id = c.tenant_id AND b.component_name = c.name ORDER BY 1)
       ELSE '{}' END AS used_by
FROM wed.component c JOIN wed.tenant t USING (tenant_id)
CROSS JOIN LATERAL (
  SELECT c.component_id = (
    SELECT k.component_id FROM wed.component k WHERE k.tenant_id = c.tenant_id AND k.name = c.name
    ORDER BY k.activated_at DESC, k.version DESC LIMIT 1) AS active) a
WHERE t.name = $1 AND ($2::text IS NULL OR c.name = $2)
ORDER BY c.name, c.version DESC
