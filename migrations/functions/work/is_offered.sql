-- Whether a ready item is on a person's worklist. To a role (policy 1) it is offered in rounds, one every
-- `renotify`: who connected after a round is in the next.
CREATE OR REPLACE FUNCTION wed.is_offered(_item wed.work_item, _person wed.person, _now timestamptz) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _person.active AND _person.person_id <> ALL (_item.not_people) AND (
    _item.policy = 1 AND _item.only_people IS NULL
      AND (CASE WHEN _item.role_id IS NULL THEN NOT _item.candidates
             ELSE EXISTS (SELECT FROM wed.membership m WHERE m.person_id = _person.person_id
               AND m.role_id = _item.role_id) END)
      AND _now >= _item.offered_at + _item.renotify
        * ceil(greatest(extract(epoch FROM _person.connected_at - _item.offered_at), 0) / extract(epoch
          FROM _item.renotify))::double precision
    OR EXISTS (SELECT FROM wed.work_offer o WHERE o.person_id = _person.person_id AND o.item_id = _item.item_id))
$$;
