-- Who did what with an item, when, and what was said of it; oldest first, at most 1000 entries.
CREATE OR REPLACE FUNCTION wed.work_history(_tenant text, _name text, _item_id bigint, _limit integer DEFAULT 1000)
RETURNS SETOF jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('at', wed.rfc3339(h.at), 'person', h.person, 'action', h.action, 'detail', h.detail)
  FROM wed.see_work(wed.person_of(_tenant, _name), _item_id, clock_timestamp()) i
  CROSS JOIN LATERAL (
    SELECT e.at, e.person, e.action, e.detail, 0 AS kind, e.event_id AS id FROM wed.work_event e
      WHERE e.item_id = i.item_id
    UNION ALL
    SELECT n.at, n.person, CASE WHEN n.file_name IS NULL THEN 'commented' ELSE 'attached' END,
           jsonb_strip_nulls(jsonb_build_object('text', n.text, 'file', n.file_name, 'bytes', octet_length(n.bytes),
             'note', n.note_id)),
           1, n.note_id
    FROM wed.work_note n WHERE n.flow_id = i.flow_id AND n.wid = i.wid AND n.item_id = i.item_id) h
  ORDER BY h.at, h.kind, h.id LIMIT least(greatest(_limit, 1), 1000)
$$;
