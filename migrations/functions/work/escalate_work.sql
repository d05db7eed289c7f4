-- Offers an item that nobody took to the role or person that its task names for that, and tells who is in charge.
CREATE OR REPLACE FUNCTION wed.escalate_work(_item wed.work_item, _to text, _now timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO wed.work_offer (person_id, item_id, offered_at)
  SELECT p.person_id, _item.item_id, _now FROM wed.person p
  WHERE p.tenant_id = _item.tenant_id AND (p.name = _to OR EXISTS (
    SELECT FROM wed.membership m WHERE m.person_id = p.person_id AND m.role_id = wed.role_named(_item.tenant_id, _to)))
  ORDER BY p.person_id LIMIT 10000 ON CONFLICT DO NOTHING;
  PERFORM wed.send_message(wed.in_charge(_item.flow_id, _item.wid), 'task_escalated', wed.work_place(_item.flow_id,
    _item.wid),
    format('Nobody took %s; it was offered to %s as well.', _item.task, coalesce(_to, 'nobody else')),
      _item.item_id, _now);
  PERFORM wed.record_work(_item, 'wedflow', 'escalated', jsonb_build_object('to', _to), _now);
  PERFORM wed.tell_people(_item.tenant_id);
END $$;
