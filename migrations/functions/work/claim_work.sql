-- Claims an item for a person in one statement: of two who race, the second finds the first's name (WF081). _to is
-- _claim is the number under which the item was seen: a request that comes late, behind others, changes nothing. _to is
-- SELECTED, or LOCKED, which only items that allow disconnected work are. An item that its holder
-- selected or began may be locked by that person.
CREATE OR REPLACE FUNCTION wed.claim_work(_tenant text, _name text, _item_id bigint, _to text,
  _now timestamptz, _claim integer) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  UPDATE wed.work_item i SET state = _to, holder = _person.person_id, claim = claim + 1, held_since = _now
  WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id AND (_to = 'SELECTED' OR i.disconnected)
    AND (_claim IS NULL OR i.claim = _claim) AND _person.person_id <> ALL (i.not_people)
    AND (i.state = 'READY' AND (wed.is_offered(i, _person, _now) OR wed.is_administrator(_person.person_id))
         OR i.state IN ('SELECTED', 'RUNNING') AND i.holder = _person.person_id AND _to = 'LOCKED')
  RETURNING * INTO _item;
  IF NOT FOUND THEN PERFORM wed.refuse_claim(_person, _item_id, _to); END IF;
  PERFORM wed.record_work(_item, _person.name, lower(_to), '{}', _now);
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _item.state, 'holder', _person.name, 'claim', _item.claim);
END $$;
