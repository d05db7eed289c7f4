-- The queries among a process's data: name, attribute, expression.
SELECT d ->> 'name', d ->> 'attribute', d #>> '{source,expression}'
FROM wed.tenant t JOIN wed.flow f USING (tenant_id) JOIN wed.work_plan p USING (flow_id)
CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(p.plan -> 'data') WHEN 'array' THEN p.plan -> 'data'
  ELSE '[]' END) d
WHERE t.name = $1 AND f.name = $2 AND d ->> 'kind' = 'query' AND d #>> '{source,expression}' IS NOT NULL
