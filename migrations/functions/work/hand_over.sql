-- Makes a person the holder of an open item, in one statement. Not while it changed hands since _claim was read.
CREATE OR REPLACE FUNCTION wed.hand_over(_item wed.work_item, _to integer, _by text, _action text,
  _now timestamptz) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _moved wed.work_item;
  _name text := (SELECT name FROM wed.person WHERE person_id = _to);
  _former integer[] := array_remove(ARRAY[_item.holder], NULL);
BEGIN
  PERFORM wed.refuse_performer(_item, _to);
  UPDATE wed.work_item i SET state = 'SELECTED', holder = _to, claim = claim + 1, held_since = _now
  WHERE i.item_id = _item.item_id AND i.claim = _item.claim AND i.ended_at IS NULL RETURNING * INTO _moved;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'work item % (%) changed hands meanwhile', _item.item_id, _item.task USING ERRCODE = 'WF081',
      HINT = 'Look at it again: `wed work history`.';
  END IF;
  DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
  DELETE FROM wed.work_reservation WHERE flow_id = _item.flow_id AND wid = _item.wid AND person_id = _item.holder;
  PERFORM wed.record_work(_moved, _by, _action, jsonb_build_object('to', _name), _now);
  PERFORM wed.send_message(array_remove(_former, _to),
    CASE _action WHEN 'transferred' THEN 'task_transferred' ELSE 'task_delegated' END,
    wed.work_place(_item.flow_id, _item.wid),
    format('%s was given to %s (%s by %s).', _item.task, _name, _action, _by), _item.item_id, _now);
  PERFORM wed.send_message(ARRAY[_to],
    CASE _action WHEN 'transferred' THEN 'task_transferred' ELSE 'task_delegated' END,
    wed.work_place(_item.flow_id, _item.wid),
    format('%s is yours now (%s by %s).', _item.task, _action, _by), _item.item_id, _now);
  PERFORM wed.tell_people(_item.tenant_id);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _moved.state, 'holder', _name, 'claim', _moved.claim);
END $$;
