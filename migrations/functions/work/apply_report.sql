-- Ends an item whose holder reports it, whose rows are held: as a host's batch does, the state is written here and
-- taken through the gate. A failure that no rule expects makes the instance an exception, of which who is in charge
-- decides.
CREATE OR REPLACE FUNCTION wed.apply_report(
  _item wed.work_item, _person wed.person, _success boolean, _values jsonb, _reason text,
    _done_at timestamptz, _now timestamptz) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _task wed.work_task;
  _job wed.job;
  -- In the trace a minute's difference is no news.
  _done text := CASE WHEN _done_at < _now - interval '1 minute' THEN 'done at ' || wed.rfc3339(_done_at) END;
  _note text := wed.reasoned(_person.name, nullif(concat_ws('; ', _reason, _done), ''));
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
  IF _item.part > 0 AND NOT wed.answer_part(_item, _task, _person, _success, _values, _reason) THEN
    NULL;
  ELSIF _success OR _item.part > 0 OR _task.state_attribute IS NOT NULL AND _task.failure_expected THEN
    _values := CASE WHEN _item.part > 0 THEN '{}' ELSE _values END;
    IF _task.state_attribute IS NOT NULL THEN
      _values := _values || jsonb_build_object(_task.state_attribute,
        CASE WHEN _item.part > 0 THEN 'SUCCEEDED' ELSE _state END);
    END IF;
    PERFORM wed.write_values(_item.flow_id, _item.wid, _values);
    PERFORM wed.pass_gate(wed.as_it_stands(_item.flow_id, _item.wid), wed.result_of(_item.wid, _job.tgid, _job.token),
                          _note => _note);
  ELSE
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
    VALUES (_job.flow_id, _job.wid, _job.tgid, _job.trname, 1, 'failed', _note, session_user);
    PERFORM wed.pass_as_it_stands(_item.flow_id, _item.wid, _job.tgid, '_ABORT',
      format('%s: failed by %s', _job.trname, wed.reasoned(_person.name, _reason)), NULL, NULL);
  END IF;
  PERFORM wed.record_work(_item, _person.name, lower(_state),
    jsonb_build_object('set', (SELECT jsonb_agg(k ORDER BY k) FROM jsonb_object_keys(_values) k), 'reason',
      _reason, 'done_at', wed.rfc3339(_done_at)), _now);
  IF NOT _success THEN
    PERFORM wed.send_message(wed.in_charge(_item.flow_id, _item.wid), 'task_failed', wed.work_place(_item.flow_id,
      _item.wid),
      format('%s failed: %s', _item.task, wed.reasoned(_person.name, _reason)), _item.item_id, _now);
  END IF;
  PERFORM wed.tell_people(_item.tenant_id);
  RETURN jsonb_build_object('applied', true, 'item', _item.item_id, 'state', _state,
    'instance', (SELECT status FROM wed.instance WHERE flow_id = _item.flow_id AND wid = _item.wid));
END $$;

-- Keeps the answer of a part among the others, where it overwrites none. False while more answers are waited for: then
-- the state passes the gate as it does at an event, and the job stays.
CREATE OR REPLACE FUNCTION wed.answer_part(_item wed.work_item, _task wed.work_task, _person wed.person,
  _success boolean, _values jsonb, _reason text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _answer jsonb := _values || jsonb_strip_nulls(jsonb_build_object('by', _person.name, 'success', _success,
    'reason', _reason));
BEGIN
  PERFORM wed.write_values(_item.flow_id, _item.wid, jsonb_build_object(_task.collect,
    wed.collected(_item, _task, _answer)));
  IF wed.is_complete(_item, _task) THEN RETURN true; END IF;
  PERFORM wed.pass_gate(wed.as_it_stands(_item.flow_id, _item.wid), NULL, NULL, '_EVENT', NULL, _person.name);
  RETURN false;
END $$;
