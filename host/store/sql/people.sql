-- A tenant's people behind a name, with their roles, how many items they hold, and how many they have done.
SELECT jsonb_build_object(
  'person', p.name, 'active', p.active, 'connected_at', p.connected_at,
  'roles', (SELECT coalesce(jsonb_agg(r.name ORDER BY r.name), '[]') FROM wed.membership m JOIN wed.role_of_people r
    USING (role_id)
            WHERE m.person_id = p.person_id),
  'holds', (SELECT count(*) FROM wed.work_item i WHERE i.holder = p.person_id AND i.ended_at IS NULL),
  'done', (SELECT count(*) FROM wed.work_item i WHERE i.holder = p.person_id AND i.state IN ('SUCCEEDED', 'FAILED')))
FROM wed.person p JOIN wed.tenant t USING (tenant_id)
WHERE t.name = $1 AND ($2::text IS NULL OR p.name > $2) ORDER BY p.name LIMIT $3
