-- Says why an item cannot be claimed, and who holds it.
CREATE OR REPLACE FUNCTION wed.refuse_claim(_person wed.person, _item_id bigint, _to text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item;
  _holder text;
BEGIN
  SELECT i.* INTO _item FROM wed.work_item i WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no work item %', _item_id USING ERRCODE = 'WF080',
      HINT = 'List your items: `wed work list`.';
  END IF;
  _holder := (SELECT name FROM wed.person WHERE person_id = _item.holder);
  IF _item.ended_at IS NOT NULL THEN
    RAISE EXCEPTION 'work item % (%) has ended: %', _item_id, _item.task, _item.state || coalesce(' by ' || _holder, '')
      USING ERRCODE = 'WF082', HINT = 'Its history says who did what: `wed work history`.';
  ELSIF _item.holder IS NOT NULL THEN
    RAISE EXCEPTION 'work item % (%) is held by %', _item_id, _item.task,
        CASE WHEN _item.holder = _person.person_id THEN 'you already' ELSE coalesce(_holder, 'somebody') END
      USING ERRCODE = 'WF081', DETAIL = jsonb_build_object('holder', _holder, 'state', _item.state, 'since',
        wed.rfc3339(_item.held_since))::text,
      HINT = 'Choose another item, or ask the holder to release or delegate it.';
  ELSIF _to = 'LOCKED' AND NOT _item.disconnected THEN
    RAISE EXCEPTION 'work item % (%) may not be locked: its task does not allow disconnected work', _item_id, _item.task
      USING ERRCODE = 'WF083', HINT = 'Select it and do it while connected, or set DISCONNECTED_OPERATION of its task.';
  END IF;
  PERFORM wed.refuse_performer(_item, _person.person_id);
  IF wed.is_offered(_item, _person, clock_timestamp()) THEN
    RAISE EXCEPTION 'work item % (%) changed hands since it was seen', _item_id, _item.task USING ERRCODE = 'WF081',
      HINT = 'Look at the worklist again.';
  END IF;
  RAISE EXCEPTION 'work item % (%) is not on the worklist of "%"', _item_id, _item.task, _person.name
    USING ERRCODE = 'WF083',
    HINT = 'It is offered to people of its role who are connected; who connected later gets it with the next round.';
END $$;
