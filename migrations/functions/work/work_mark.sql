-- A text that changes when a person's worklist (its first 1000 items) or delivered messages do.
CREATE OR REPLACE FUNCTION wed.work_mark(_tenant text, _name text, _now timestamptz DEFAULT clock_timestamp())
  RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT md5(concat_ws(' ',
    (SELECT max(m.message_id) FROM wed.work_message m WHERE m.person_id = p.person_id AND m.delivered_at IS NOT NULL),
    (SELECT string_agg(concat_ws(':', f.item_id, f.state, f.claim), ',' ORDER BY f.item_id)
     FROM wed.found_work(p, 'arrival', 1000, _now) f)))
  FROM wed.person_of(_tenant, _name) p
$$;
