-- Takes an item from whoever holds it. For the person in charge of its instance, and administrators.
CREATE OR REPLACE FUNCTION wed.take_over_work(_tenant text, _name text, _item_id bigint,
  _now timestamptz DEFAULT clock_timestamp(), _claim integer DEFAULT NULL)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id AND tenant_id = _person.tenant_id
    AND ended_at IS NULL AND (_claim IS NULL OR claim = _claim);
  IF NOT FOUND THEN PERFORM wed.refuse_claim(_person, _item_id, 'SELECTED'); END IF;
  IF NOT wed.answers_for(_person.person_id, _item.flow_id, _item.wid) THEN
    RAISE EXCEPTION '"%" may not take over work item % (%)', _name, _item_id, _item.task USING ERRCODE = 'WF083',
      HINT = 'The person in charge of the instance and administrators may.';
  END IF;
  RETURN wed.hand_over(_item, _person.person_id, _person.name, 'taken_over', _now);
END $$;
