-- An item as people see it. An application that is not uploaded is none: it is done without one.
CREATE OR REPLACE FUNCTION wed.work_document(_item wed.work_item) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object(
    'item', _item.item_id, 'instance', coalesce(n.name, f.name || '/' || _item.wid), 'flow', f.name, 'wid', _item.wid,
    'task', _item.task, 'transition', t.trname, 'state', _item.state,
    'holder', p.name, 'role', r.name, 'kind', w.kind, 'description', coalesce(w.description, ''), 'priority',
    _item.priority,
    'arrived_at', wed.rfc3339(_item.arrived_at), 'deadline_at', wed.rfc3339(_item.deadline_at),
    'ended_at', wed.rfc3339(_item.ended_at),
    'disconnected', _item.disconnected, 'application', wed.uploaded_component(_item.tenant_id, w.application),
    'part', nullif(_item.part, 0), 'element', _item.element,
    'application_planned', w.application, 'claim', _item.claim)
  FROM (SELECT 1) one
  LEFT JOIN wed.flow f ON f.flow_id = _item.flow_id
  LEFT JOIN wed.instance_name n ON n.flow_id = _item.flow_id AND n.wid = _item.wid
  LEFT JOIN wed.trigger t ON t.tgid = _item.tgid
  LEFT JOIN wed.work_task w ON w.tgid = _item.tgid
  LEFT JOIN wed.person p ON p.person_id = _item.holder
  LEFT JOIN wed.role_of_people r ON r.role_id = _item.role_id
$$;
