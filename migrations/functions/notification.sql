-- Deadlines and notifications of work: alarms, escalation, the chore of people's work.

-- Changes how an instance notifies people while it runs: policy (1 to 4), how many people, the pause between
-- rounds, the warnings and the transfer value; null leaves as it is. Open items are offered anew by it.
CREATE OR REPLACE FUNCTION wed.set_notification(
  _flow_id integer, _wid integer, _policy integer, _count integer, _renotify interval, _warnings integer[],
    _transfer integer,
  _now timestamptz DEFAULT clock_timestamp()) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _of wed.work_instance;
  _item_id bigint;
BEGIN
  IF (_transfer IS NOT NULL AND _transfer <> ALL (coalesce(_warnings, '{}'))) OR _policy NOT BETWEEN 1 AND 4
    OR _count NOT BETWEEN 1 AND 1000
     OR 1 > ANY (_warnings) OR 876600 < ANY (_warnings) OR cardinality(_warnings) > 100 THEN
    RAISE EXCEPTION
      'the policy is 1 to 4, for 1 to 1000 people; at most 100 warnings are hours from 1 to 876600, one of them the '
      'transfer value'
      USING ERRCODE = 'WF085', HINT = 'For example policy 2 for 3 people, warnings {6,12,24}, transfer 6.';
  ELSIF _renotify < interval '1 second' THEN
    RAISE EXCEPTION 'the pause between rounds is %, and is at least 1 s', _renotify USING ERRCODE = 'WF085',
      HINT = 'For example 5 minutes.';
  END IF;
  PERFORM wed.check_span('WF085', 'the pause between rounds', _renotify);
  UPDATE wed.work_instance SET policy = coalesce(_policy, policy), policy_count = coalesce(_count, policy_count),
    renotify = coalesce(_renotify, renotify), warnings = coalesce(_warnings, warnings),
    transfer = CASE WHEN _warnings IS NULL THEN transfer ELSE _transfer END
  WHERE flow_id = _flow_id AND wid = _wid RETURNING * INTO _of;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no people work at instance %', _wid USING ERRCODE = 'WF080', HINT = 'Plan its work first.';
  END IF;
  FOR _item_id IN
    UPDATE wed.work_item i SET policy = _of.policy, renotify = _of.renotify
    WHERE flow_id = _flow_id AND wid = _wid AND ended_at IS NULL RETURNING item_id
  LOOP
    DELETE FROM wed.work_offer WHERE item_id = _item_id;
    PERFORM wed.offer_item(_item_id, _now);
    PERFORM wed.set_alarm(_item_id, _now);
  END LOOP;
END $$;

-- Changes how an instance of a tenant notifies people, for who answers for it (see wed.set_notification).
CREATE OR REPLACE FUNCTION wed.change_notification(
  _tenant text, _name text, _flow text, _wid integer, _policy integer, _count integer, _renotify interval,
    _warnings integer[],
  _transfer integer, _now timestamptz DEFAULT clock_timestamp()) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _of wed.work_instance;
BEGIN
  SELECT w.* INTO _of FROM wed.flow f JOIN wed.work_instance w USING (flow_id)
  WHERE f.tenant_id = _person.tenant_id AND f.name = _flow AND w.wid = _wid;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no people work at instance % of "%"', _wid, left(_flow, 80) USING ERRCODE = 'WF080',
      HINT = 'List your items: `wed work list`.';
  ELSIF NOT wed.answers_for(_person.person_id, _of.flow_id, _wid) THEN
    RAISE EXCEPTION '"%" may not change how instance % notifies people', _name, _wid USING ERRCODE = 'WF083',
      HINT = 'The person in charge of the instance and administrators may.';
  END IF;
  PERFORM wed.set_notification(_of.flow_id, _wid, _policy, _count, _renotify, _warnings, _transfer, _now);
  SELECT * INTO _of FROM wed.work_instance WHERE flow_id = _of.flow_id AND wid = _wid;
  RETURN jsonb_build_object('policy', _of.policy, 'count', _of.policy_count, 'renotify_seconds',
    extract(epoch FROM _of.renotify),
                            'warnings', _of.warnings, 'transfer', _of.transfer);
END $$;

-- Says when the chore `work` must look at an item next: the end of its delay, the next of its instance's warnings, its
-- deadline, its escalation; at once at one whose list gives nobody work. Warnings that were over when the item arrived
-- are not sent.
CREATE OR REPLACE FUNCTION wed.set_alarm(_item_id bigint, _now timestamptz) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  UPDATE wed.work_item i SET alarm_at = least(
    (SELECT min(i.deadline_at - v * interval '1 hour') FROM wed.work_instance w CROSS
      JOIN LATERAL unnest(w.warnings || 0) v
     WHERE w.flow_id = i.flow_id AND w.wid = i.wid AND v <> ALL (i.warned)
       AND i.deadline_at - v * interval '1 hour' > i.arrived_at),
    (SELECT i.arrived_at + t.escalate_after FROM wed.work_task t WHERE t.tgid = i.tgid AND NOT i.escalated
      AND i.state IN ('READY', 'SELECTED')),
    CASE WHEN i.only_people = '{}' AND i.state = 'READY' AND i.arrived_at >= _now THEN i.arrived_at END,
    CASE WHEN wed.is_without_work(i) THEN i.arrived_at END)
  WHERE i.item_id = _item_id
$$;

-- Does what an item's time brings: the end of its delay, warnings to its holder and the person in charge, the transfer
-- at the transfer value unless that person may not do it, the word that the deadline passed, the escalation of an item
-- that nobody took or that somebody only selected.
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
  IF _item.only_people = '{}' AND _item.state = 'READY' THEN
    PERFORM wed.bring_item(_item, _task, _now);
    SELECT * INTO _item FROM wed.work_item WHERE item_id = _item.item_id;
  END IF;
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
      PERFORM wed.send_message(ARRAY(SELECT p FROM unnest(wed.people_at(_item)) p WHERE p <> ALL (_charge)),
        'task_late', _place, format('The deadline of %s has passed.', _item.task), _item.item_id, _now);
    ELSE
      PERFORM wed.send_message(_charge || array_remove(ARRAY[_item.holder], _charge[1]), 'task_deadline', _place,
        format('%s: %s hours are left until its deadline.', _item.task, _value), _item.item_id, _now);
    END IF;
    PERFORM wed.record_work(_item, 'wedflow', 'deadline', jsonb_build_object('hours_left', _value), _now);
    IF _value = _of.transfer AND _of.in_charge IS NOT NULL AND _item.holder IS DISTINCT FROM _of.in_charge
        AND _of.in_charge <> ALL (wed.barred_people(_item, _task)) THEN
      PERFORM wed.hand_over(_item, _of.in_charge, 'deadline', 'transferred', _now);
      SELECT * INTO _item FROM wed.work_item WHERE item_id = _item.item_id;
      _moved := true;
    END IF;
  END LOOP;
  IF NOT _item.escalated AND NOT _moved AND _item.arrived_at + _task.escalate_after <= _now THEN
    IF _item.state IN ('READY', 'SELECTED') THEN
      UPDATE wed.work_item SET escalated = true WHERE item_id = _item.item_id;
      PERFORM wed.escalate_work(_item, _task.escalate_to, _now);
    END IF;
  END IF;
  PERFORM wed.set_alarm(_item.item_id, _now);
END $$;

-- The people at an item: its holder, or those who may take it, connected or not; at most 1000.
CREATE OR REPLACE FUNCTION wed.people_at(_item wed.work_item) RETURNS integer[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN _item.holder IS NOT NULL THEN ARRAY[_item.holder] ELSE ARRAY(
    SELECT p.person_id FROM (
      SELECT o.person_id FROM wed.work_offer o WHERE o.item_id = _item.item_id
      UNION
      SELECT m.person_id FROM wed.membership m WHERE m.role_id = _item.role_id AND _item.only_people IS NULL) p
    WHERE p.person_id <> ALL (_item.not_people) ORDER BY 1 LIMIT 1000) END
$$;

-- Decides of an item whose deadline has passed: it continues, with another deadline when one is given, or it stops,
-- which is a failure. For who is in charge.
CREATE OR REPLACE FUNCTION wed.decide_late(
  _tenant text, _name text, _item_id bigint, _continue boolean, _extend interval DEFAULT NULL,
  _now timestamptz DEFAULT clock_timestamp()) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id AND tenant_id = _person.tenant_id
    AND ended_at IS NULL;
  IF NOT FOUND OR NOT wed.answers_for(_person.person_id, _item.flow_id, _item.wid) THEN
    PERFORM wed.take_over_work(_tenant, _name, _item_id, _now);
  END IF;
  PERFORM wed.check_span('WF085', 'the time that the deadline is extended by', _extend);
  IF _continue THEN
    UPDATE wed.work_item SET deadline_at = coalesce(_now + _extend, deadline_at),
      warned = CASE WHEN _extend IS NULL THEN warned ELSE '{}' END
    WHERE item_id = _item_id RETURNING * INTO _item;
    PERFORM wed.set_alarm(_item_id, _now);
    PERFORM wed.record_work(_item, _name, 'continued',
      jsonb_build_object('deadline_at', wed.rfc3339(_item.deadline_at)), _now);
    RETURN wed.work_document(_item);
  END IF;
  IF _item.holder IS DISTINCT FROM _person.person_id THEN
    PERFORM wed.hand_over(_item, _person.person_id, _name, 'taken_over', _now);
  END IF;
  RETURN wed.report_work(_tenant, _name, _item_id, false, '{}', 'late-' || _item_id, 'stopped: its deadline passed',
    NULL, _now);
END $$;

-- Decides what becomes of an instance that is an exception, for who is in charge of it: 'retry' fires again what its
-- state satisfies, 'set' sets attributes, 'cancel' ends it. Returns the instance's status.
CREATE OR REPLACE FUNCTION wed.decide_exception(
  _tenant text, _name text, _flow text, _wid integer, _decision text, _values jsonb, _reason text,
  _now timestamptz DEFAULT clock_timestamp()) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _flow_id integer := (SELECT flow_id FROM wed.flow WHERE tenant_id = _person.tenant_id AND name = _flow);
  _actor text := 'person:' || _name;
  _status "char" := (SELECT status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid AND people);
BEGIN
  IF _status IS NULL OR NOT wed.answers_for(_person.person_id, _flow_id, _wid) THEN
    RAISE EXCEPTION '"%" does not answer for an instance % of "%"', _name, _wid, left(_flow, 80)
      USING ERRCODE = 'WF083', HINT = 'The person in charge of an instance and administrators decide on it.';
  ELSIF _status <> 'E' THEN
    RAISE EXCEPTION 'instance % of "%" is no exception', _wid, left(_flow, 80) USING ERRCODE = 'WF082',
      HINT = 'There is nothing to decide: look at its items, `wed work list`.';
  END IF;
  CASE _decision
    WHEN 'retry' THEN PERFORM wed.retry_instance(_flow_id, _wid, _actor, _reason);
    WHEN 'set' THEN PERFORM wed.set_state(_flow_id, _wid, coalesce(_values, '{}'), _actor, _reason);
    WHEN 'cancel' THEN PERFORM wed.cancel_instance(_flow_id, _wid, _actor, _reason);
    ELSE
      RAISE EXCEPTION 'there is no decision "%"', left(_decision, 80) USING ERRCODE = 'WF085',
        HINT = 'Decide retry, set or cancel.';
  END CASE;
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN jsonb_build_object('flow', _flow, 'wid', _wid, 'status',
    (SELECT status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid));
END $$;

-- Offers an item that nobody took, or that somebody only selected, to the role or person that its task names for that,
-- and tells them and who is in charge. Of a selected one the offer holds once it is given back.
CREATE OR REPLACE FUNCTION wed.escalate_work(_item wed.work_item, _to text, _now timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _people integer[] := ARRAY(
    SELECT p.person_id FROM wed.person p
    WHERE p.tenant_id = _item.tenant_id AND p.person_id <> ALL (_item.not_people) AND (p.name = _to OR EXISTS (
      SELECT FROM wed.membership m WHERE m.person_id = p.person_id
        AND m.role_id = wed.role_named(_item.tenant_id, _to)))
    ORDER BY p.person_id LIMIT 10000);
  _charge integer[] := wed.in_charge(_item.flow_id, _item.wid);
BEGIN
  INSERT INTO wed.work_offer (person_id, item_id, offered_at)
  SELECT p, _item.item_id, _now FROM unnest(_people) p ON CONFLICT DO NOTHING;
  PERFORM wed.send_message(_charge || ARRAY(SELECT p FROM unnest(_people[:1000]) p WHERE p <> ALL (_charge)),
    'task_escalated', wed.work_place(_item.flow_id, _item.wid),
    format(CASE WHEN _item.holder IS NULL THEN 'Nobody took %s; it was offered to %s as well.'
      ELSE '%s is selected, and nobody has begun it; it was offered to %s as well.' END,
      _item.task, coalesce(_to, 'nobody else')), _item.item_id, _now);
  PERFORM wed.record_work(_item, 'wedflow', 'escalated', jsonb_build_object('to', _to), _now);
  PERFORM wed.tell_people(_item.tenant_id);
END $$;

-- Chore `work`: what time brings to worklists: the next rounds of offers, warnings, transfers, escalations.

-- Work items that are due as of _now. (Seconds are compared: an interval added to a time could be out of range.)
CREATE OR REPLACE FUNCTION wed.due_work(_now timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT i.tenant_id, i.flow_id, i.item_id, 0, i.offered_at FROM wed.work_item i
  WHERE i.state = 'READY' AND (i.policy <> 1 OR i.candidates)
    AND extract(epoch FROM _now - i.offered_at) >= extract(epoch FROM i.renotify)
  UNION
  SELECT i.tenant_id, i.flow_id, i.item_id, 1, i.alarm_at FROM wed.work_item i
  WHERE i.ended_at IS NULL AND i.alarm_at <= _now
$$;

-- Offers an item anew (_alarm 0), or rings its alarm (1), as of _now.
CREATE OR REPLACE FUNCTION wed.do_work(
  _tenant_id integer, _flow_id integer, _item_id bigint, _alarm integer, _now timestamptz DEFAULT clock_timestamp())
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item;
  _task wed.work_task;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN NULL;
  ELSIF _alarm = 0 AND _item.state = 'READY' THEN
    PERFORM wed.offer_item(_item_id, _now);
  ELSIF _alarm = 1 AND _item.ended_at IS NULL AND _item.alarm_at <= _now THEN
    IF wed.is_without_work(_item) THEN
      SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
      PERFORM wed.end_list(_item, _task, _now);
    ELSE
      PERFORM wed.ring_alarm(_item, _now);
    END IF;
  END IF;
  RETURN 'true';
END $$;

-- Makes people inactive who have given no sign of life for three contacts of a minute each.
CREATE OR REPLACE FUNCTION wed.miss_people(_now timestamptz DEFAULT clock_timestamp()) RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH missed AS (
    UPDATE wed.person p SET active = false FROM (
      SELECT person_id FROM wed.person WHERE active AND contact_at < _now - interval '3 minutes'
      ORDER BY contact_at LIMIT 1000 FOR UPDATE SKIP LOCKED) s
    WHERE p.person_id = s.person_id RETURNING 1)
  SELECT count(*) FROM missed
$$;
