-- The component in use of an item that a person holds or is offered; of a task reserved for its holder when one is
-- named.
SELECT c.name, c.version, c.digest, c.bytes
FROM wed.person_of($1, $2) p
JOIN wed.work_item i ON i.tenant_id = p.tenant_id AND i.item_id = $3 AND i.ended_at IS NULL
  AND (i.holder = p.person_id OR i.state = 'READY' AND wed.is_offered(i, p, clock_timestamp()))
JOIN wed.work_task t ON CASE WHEN $4::text IS NULL THEN t.tgid = i.tgid
  ELSE t.flow_id = i.flow_id AND t.task = $4 AND i.holder = p.person_id AND EXISTS (
    SELECT FROM wed.work_reservation v
    WHERE v.flow_id = i.flow_id AND v.wid = i.wid AND v.tgid = t.tgid AND v.person_id = p.person_id) END
JOIN wed.component c ON c.tenant_id = i.tenant_id AND c.name = t.application
ORDER BY c.activated_at DESC LIMIT 1
