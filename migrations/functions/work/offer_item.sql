-- Offers a ready item by its instance's policy to active people of its role, and to its candidates. Policy 1 needs
-- no rows for the role: its members who were active at the last round see it (wed.is_offered).
CREATE OR REPLACE FUNCTION wed.offer_item(_item_id bigint, _now timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item;
  _task wed.work_task;
  _limit integer;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id AND state = 'READY';
  IF NOT FOUND THEN RETURN; END IF;
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  IF wed.is_for_some(_task) THEN
    _item := wed.look_whom(_item, _task);
  END IF;
  SELECT policy_count INTO _limit FROM wed.work_instance WHERE flow_id = _item.flow_id AND wid = _item.wid;
  IF _item.policy <> 1 THEN
    INSERT INTO wed.work_offer (person_id, item_id, offered_at)
    SELECT p.person_id, _item_id, _now FROM wed.person p
    CROSS JOIN LATERAL (
      SELECT count(*) AS assigned, count(*) FILTER (WHERE i.state = 'SELECTED') AS selected
      FROM wed.work_item i WHERE i.holder = p.person_id AND i.ended_at IS NULL) c
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE o.item_id <> _item_id) AS others, bool_or(o.item_id = _item_id) AS before
      FROM wed.work_offer o JOIN wed.work_item i USING (item_id)
      WHERE o.person_id = p.person_id AND i.state = 'READY') f
    WHERE p.tenant_id = _item.tenant_id AND p.active AND p.person_id <> ALL (_item.not_people)
      AND CASE WHEN _item.only_people IS NOT NULL THEN p.person_id = ANY (_item.only_people)
               ELSE _item.role_id IS NULL OR EXISTS (SELECT FROM wed.membership m WHERE m.person_id = p.person_id
                 AND m.role_id = _item.role_id) END
    -- Who has the offer keeps it: no more than so many have it at a time.
    ORDER BY _item.policy IN (2, 3) AND f.before DESC NULLS LAST,
             CASE _item.policy WHEN 2 THEN c.assigned + f.others WHEN 3 THEN c.selected END,
             CASE WHEN _item.policy = 4 THEN p.connected_at END DESC NULLS LAST, p.person_id
    LIMIT _limit ON CONFLICT DO NOTHING;
  END IF;
  IF _item.policy = 1 AND _item.only_people IS NOT NULL THEN
    INSERT INTO wed.work_offer (person_id, item_id, offered_at)
    SELECT p.person_id, _item_id, _now FROM wed.person p WHERE p.active AND p.person_id = ANY (_item.only_people)
      AND p.person_id <> ALL (_item.not_people) ON CONFLICT DO NOTHING;
  END IF;
  IF _task.users <> '{}' OR _task.groups <> '{}' THEN
    INSERT INTO wed.work_offer (person_id, item_id, offered_at)
    SELECT p.person_id, _item_id, _now FROM wed.person p
    WHERE p.tenant_id = _item.tenant_id AND p.active AND p.person_id <> ALL (_item.not_people)
      AND (p.name = ANY (_task.users) OR EXISTS (
      SELECT FROM wed.membership m WHERE m.person_id = p.person_id
      AND m.role_id IN (SELECT wed.role_named(_item.tenant_id, g) FROM unnest(_task.groups) g)))
    ORDER BY p.person_id LIMIT 10000 ON CONFLICT DO NOTHING;
  END IF;
  UPDATE wed.work_item SET offered_at = _now WHERE item_id = _item_id AND offered_at IS DISTINCT FROM _now;
  PERFORM wed.tell_people(_item.tenant_id);
END $$;

-- Looks anew for whom the data say a ready item is, and takes it off the worklists of others.
CREATE OR REPLACE FUNCTION wed.look_whom(_item wed.work_item, _task wed.work_task) RETURNS wed.work_item
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _whom record;
BEGIN
  SELECT * INTO _whom FROM wed.people_for(_item, _task);
  IF (_whom.only_people, _whom.not_people) IS DISTINCT FROM (_item.only_people, _item.not_people) THEN
    UPDATE wed.work_item SET only_people = _whom.only_people, not_people = _whom.not_people,
      candidates = candidates OR _whom.only_people IS NOT NULL
    WHERE item_id = _item.item_id RETURNING * INTO _item;
    DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
  END IF;
  RETURN _item;
END $$;
