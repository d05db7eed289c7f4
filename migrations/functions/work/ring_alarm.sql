-- Does what an item's time brings: warnings to its holder and the person in charge, the transfer at the transfer
-- value, the word that the deadline passed, the escalation of an item that nobody took.
CREATE OR REPLACE FUNCTION wed.ring_alarm(_item wed.work_item, _now timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of wed.work_instance;
  _task wed.work_task;
  _charge integer[] := wed.in_charge(_item.flow_id, _item.wid);
  _place text := wed.work_place(_item.flow_id, _item.wid);
  _value integer;
  _moved boolean := false;
BEGIN
  SELECT * INTO _of FROM wed.work_instance WHERE flow_id = _item.flow_id AND wid = _item.wid;
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  FOR _value IN
    SELECT v FROM unnest(_of.warnings || 0) v
    WHERE v <> ALL (_item.warned) AND _item.deadline_at - v * interval '1 hour' > _item.arrived_at
      AND _item.deadline_at - v * interval '1 hour' <= _now ORDER BY v DESC
  LOOP
    UPDATE wed.work_item SET warned = warned || _value WHERE item_id = _item.item_id;
    IF _value = 0 THEN
      PERFORM wed.send_message(_charge, 'task_late', _place,
        format('The deadline of %s has passed; decide whether it continues or stops.', _item.task), _item.item_id,
          _now);
    ELSE
      PERFORM wed.send_message(_charge || array_remove(ARRAY[_item.holder], _charge[1]), 'task_deadline', _place,
        format('%s: %s hours are left until its deadline.', _item.task, _value), _item.item_id, _now);
    END IF;
    PERFORM wed.record_work(_item, 'wedflow', 'deadline', jsonb_build_object('hours_left', _value), _now);
    IF _value = _of.transfer AND _of.in_charge IS NOT NULL AND _item.holder IS DISTINCT FROM _of.in_charge THEN
      PERFORM wed.hand_over(_item, _of.in_charge, 'deadline', 'transferred', _now);
      SELECT * INTO _item FROM wed.work_item WHERE item_id = _item.item_id;
      _moved := true;
    END IF;
  END LOOP;
  IF NOT _item.escalated AND NOT _moved AND _item.arrived_at + _task.escalate_after <= _now THEN
    UPDATE wed.work_item SET escalated = true WHERE item_id = _item.item_id;
    IF _item.state = 'READY' THEN
      PERFORM wed.escalate_work(_item, _task.escalate_to, _now);
    END IF;
  END IF;
  PERFORM wed.set_alarm(_item.item_id, _now);
END $$;
