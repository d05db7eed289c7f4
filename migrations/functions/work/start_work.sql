-- Marks an item running: its holder is at it.
CREATE OR REPLACE FUNCTION wed.start_work(_tenant text, _name text, _item_id bigint, _now timestamptz DEFAULT clock_timestamp())
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  UPDATE wed.work_item i SET state = 'RUNNING'
  WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id AND i.holder = _person.person_id
    AND i.state IN ('SELECTED', 'LOCKED') RETURNING * INTO _item;
  IF NOT FOUND THEN PERFORM wed.refuse_holder(_person, _item_id); END IF;
  PERFORM wed.record_work(_item, _person.name, 'running', '{}', _now);
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _item.state, 'holder', _person.name, 'claim', _item.claim);
END $$;
