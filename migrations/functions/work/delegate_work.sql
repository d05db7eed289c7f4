-- Gives an item to another person: by its holder to somebody of its role, by who is in charge to anybody.
CREATE OR REPLACE FUNCTION wed.delegate_work(
  _tenant text, _name text, _item_id bigint, _to text, _now timestamptz DEFAULT clock_timestamp()) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _other wed.person := wed.person_of(_tenant, _to);
  _item wed.work_item;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id AND tenant_id = _person.tenant_id
    AND ended_at IS NULL;
  IF NOT FOUND THEN PERFORM wed.refuse_claim(_person, _item_id, 'SELECTED'); END IF;
  IF NOT wed.answers_for(_person.person_id, _item.flow_id, _item.wid) THEN
    IF _item.holder IS DISTINCT FROM _person.person_id THEN PERFORM wed.refuse_holder(_person, _item_id); END IF;
    IF _item.only_people IS NOT NULL AND _other.person_id <> ALL (_item.only_people) THEN
      RAISE EXCEPTION 'work item % (%) is not for "%"', _item_id, _item.task, _to USING ERRCODE = 'WF083',
        HINT = 'Its instance says for whom it is; who is in charge may give it to others.';
    ELSIF _item.role_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM wed.membership WHERE person_id = _other.person_id AND role_id = _item.role_id) THEN
      RAISE EXCEPTION '"%" has not the role of work item % (%)', _to, _item_id, _item.task USING ERRCODE = 'WF083',
        HINT = 'Delegate to somebody of the role, or ask who is in charge.';
    END IF;
  END IF;
  RETURN wed.hand_over(_item, _other.person_id, _person.name, 'delegated', _now);
END $$;
