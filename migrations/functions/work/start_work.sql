-- Marks an item running: its holder is at it. A locked one stays locked, for it may be taken away. A task whose plan
-- has a state attribute, and whose condition still holds then, says so in the instance's state too, for rules that wait
-- for it: an event, through the gate.
CREATE OR REPLACE FUNCTION wed.start_work(_tenant text, _name text, _item_id bigint,
  _now timestamptz DEFAULT clock_timestamp(), _claim integer DEFAULT NULL)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
  _told text;
BEGIN
  SELECT i.* INTO _item FROM wed.work_item i WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id;
  SELECT w.state_attribute INTO _told FROM wed.work_task w WHERE w.tgid = _item.tgid;
  IF _told IS NOT NULL THEN
    -- The instance first, as everywhere.
    EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE',
                   (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) USING _item.wid;
  END IF;
  UPDATE wed.work_item i SET state = CASE i.state WHEN 'LOCKED' THEN 'LOCKED' ELSE 'RUNNING' END
  WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id AND i.holder = _person.person_id
    AND i.state IN ('SELECTED', 'LOCKED') AND (_claim IS NULL OR i.claim = _claim) RETURNING * INTO _item;
  IF NOT FOUND THEN PERFORM wed.refuse_holder(_person, _item_id); END IF;
  IF _told IS NOT NULL THEN
    PERFORM wed.tell_running(_item, _told, _person.name);
  END IF;
  PERFORM wed.record_work(_item, _person.name, 'running', '{}', _now);
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _item.state, 'holder', _person.name, 'claim', _item.claim);
END $$;
