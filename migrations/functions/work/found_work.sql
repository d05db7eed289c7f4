-- The items of a person's worklist: what the person holds, and what is offered, of each role the first _limit in the
-- order where it is arrival or priority.
CREATE OR REPLACE FUNCTION wed.found_work(_person wed.person, _order text, _limit integer, _now timestamptz)
RETURNS SETOF wed.work_item LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT i.* FROM wed.work_item i WHERE i.holder = _person.person_id AND i.ended_at IS NULL
  UNION ALL
  (SELECT i.* FROM (SELECT m.role_id FROM wed.membership m
    WHERE m.person_id = _person.person_id UNION ALL SELECT NULL) r
   CROSS JOIN LATERAL wed.offered_to_role(_person.tenant_id, r.role_id, _person.person_id,
     _person.connected_at, _order, _limit, _now) i
   WHERE _person.active
   UNION
   SELECT i.* FROM wed.work_offer o JOIN wed.work_item i USING (item_id)
   WHERE o.person_id = _person.person_id AND i.state = 'READY' AND _person.active)
$$;
