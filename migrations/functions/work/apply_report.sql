-- Ends an item whose holder reports it, whose rows are held: as a host's batch does, the state is written here and
-- taken through the gate. A failure without an attribute for it makes the instance an exception.
CREATE OR REPLACE FUNCTION wed.apply_report(
  _item wed.work_item, _person wed.person, _success boolean, _values jsonb, _reason text,
    _now timestamptz) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _task wed.work_task;
  _job wed.job;
  _state text := CASE WHEN _success THEN 'SUCCEEDED' ELSE 'FAILED' END;
BEGIN
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  SELECT * INTO _job FROM wed.job WHERE flow_id = _item.flow_id AND wid = _item.wid AND tgid = _item.tgid FOR UPDATE;
  IF wed.is_paused(_job.due) THEN
    RAISE EXCEPTION 'instance % is paused', _item.wid USING ERRCODE = 'WF087',
      HINT = 'Report again when an operator resumed it.';
  END IF;
  _values := wed.checked_values(_item, _task, _values);
  IF _success AND _task.form IS NOT NULL THEN
    PERFORM wed.check_form(_task.form, _values, _item.task);
  END IF;
  PERFORM wed.refuse_values(f, _values) FROM wed.flow f WHERE f.flow_id = _item.flow_id;
  UPDATE wed.work_item SET state = _state, ended_at = _now, alarm_at = NULL WHERE item_id = _item.item_id;
  DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
  IF _success OR _task.state_attribute IS NOT NULL THEN
    IF _task.state_attribute IS NOT NULL THEN
      _values := _values || jsonb_build_object(_task.state_attribute, _state);
    END IF;
    PERFORM wed.write_values(_item.flow_id, _item.wid, _values);
    PERFORM wed.pass_gate(wed.as_it_stands(_item.flow_id, _item.wid), wed.result_of(_item.wid, _job.tgid, _job.token),
                          _note => wed.reasoned(_person.name, _reason));
  ELSE
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
    VALUES (_job.flow_id, _job.wid, _job.tgid, _job.trname, 1, 'failed', wed.reasoned(_person.name, _reason),
      session_user);
    PERFORM wed.pass_as_it_stands(_item.flow_id, _item.wid, _job.tgid, '_ABORT',
      format('%s: failed by %s', _job.trname, wed.reasoned(_person.name, _reason)), NULL, NULL);
  END IF;
  PERFORM wed.record_work(_item, _person.name, lower(_state),
    jsonb_build_object('set', (SELECT jsonb_agg(k ORDER BY k) FROM jsonb_object_keys(_values) k), 'reason',
      _reason), _now);
  IF NOT _success THEN
    PERFORM wed.send_message(wed.in_charge(_item.flow_id, _item.wid), 'task_failed', wed.work_place(_item.flow_id,
      _item.wid),
      format('%s failed: %s', _item.task, wed.reasoned(_person.name, _reason)), _item.item_id, _now);
  END IF;
  PERFORM wed.tell_people(_item.tenant_id);
  RETURN jsonb_build_object('applied', true, 'item', _item.item_id, 'state', _state,
    'instance', (SELECT status FROM wed.instance WHERE flow_id = _item.flow_id AND wid = _item.wid));
END $$;
