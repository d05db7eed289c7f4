-- Gives an item back (unselect, unlock): it is ready for everybody again. For its holder only.
CREATE OR REPLACE FUNCTION wed.release_work(
  _tenant text, _name text, _item_id bigint, _states text[], _now timestamptz, _claim integer)
  RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  UPDATE wed.work_item i SET state = 'READY', holder = NULL, claim = claim + 1, held_since = NULL
  WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id AND i.holder = _person.person_id
    AND i.state = ANY (_states) AND (_claim IS NULL OR i.claim = _claim)
  RETURNING * INTO _item;
  IF NOT FOUND THEN PERFORM wed.refuse_holder(_person, _item_id); END IF;
  DELETE FROM wed.work_reservation WHERE flow_id = _item.flow_id AND wid = _item.wid AND person_id = _person.person_id;
  PERFORM wed.record_work(_item, _person.name, 'released', '{}', _now);
  PERFORM wed.offer_item(_item_id, _now);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _item.state, 'claim', _item.claim);
END $$;
