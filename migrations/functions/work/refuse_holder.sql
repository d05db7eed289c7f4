-- Says that a person does not hold an item, and who does.
CREATE OR REPLACE FUNCTION wed.refuse_holder(_person wed.person, _item_id bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item;
  _holder text;
BEGIN
  SELECT i.* INTO _item FROM wed.work_item i WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id;
  IF NOT FOUND OR _item.ended_at IS NOT NULL THEN PERFORM wed.refuse_claim(_person, _item_id, 'SELECTED'); END IF;
  IF _item.holder = _person.person_id THEN
    RAISE EXCEPTION 'work item % (%) is % under claim %, and not as it was seen', _item_id, _item.task, _item.state,
        _item.claim USING ERRCODE = 'WF082',
      HINT = 'Look at the worklist again; a request of an earlier claim changes nothing.';
  END IF;
  _holder := (SELECT name FROM wed.person WHERE person_id = _item.holder);
  RAISE EXCEPTION 'work item % (%) is %, and not yours to do this with', _item_id, _item.task,
      _item.state || coalesce(' and held by ' || _holder, '')
    USING ERRCODE = 'WF082', DETAIL = jsonb_build_object('holder', _holder, 'state', _item.state)::text,
    HINT = 'Select or lock it first; only who holds an item starts, gives back or reports it.';
END $$;
