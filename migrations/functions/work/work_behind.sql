-- The tasks that a person takes away together with an item: those reserved for the person in its instance, in the order
-- in which they were reserved; each as an item that will be, with its form and the data as they are now.
CREATE OR REPLACE FUNCTION wed.work_behind(_item wed.work_item, _person_id integer, _types jsonb, _state jsonb)
  RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object(
    'task', w.task, 'transition', t.trname, 'state', 'LOCKED', 'flow', f.name, 'wid', _item.wid,
    'instance', wed.work_place(_item.flow_id, _item.wid), 'role', r.name, 'kind', w.kind, 'description', w.description,
    'priority', w.priority, 'disconnected', w.disconnected,
    'application', wed.uploaded_component(_item.tenant_id, w.application),
    'application_bytes', wed.application_bytes(_item.tenant_id, w.application),
    'application_mark', wed.application_mark(_item.tenant_id, w.application), 'inputs', w.inputs, 'outputs', o.outputs,
    'types', (SELECT coalesce(jsonb_object_agg(k, _types -> k), '{}') FROM unnest(w.inputs || o.outputs) k
      WHERE _types ? k),
    'data', (SELECT coalesce(jsonb_object_agg(k, _state -> k), '{}') FROM unnest(w.inputs || o.outputs) k
      WHERE _state ? k),
    'form', coalesce(w.form, wed.work_form(w, o.outputs, _types))) ORDER BY v.place), '[]')
  FROM wed.work_reservation v
  JOIN wed.work_task w USING (tgid)
  JOIN wed.trigger t USING (tgid)
  JOIN wed.flow f ON f.flow_id = v.flow_id
  LEFT JOIN wed.role_of_people r ON r.role_id = w.role_id
  CROSS JOIN LATERAL (SELECT coalesce(w.outputs, t.writes, '{}') AS outputs) o
  WHERE v.flow_id = _item.flow_id AND v.wid = _item.wid AND v.person_id = _person_id
$$;
