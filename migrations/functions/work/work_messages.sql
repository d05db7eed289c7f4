-- A person's messages that were delivered, newest first, at most 1000.
CREATE OR REPLACE FUNCTION wed.work_messages(_tenant text, _name text, _limit integer DEFAULT 100) RETURNS SETOF jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('message', m.message_id, 'kind', m.kind, 'sender', m.sender, 'text', m.text, 'item',
    m.item_id,
    'at', wed.rfc3339(m.at), 'delivered_at', wed.rfc3339(m.delivered_at))
  FROM wed.work_message m, wed.person_of(_tenant, _name) p
  WHERE m.person_id = p.person_id AND m.delivered_at IS NOT NULL ORDER BY m.message_id DESC LIMIT
    least(greatest(_limit, 1), 1000)
$$;
