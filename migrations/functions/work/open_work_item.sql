-- Makes a pending job a work item when its trigger is people's work, and offers it; of a task for each element of a
-- list as many. Returns the first one's number, or null.
CREATE OR REPLACE FUNCTION wed.open_work_item(_job wed.job) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _task wed.work_task;
  _element record;
  _first bigint;
  _opened bigint;
  _now timestamptz := greatest(_job.fired_at, now());
BEGIN
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _job.tgid;
  IF NOT FOUND THEN RETURN NULL; END IF;
  -- A trigger that fires itself again keeps the item that is open, and with its holder.
  IF EXISTS (SELECT FROM wed.work_item
             WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid AND ended_at IS NULL) THEN
    RETURN NULL;
  END IF;
  INSERT INTO wed.work_instance (flow_id, wid, tenant_id) VALUES (_job.flow_id, _job.wid,
    _job.tenant_id) ON CONFLICT DO NOTHING;
  UPDATE wed.instance SET people = true WHERE flow_id = _job.flow_id AND wid = _job.wid AND NOT people;
  FOR _element IN SELECT e.part, e.element FROM wed.work_elements(_job.flow_id, _job.wid, _task) e ORDER BY e.part LOOP
    _opened := wed.open_part(_job, _task, _element.part, _element.element, _now);
    _first := coalesce(_first, _opened);
  END LOOP;
  RETURN _first;
END $$;

-- Opens the item of a job, or of one part of it, and offers it. Returns its number.
CREATE OR REPLACE FUNCTION wed.open_part(_job wed.job, _task wed.work_task, _part integer, _element jsonb,
  _now timestamptz) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item;
BEGIN
  INSERT INTO wed.work_item (tenant_id, flow_id, wid, tgid, part, element, role_id, priority, policy, disconnected,
    candidates, task, arrived_at, renotify, offered_at, deadline_at)
  SELECT _job.tenant_id, _job.flow_id, _job.wid, _job.tgid, _part, _element, _task.role_id, _task.priority, w.policy,
    _task.disconnected,
    _task.users <> '{}' OR _task.groups <> '{}' OR _task.assignee IS NOT NULL OR _task.candidates IS NOT NULL,
    _task.task, _now, w.renotify, _now, wed.add_working_time(_now,
      _task.deadline, _task.calendar_id)
  FROM wed.work_instance w WHERE w.flow_id = _job.flow_id AND w.wid = _job.wid
  RETURNING * INTO _item;
  PERFORM wed.record_work(_item, 'wedflow', 'ready', '{}', _now);
  PERFORM wed.set_alarm(_item.item_id, _now);
  UPDATE wed.work_item i SET state = 'LOCKED', holder = r.person_id, claim = 1, held_since = _now
  FROM wed.work_reservation r
  WHERE r.flow_id = i.flow_id AND r.wid = i.wid AND r.tgid = i.tgid AND i.item_id = _item.item_id;
  DELETE FROM wed.work_reservation WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
  PERFORM wed.offer_item(_item.item_id, _now);
  RETURN _item.item_id;
END $$;
