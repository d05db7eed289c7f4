-- Work items: made with a job, offered, claimed, reserved, ended with it.

-- Follows the pool: a job whose transition is people's work becomes a work item, and a job that leaves the pool in
-- another way than by a report withdraws it. An exception of an instance with people is reported to the person in
-- charge.
CREATE OR REPLACE FUNCTION wed.on_people_job() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item;
BEGIN
  IF TG_OP = 'INSERT' AND NEW.trname = '_EXCPT' THEN
    IF EXISTS (SELECT FROM wed.instance WHERE flow_id = NEW.flow_id AND wid = NEW.wid AND people)
      AND NOT wed.fails_to_parent(NEW.flow_id, NEW.wid) THEN
      PERFORM wed.send_message(wed.in_charge(NEW.flow_id, NEW.wid), 'task_failed', wed.work_place(NEW.flow_id, NEW.wid),
        'The instance is an exception; decide what becomes of it: retry, set its state, or cancel it.', NULL,
          clock_timestamp());
    END IF;
  ELSIF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW.blocked IS NULL THEN
    PERFORM wed.open_work_item(NEW);
  ELSE
    FOR _item IN
      UPDATE wed.work_item SET state = 'WITHDRAWN', ended_at = clock_timestamp()
      WHERE flow_id = OLD.flow_id AND wid = OLD.wid AND tgid = OLD.tgid AND ended_at IS NULL
        -- A trigger that fired itself again keeps its item.
        AND (TG_OP = 'UPDATE' OR NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = OLD.flow_id AND j.wid = OLD.wid
                                             AND j.tgid = OLD.tgid AND j.blocked IS NULL))
      RETURNING *
    LOOP
      PERFORM wed.record_work(_item, session_user, 'withdrawn', '{}', clock_timestamp());
      PERFORM wed.send_message(ARRAY[_item.holder], 'task_withdrawn', wed.work_place(_item.flow_id, _item.wid),
        format('%s is withdrawn: it is not to be done any more.', _item.task), _item.item_id, clock_timestamp())
          WHERE _item.holder IS NOT NULL;
      DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
      PERFORM wed.tell_people(_item.tenant_id);
    END LOOP;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER people_insert AFTER INSERT ON wed.job
  FOR EACH ROW WHEN (NEW.component_id IS NULL AND NEW.blocked IS NULL) EXECUTE FUNCTION wed.on_people_job();

-- A job that waits for a reservation, or for tasks before it, is nobody's work meanwhile.
CREATE OR REPLACE TRIGGER people_blocked AFTER UPDATE OF blocked ON wed.job
  FOR EACH ROW WHEN (NEW.component_id IS NULL AND (OLD.blocked IS NULL) <> (NEW.blocked IS NULL))
  EXECUTE FUNCTION wed.on_people_job();

CREATE OR REPLACE TRIGGER people_delete AFTER DELETE ON wed.job
  FOR EACH ROW WHEN (OLD.component_id IS NULL AND OLD.trname <> '_EXCPT') EXECUTE FUNCTION wed.on_people_job();

-- Tells who is in charge that an instance with people has ended, and whether it is final or was cancelled.
CREATE OR REPLACE FUNCTION wed.on_people_instance() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed.send_message(wed.in_charge(NEW.flow_id, NEW.wid), 'process_ended', wed.work_place(NEW.flow_id, NEW.wid),
    format('The process has ended: %s; it was started at %s.',
      CASE WHEN EXISTS (SELECT FROM wed.trace r WHERE r.flow_id = NEW.flow_id AND r.wid = NEW.wid
        AND r.trw = '_CANCEL') THEN 'cancelled' ELSE 'final' END,
      to_char(NEW.started AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')),
    NULL, clock_timestamp());
  DELETE FROM wed.work_reservation WHERE flow_id = NEW.flow_id AND wid = NEW.wid;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER people_end AFTER UPDATE OF status ON wed.instance
  FOR EACH ROW WHEN (NEW.people AND NEW.status = 'F' AND OLD.status <> 'F') EXECUTE FUNCTION wed.on_people_instance();

-- Makes a pending job a work item when its trigger is people's work, and offers it; of a task for each element of a
-- list as many. Returns the first one's number, or null.
CREATE OR REPLACE FUNCTION wed.open_work_item(_job wed.job) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _task wed.work_task;
  _element record;
  _first bigint;
  _opened bigint;
  -- A delay holds the item back: it arrives when its job is due.
  _now timestamptz := greatest(_job.fired_at, now(), CASE WHEN NOT wed.is_paused(_job.due) THEN _job.due END);
BEGIN
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _job.tgid;
  IF NOT FOUND OR NOT isfinite(_now) THEN RETURN NULL; END IF;
  -- A trigger that fires itself again keeps the item that is open, and with its holder.
  IF EXISTS (SELECT FROM wed.work_item
             WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid AND ended_at IS NULL) THEN
    RETURN NULL;
  END IF;
  INSERT INTO wed.work_instance (flow_id, wid, tenant_id) VALUES (_job.flow_id, _job.wid,
    _job.tenant_id) ON CONFLICT DO NOTHING;
  UPDATE wed.instance SET people = true WHERE flow_id = _job.flow_id AND wid = _job.wid AND NOT people;
  FOR _element IN
    SELECT e.part, e.element FROM wed.work_elements(wed.list_of(_job.flow_id, _job.wid, _task)) e ORDER BY e.part
  LOOP
    _opened := wed.open_part(_job, _task, _element.part, _element.element, _now);
    _first := coalesce(_first, _opened);
  END LOOP;
  RETURN _first;
END $$;

-- Opens the item of a job, or of one part of it, and offers it. One that arrives later, after a delay, is nobody's
-- until then (wed.bring_item). Returns its number.
CREATE OR REPLACE FUNCTION wed.open_part(_job wed.job, _task wed.work_task, _part integer, _element jsonb,
  _now timestamptz) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item;
BEGIN
  INSERT INTO wed.work_item (tenant_id, flow_id, wid, tgid, part, element, role_id, priority, policy, disconnected,
    candidates, only_people, task, arrived_at, renotify, offered_at, deadline_at)
  SELECT _job.tenant_id, _job.flow_id, _job.wid, _job.tgid, _part, _element, _task.role_id, _task.priority, w.policy,
    _task.disconnected, d.is_delayed OR wed.has_candidates(_task), CASE WHEN d.is_delayed THEN '{}'::integer[] END,
    _task.task, _now, w.renotify, _now, wed.add_working_time(_now,
      _task.deadline, _task.calendar_id)
  FROM wed.work_instance w CROSS JOIN (SELECT _now > clock_timestamp()) d(is_delayed)
  WHERE w.flow_id = _job.flow_id AND w.wid = _job.wid
  RETURNING * INTO _item;
  PERFORM wed.record_work(_item, 'wedflow', 'ready', '{}', _now);
  PERFORM wed.set_alarm(_item.item_id, _now);
  IF _item.only_people IS NULL THEN PERFORM wed.bring_item(_item, _task, _now); END IF;
  RETURN _item.item_id;
END $$;

-- Offers an item that has arrived; one that was reserved by who took another one away is locked for that person.
CREATE OR REPLACE FUNCTION wed.bring_item(_item wed.work_item, _task wed.work_task, _now timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _item.only_people = '{}' THEN
    UPDATE wed.work_item SET only_people = NULL, candidates = wed.has_candidates(_task)
    WHERE item_id = _item.item_id;
  END IF;
  UPDATE wed.work_item i SET state = 'LOCKED', holder = r.person_id, claim = 1, held_since = _now
  FROM wed.work_reservation r
  WHERE r.flow_id = i.flow_id AND r.wid = i.wid AND r.tgid = i.tgid AND i.item_id = _item.item_id
    AND r.person_id <> ALL (wed.barred_people(_item, _task));
  DELETE FROM wed.work_reservation WHERE flow_id = _item.flow_id AND wid = _item.wid AND tgid = _item.tgid;
  PERFORM wed.offer_item(_item.item_id, _now);
END $$;

-- Tells whether a task is offered to others than its role.
CREATE OR REPLACE FUNCTION wed.has_candidates(_task wed.work_task) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _task.users <> '{}' OR _task.groups <> '{}' OR _task.assignee IS NOT NULL OR _task.candidates IS NOT NULL
$$;

-- Tells whether a delay still holds an item back.
CREATE OR REPLACE FUNCTION wed.is_held_back(_item wed.work_item, _now timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT (_item.only_people = '{}') IS TRUE AND _item.arrived_at > _now
$$;

-- Lets the waiting items of a task that nobody has taken follow its plan: role, priority, people, deadline and
-- escalation. A deadline that who is in charge extended stays while the plan's stays.
CREATE OR REPLACE FUNCTION wed.replan_items(_before wed.work_task, _after wed.work_task) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _is_due_anew boolean := (_before.deadline, _before.calendar_id)
    IS DISTINCT FROM (_after.deadline, _after.calendar_id);
  _item wed.work_item;
BEGIN
  FOR _item IN
    UPDATE wed.work_item i SET role_id = _after.role_id, priority = _after.priority,
      disconnected = _after.disconnected,
      candidates = wed.has_candidates(_after) OR wed.is_held_back(i, _now),
      only_people = CASE WHEN wed.is_held_back(i, _now) THEN i.only_people END, not_people = '{}',
      deadline_at = CASE WHEN _is_due_anew THEN wed.add_working_time(i.arrived_at, _after.deadline, _after.calendar_id)
        ELSE i.deadline_at END,
      warned = CASE WHEN _is_due_anew THEN '{}' ELSE i.warned END,
      -- The offers go, that of an escalation too: it is made anew when its time is over.
      escalated = false
    WHERE i.item_id IN (SELECT r.item_id FROM wed.work_item r WHERE r.flow_id = _after.flow_id
      AND r.tgid = _after.tgid AND r.state = 'READY' FOR UPDATE SKIP LOCKED)
    RETURNING *
  LOOP
    DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
    PERFORM wed.offer_item(_item.item_id, _now);
    PERFORM wed.set_alarm(_item.item_id, _now);
  END LOOP;
END $$;

-- Returns whether an item belongs to a list without elements: a host ends it at once (wed.end_list).
CREATE OR REPLACE FUNCTION wed.is_without_work(_item wed.work_item) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _item.part = 0 AND EXISTS (SELECT FROM wed.work_task t WHERE t.tgid = _item.tgid AND t.for_each IS NOT NULL)
$$;

-- Ends a task whose list gives nobody work: an empty one or null with no answers, another one that is no list, or too
-- long, as a failure. A list that has elements by now is opened.
CREATE OR REPLACE FUNCTION wed.end_list(_item wed.work_item, _task wed.work_task, _now timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _job wed.job;
  _list jsonb;
  _fault text;
BEGIN
  IF NOT wed.hold_instance(_item.flow_id, _item.wid, true) THEN RETURN; END IF;
  SELECT * INTO _job FROM wed.job WHERE flow_id = _item.flow_id AND wid = _item.wid AND tgid = _item.tgid FOR UPDATE;
  IF NOT FOUND OR wed.is_paused(_job.due) THEN
    UPDATE wed.work_item SET alarm_at = _now + interval '5 seconds' WHERE item_id = _item.item_id;
    RETURN;
  END IF;
  _list := wed.list_of(_item.flow_id, _item.wid, _task);
  _fault := wed.list_fault(_list);
  UPDATE wed.work_item SET ended_at = _now, alarm_at = NULL, state = CASE
    WHEN _fault IS NOT NULL THEN 'FAILED' WHEN jsonb_array_length(nullif(_list, 'null')) > 0 THEN 'WITHDRAWN'
    ELSE 'SUCCEEDED' END
  WHERE item_id = _item.item_id RETURNING * INTO _item;
  DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
  PERFORM wed.record_work(_item, 'wedflow', lower(_item.state), jsonb_build_object('reason', _fault), _now);
  IF _item.state = 'WITHDRAWN' THEN
    PERFORM wed.open_work_item(_job);
  ELSIF _fault IS NULL THEN
    PERFORM wed.write_values(_item.flow_id, _item.wid, jsonb_build_object(_task.collect,
      wed.collected(_item, _task, NULL)) || CASE WHEN _task.state_attribute IS NULL THEN '{}'
      ELSE jsonb_build_object(_task.state_attribute, 'SUCCEEDED') END);
    PERFORM wed.pass_gate(wed.as_it_stands(_item.flow_id, _item.wid),
      wed.finished_job(_item.flow_id, _item.wid, _job.tgid, _job.token), _lease => false,
      _note => format('%s: there is no element in "%s", and nobody is asked', _item.task, _task.for_each));
  ELSE
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
    VALUES (_job.flow_id, _job.wid, _job.tgid, _job.trname, 1, 'failed', _fault, 'wedflow');
    PERFORM wed.pass_as_it_stands(_item.flow_id, _item.wid, _job.tgid, '_ABORT',
      format('%s is done for each element of "%s": %s', _item.task, _task.for_each, _fault), NULL, NULL);
  END IF;
  PERFORM pg_notify('wed_jobs', '');
END $$;

-- Offers a ready item by its instance's policy to active people of its role, and to its candidates. Policy 1 needs
-- no rows for the role: its members who were active at the last round see it (wed.is_offered).
CREATE OR REPLACE FUNCTION wed.offer_item(_item_id bigint, _now timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item;
  _task wed.work_task;
  _limit integer;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id AND state = 'READY';
  IF NOT FOUND THEN RETURN; END IF;
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  IF wed.is_held_back(_item, _now) THEN
    RETURN;
  ELSIF wed.is_without_work(_item) THEN
    UPDATE wed.work_item SET only_people = '{}', candidates = true WHERE item_id = _item_id;
    RETURN;
  ELSIF wed.is_for_some(_task) THEN
    _item := wed.look_whom(_item, _task);
  END IF;
  SELECT policy_count INTO _limit FROM wed.work_instance WHERE flow_id = _item.flow_id AND wid = _item.wid;
  IF _item.policy <> 1 THEN
    INSERT INTO wed.work_offer (person_id, item_id, offered_at)
    SELECT p.person_id, _item_id, _now FROM wed.person p
    CROSS JOIN LATERAL (
      SELECT count(*) AS assigned, count(*) FILTER (WHERE i.state = 'SELECTED') AS selected
      FROM wed.work_item i WHERE i.holder = p.person_id AND i.ended_at IS NULL) c
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE o.item_id <> _item_id) AS others, bool_or(o.item_id = _item_id) AS before
      FROM wed.work_offer o JOIN wed.work_item i USING (item_id)
      WHERE o.person_id = p.person_id AND i.state = 'READY') f
    WHERE p.tenant_id = _item.tenant_id AND p.active AND p.person_id <> ALL (_item.not_people)
      AND CASE WHEN _item.only_people IS NOT NULL THEN p.person_id = ANY (_item.only_people)
               ELSE _item.role_id IS NULL OR EXISTS (SELECT FROM wed.membership m WHERE m.person_id = p.person_id
                 AND m.role_id = _item.role_id) END
    -- People with the offer keep it: at most _limit have it at a time.
    ORDER BY _item.policy IN (2, 3) AND f.before DESC NULLS LAST,
             CASE _item.policy WHEN 2 THEN c.assigned + f.others WHEN 3 THEN c.selected END,
             CASE WHEN _item.policy = 4 THEN p.connected_at END DESC NULLS LAST, p.person_id
    LIMIT _limit ON CONFLICT DO NOTHING;
  END IF;
  IF _item.policy = 1 AND _item.only_people IS NOT NULL THEN
    INSERT INTO wed.work_offer (person_id, item_id, offered_at)
    SELECT p.person_id, _item_id, _now FROM wed.person p WHERE p.active AND p.person_id = ANY (_item.only_people)
      AND p.person_id <> ALL (_item.not_people) ON CONFLICT DO NOTHING;
  END IF;
  IF _task.users <> '{}' OR _task.groups <> '{}' THEN
    INSERT INTO wed.work_offer (person_id, item_id, offered_at)
    SELECT p.person_id, _item_id, _now FROM wed.person p
    WHERE p.tenant_id = _item.tenant_id AND p.active AND p.person_id <> ALL (_item.not_people)
      AND (p.name = ANY (_task.users) OR EXISTS (
      SELECT FROM wed.membership m WHERE m.person_id = p.person_id
      AND m.role_id IN (SELECT wed.role_named(_item.tenant_id, g) FROM unnest(_task.groups) g)))
    ORDER BY p.person_id LIMIT 10000 ON CONFLICT DO NOTHING;
  END IF;
  UPDATE wed.work_item SET offered_at = _now WHERE item_id = _item_id AND offered_at IS DISTINCT FROM _now;
  PERFORM wed.tell_people(_item.tenant_id);
END $$;

-- Looks anew for whom the data say a ready item is, and takes it off the worklists of others.
CREATE OR REPLACE FUNCTION wed.look_whom(_item wed.work_item, _task wed.work_task) RETURNS wed.work_item
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _whom record;
BEGIN
  SELECT * INTO _whom FROM wed.people_for(_item, _task);
  IF (_whom.only_people, _whom.not_people) IS DISTINCT FROM (_item.only_people, _item.not_people) THEN
    UPDATE wed.work_item SET only_people = _whom.only_people, not_people = _whom.not_people,
      candidates = candidates OR _whom.only_people IS NOT NULL
    WHERE item_id = _item.item_id RETURNING * INTO _item;
    DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
  END IF;
  RETURN _item;
END $$;

-- Ready items of a role (null: of anybody) that are on the worklist of its active people, by policy 1: the first _limit
-- by arrival, priority or deadline, for which there are indexes; all of them for other orders. Who connected after a
-- round of offers is in the next (see wed.is_offered).
CREATE OR REPLACE FUNCTION wed.offered_to_role(
  _tenant_id integer, _role_id integer, _person_id integer, _connected_at timestamptz, _order text,
  _limit integer, _now timestamptz)
RETURNS SETOF wed.work_item LANGUAGE plpgsql STABLE ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _sorted CONSTANT text := CASE _order WHEN 'arrival' THEN 'ORDER BY i.item_id LIMIT $5'
                                       WHEN 'priority' THEN 'ORDER BY i.priority DESC, i.item_id LIMIT $5'
                                       WHEN 'deadline' THEN 'ORDER BY i.deadline_at, i.item_id LIMIT $5' ELSE '' END;
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT i.* FROM wed.work_item i
     WHERE %s AND i.state = ''READY'' AND i.policy = 1 AND i.tenant_id = $1 AND i.only_people IS NULL
       AND $6 <> ALL (i.not_people)
       AND $4 >= i.offered_at + i.renotify
         * ceil(greatest(extract(epoch FROM $3 - i.offered_at), 0) / extract(epoch FROM i.renotify))::double precision
     %s', CASE WHEN _role_id IS NULL THEN 'i.role_id IS NULL AND NOT i.candidates' ELSE 'i.role_id = $2' END, _sorted)
    USING _tenant_id, _role_id, _connected_at, _now, _limit, _person_id;
END $$;

-- Returns whether a ready item is on a person's worklist. To a role (policy 1) it is offered in rounds, one every
-- `renotify`: who connected after a round is in the next.
CREATE OR REPLACE FUNCTION wed.is_offered(_item wed.work_item, _person wed.person, _now timestamptz) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _person.active AND _person.person_id <> ALL (_item.not_people) AND (
    _item.policy = 1 AND _item.only_people IS NULL
      AND (CASE WHEN _item.role_id IS NULL THEN NOT _item.candidates
             ELSE EXISTS (SELECT FROM wed.membership m WHERE m.person_id = _person.person_id
               AND m.role_id = _item.role_id) END)
      AND _now >= _item.offered_at + _item.renotify
        * ceil(greatest(extract(epoch FROM _person.connected_at - _item.offered_at), 0) / extract(epoch
          FROM _item.renotify))::double precision
    OR EXISTS (SELECT FROM wed.work_offer o WHERE o.person_id = _person.person_id AND o.item_id = _item.item_id))
$$;

-- Tells whether a ready item is for nobody: no person of the tenant, connected or not, has its role or is named for it.
CREATE OR REPLACE FUNCTION wed.is_for_nobody(_item wed.work_item) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _item.state = 'READY' AND NOT wed.is_without_work(_item) AND NOT wed.is_held_back(_item, clock_timestamp())
    AND NOT CASE
      WHEN _item.only_people IS NOT NULL THEN EXISTS (
        SELECT FROM wed.person p WHERE p.person_id = ANY (_item.only_people) AND p.person_id <> ALL (_item.not_people))
      WHEN _item.role_id IS NOT NULL THEN EXISTS (
        SELECT FROM wed.membership m WHERE m.role_id = _item.role_id AND m.person_id <> ALL (_item.not_people))
      ELSE (_item.policy <> 1 OR NOT _item.candidates) AND EXISTS (
        SELECT FROM wed.person p WHERE p.tenant_id = _item.tenant_id AND p.person_id <> ALL (_item.not_people)) END
    AND NOT EXISTS (
      SELECT FROM wed.work_task k JOIN wed.person p ON p.tenant_id = _item.tenant_id AND p.name = ANY (k.users)
      WHERE k.tgid = _item.tgid AND p.person_id <> ALL (_item.not_people))
    AND NOT EXISTS (
      SELECT FROM wed.work_task k CROSS JOIN LATERAL unnest(k.groups) g
        JOIN wed.membership m ON m.role_id = wed.role_named(_item.tenant_id, g)
      WHERE k.tgid = _item.tgid AND m.person_id <> ALL (_item.not_people))
$$;

-- Says of an item for nobody why it is, and which command mends it.
CREATE OR REPLACE FUNCTION wed.nobody_in_words(_item wed.work_item, OUT reason text, OUT command text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
      WHEN _item.only_people IS NOT NULL THEN format('%s names nobody who may do it, and nobody is in charge',
        coalesce('attribute ' || coalesce(k.assignee, k.candidates), 'task "' || k.same_as || '"', 'its data'))
      WHEN r.name IS NULL AND _item.candidates THEN 'nobody whom it names is there'
      WHEN r.name IS NULL THEN 'there are no people'
      WHEN _item.not_people = '{}' THEN format('no person has role "%s"', r.name)
      WHEN k.not_by = '_START' THEN format('who has role "%s" started the instance and may not do it', r.name)
      ELSE format('who has role "%s" did task "%s" and may not do both', r.name, k.not_by) END,
    format('wed work people --tenant %s --add NAME%s', t.name, ' --role ' || CASE
      WHEN _item.only_people IS NOT NULL THEN 'administrator' ELSE coalesce(r.name, k.groups[1]) END)
  FROM wed.tenant t LEFT JOIN wed.role_of_people r ON r.role_id = _item.role_id
    LEFT JOIN wed.work_task k ON k.tgid = _item.tgid
  WHERE t.tenant_id = _item.tenant_id
$$;

-- Returns an open item of a job that is for nobody; null where there is none.
CREATE OR REPLACE FUNCTION wed.item_for_nobody(_flow_id integer, _wid integer, _tgid integer) RETURNS wed.work_item
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT i FROM wed.work_item i WHERE i.flow_id = _flow_id AND i.wid = _wid AND i.tgid = _tgid AND i.ended_at IS NULL
    AND wed.is_for_nobody(i) ORDER BY i.part LIMIT 1
$$;

-- Tasks that wait for nobody, each once: of roles that nobody has or that exclude people, and, of items for no role and
-- for whom the data say, the 1000 that were offered first.
CREATE OR REPLACE FUNCTION wed.people_problems() RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'nobody', format('task "%s" of flow %s of tenant %s waits for a person, as in instance %s: %s', n.task, f.name,
    t.name, n.wid, w.reason), format('Add one: `%s`.', w.command)
  FROM (
    SELECT DISTINCT ON (i.tgid) i.* FROM (
      SELECT i.* FROM wed.work_task k CROSS JOIN LATERAL (
        SELECT * FROM wed.work_item i WHERE i.role_id = k.role_id AND i.state = 'READY' AND i.policy = 1 LIMIT 1000) i
      WHERE i.tgid = k.tgid AND (k.not_by IS NOT NULL
        OR NOT EXISTS (SELECT FROM wed.membership m WHERE m.role_id = k.role_id))
      UNION ALL
      (SELECT * FROM wed.work_item WHERE role_id IS NULL AND state = 'READY' AND policy = 1 ORDER BY item_id LIMIT 1000)
      UNION ALL
      (SELECT * FROM wed.work_item WHERE state = 'READY' AND (policy <> 1 OR candidates)
        ORDER BY offered_at LIMIT 1000)) i
    WHERE wed.is_for_nobody(i::wed.work_item) ORDER BY i.tgid, i.item_id) n
  JOIN wed.flow f USING (flow_id) JOIN wed.tenant t ON t.tenant_id = n.tenant_id
  CROSS JOIN LATERAL wed.nobody_in_words(n::wed.work_item) w
$$;

-- Returns whether a person holds the work item of a job.
CREATE OR REPLACE FUNCTION wed.is_held(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM wed.work_item i WHERE i.flow_id = _flow_id AND i.wid = _wid AND i.tgid = _tgid
                 AND i.ended_at IS NULL AND i.holder IS NOT NULL)
$$;

-- Claims an item for a person in one statement: of two who race, the second finds the first's name (WF081). _to is
-- _claim is the number under which the item was seen: a request that comes late, behind others, changes nothing. _to is
-- SELECTED, or LOCKED, which only items that allow disconnected work are. An item that its holder
-- selected or began may be locked by that person.
CREATE OR REPLACE FUNCTION wed.claim_work(_tenant text, _name text, _item_id bigint, _to text,
  _now timestamptz, _claim integer) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  UPDATE wed.work_item i SET state = _to, holder = _person.person_id, claim = claim + 1, held_since = _now
  WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id AND (_to = 'SELECTED' OR i.disconnected)
    AND (_claim IS NULL OR i.claim = _claim) AND _person.person_id <> ALL (i.not_people)
    AND (i.state = 'READY' AND NOT wed.is_held_back(i, _now)
         AND (wed.is_offered(i, _person, _now) OR wed.is_administrator(_person.person_id))
         OR i.state IN ('SELECTED', 'RUNNING') AND i.holder = _person.person_id AND _to = 'LOCKED')
  RETURNING * INTO _item;
  IF NOT FOUND THEN PERFORM wed.refuse_claim(_person, _item_id, _to); END IF;
  PERFORM wed.refuse_performer(_item, _person.person_id);
  PERFORM wed.record_work(_item, _person.name, lower(_to), '{}', _now);
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _item.state, 'holder', _person.name, 'claim', _item.claim);
END $$;

-- Takes an item off the other worklists for a person who does it now.
CREATE OR REPLACE FUNCTION wed.select_work(_tenant text, _name text, _item_id bigint,
  _now timestamptz DEFAULT clock_timestamp(), _claim integer DEFAULT NULL)
RETURNS jsonb LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT wed.claim_work(_tenant, _name, _item_id, 'SELECTED', _now, _claim)
$$;

-- Gives a selected item back.
CREATE OR REPLACE FUNCTION wed.unselect_work(_tenant text, _name text, _item_id bigint,
  _now timestamptz DEFAULT clock_timestamp(), _claim integer DEFAULT NULL)
RETURNS jsonb LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT wed.release_work(_tenant, _name, _item_id, ARRAY['SELECTED', 'RUNNING'], _now, _claim)
$$;

-- Takes an item off the other worklists for a person who takes it away: it stays locked while the person is not
-- connected.
CREATE OR REPLACE FUNCTION wed.lock_work(_tenant text, _name text, _item_id bigint,
  _now timestamptz DEFAULT clock_timestamp(), _claim integer DEFAULT NULL)
RETURNS jsonb LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT wed.claim_work(_tenant, _name, _item_id, 'LOCKED', _now, _claim)
$$;

-- Gives a locked item back.
CREATE OR REPLACE FUNCTION wed.unlock_work(_tenant text, _name text, _item_id bigint,
  _now timestamptz DEFAULT clock_timestamp(), _claim integer DEFAULT NULL)
RETURNS jsonb LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT wed.release_work(_tenant, _name, _item_id, ARRAY['LOCKED', 'RUNNING'], _now, _claim)
$$;

-- Gives an item back (unselect, unlock): it is ready for everybody again. For its holder only.
CREATE OR REPLACE FUNCTION wed.release_work(
  _tenant text, _name text, _item_id bigint, _states text[], _now timestamptz, _claim integer)
  RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  UPDATE wed.work_item i SET state = 'READY', holder = NULL, claim = claim + 1, held_since = NULL
  WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id AND i.holder = _person.person_id
    AND i.state = ANY (_states) AND (_claim IS NULL OR i.claim = _claim)
  RETURNING * INTO _item;
  IF NOT FOUND THEN PERFORM wed.refuse_holder(_person, _item_id); END IF;
  DELETE FROM wed.work_reservation WHERE flow_id = _item.flow_id AND wid = _item.wid AND person_id = _person.person_id;
  PERFORM wed.record_work(_item, _person.name, 'released', '{}', _now);
  PERFORM wed.offer_item(_item_id, _now);
  PERFORM wed.set_alarm(_item_id, _now);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _item.state, 'claim', _item.claim);
END $$;

-- Reserves the next item of a task in an instance for the holder of another item there: both are taken away
-- together. When its job is fired it is locked for that person at once.
CREATE OR REPLACE FUNCTION wed.reserve_work(_tenant text, _name text, _item_id bigint, _task text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _item wed.work_item := wed.see_work(_person, _item_id, clock_timestamp());
  _next wed.work_task;
  _other text;
BEGIN
  IF _item.holder IS DISTINCT FROM _person.person_id OR _item.state <> 'LOCKED' THEN
    PERFORM wed.refuse_holder(_person, _item_id);
  END IF;
  SELECT * INTO _next FROM wed.work_task WHERE flow_id = _item.flow_id AND task = _task;
  IF NOT FOUND OR NOT _next.disconnected OR _next.role_id IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.membership WHERE person_id = _person.person_id AND role_id = _next.role_id) THEN
    RAISE EXCEPTION 'task "%" cannot be taken away together with work item %', left(_task, 80), _item_id
      USING ERRCODE = 'WF083',
      HINT = 'It must be a task of the same flow that allows disconnected work, of a role of yours.';
  END IF;
  IF _next.not_by = _item.task OR _person.person_id = ANY (wed.barred_people(_item, _next)) THEN
    RAISE EXCEPTION '"%" may not take task "%" away too: who does % may not do it', _name, left(_task, 80),
      _next.not_by USING ERRCODE = 'WF083', HINT = 'Another person has to do it.';
  END IF;
  INSERT INTO wed.work_reservation (flow_id, wid, tgid, person_id) VALUES (_item.flow_id, _item.wid, _next.tgid,
    _person.person_id)
  ON CONFLICT DO NOTHING;
  SELECT p.name INTO _other FROM wed.work_reservation r JOIN wed.person p USING (person_id)
  WHERE r.flow_id = _item.flow_id AND r.wid = _item.wid AND r.tgid = _next.tgid;
  IF _other <> _name THEN
    RAISE EXCEPTION 'the next "%" of instance % is reserved by %', _task, _item.wid, _other USING ERRCODE = 'WF081',
      HINT = 'Ask that person, or do yours while connected.';
  END IF;
  PERFORM wed.record_work(_item, _name, 'reserved', jsonb_build_object('task', _task), clock_timestamp());
END $$;

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

-- Gives what a person holds to another, oldest first, at most _limit items. For administrators, and who is in charge.
CREATE OR REPLACE FUNCTION wed.reassign_work(
  _tenant text, _name text, _from text, _to text, _limit integer,
    _now timestamptz DEFAULT clock_timestamp()) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _former wed.person := wed.person_of(_tenant, _from);
  _other wed.person := wed.person_of(_tenant, _to);
  _item wed.work_item;
  _moved bigint := 0;
BEGIN
  FOR _item IN
    SELECT * FROM wed.work_item i WHERE i.holder = _former.person_id AND i.ended_at IS NULL
      AND wed.answers_for(_person.person_id, i.flow_id, i.wid)
    ORDER BY i.item_id LIMIT least(_limit, 1000) FOR UPDATE
  LOOP
    PERFORM wed.hand_over(_item, _other.person_id, _person.name, 'reassigned', _now);
    _moved := _moved + 1;
  END LOOP;
  RETURN _moved;
END $$;

-- Puts an item at a place of a person's own order: before another item, or last.
CREATE OR REPLACE FUNCTION wed.move_work(_tenant text, _name text, _item_id bigint,
  _before bigint DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _at integer;
  _moved wed.work_item := wed.see_work(_person, _item_id, clock_timestamp());
  _all bigint[] := ARRAY(SELECT (d ->> 'item')::bigint FROM wed.worklist(_tenant, _name, 'own', 1000) d);
BEGIN
  _all := array_remove(_all, _item_id);
  _at := coalesce(array_position(_all, _before), cardinality(_all) + 1);
  _all := _all[:_at - 1] || _moved.item_id || _all[_at:];
  DELETE FROM wed.work_position WHERE person_id = _person.person_id;
  INSERT INTO wed.work_position (person_id, item_id, position)
  SELECT _person.person_id, e.item_id, e.at FROM unnest(_all) WITH ORDINALITY e(item_id, at);
END $$;

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
  IF wed.is_held_back(_item, clock_timestamp()) THEN
    RAISE EXCEPTION 'work item % (%) arrives at %: a delay holds it back', _item_id, _item.task,
      wed.rfc3339(_item.arrived_at) USING ERRCODE = 'WF082', HINT = 'Wait until then.';
  ELSIF wed.is_offered(_item, _person, clock_timestamp()) THEN
    RAISE EXCEPTION 'work item % (%) changed hands since it was seen', _item_id, _item.task USING ERRCODE = 'WF081',
      HINT = 'Look at the worklist again.';
  END IF;
  RAISE EXCEPTION 'work item % (%) is not on the worklist of "%"', _item_id, _item.task, _person.name
    USING ERRCODE = 'WF083',
    HINT = 'It is offered to people of its role who are connected; who connected later gets it with the next round.';
END $$;

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

-- Returns the items of a person's worklist: what the person holds, and what is offered, of each role the first _limit
-- in the order where it is arrival or priority.
CREATE OR REPLACE FUNCTION wed.found_work(_person wed.person, _order text, _limit integer, _now timestamptz)
RETURNS SETOF wed.work_item LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT i.* FROM wed.work_item i WHERE i.holder = _person.person_id AND i.ended_at IS NULL
  UNION ALL
  (SELECT i.* FROM (SELECT m.role_id FROM wed.membership m
    WHERE m.person_id = _person.person_id UNION ALL SELECT NULL) r
   CROSS JOIN LATERAL wed.offered_to_role(_person.tenant_id, r.role_id, _person.person_id,
     _person.connected_at, _order, _limit, _now) i
   WHERE _person.active
   UNION
   SELECT i.* FROM wed.work_offer o JOIN wed.work_item i USING (item_id)
   WHERE o.person_id = _person.person_id AND i.state = 'READY' AND _person.active)
$$;

-- Appends to an item's history who did what.
CREATE OR REPLACE FUNCTION wed.record_work(_item wed.work_item, _person text, _action text, _detail jsonb,
  _now timestamptz)
RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.work_event (item_id, flow_id, wid, at, person, action, detail)
  VALUES (_item.item_id, _item.flow_id, _item.wid, _now, _person, _action, wed.short_detail(jsonb_strip_nulls(_detail)))
$$;

-- Marks an item running: its holder is at it. A locked one stays locked, for it may be taken away. A task whose plan
-- has a state attribute, and whose condition still holds then, says so in the instance's state too, for rules that wait
-- for it: an event, through the gate.
CREATE OR REPLACE FUNCTION wed.start_work(_tenant text, _name text, _item_id bigint,
  _now timestamptz DEFAULT clock_timestamp(), _claim integer DEFAULT NULL)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
  _told text;
BEGIN
  SELECT i.* INTO _item FROM wed.work_item i WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id;
  SELECT w.state_attribute INTO _told FROM wed.work_task w WHERE w.tgid = _item.tgid;
  IF _told IS NOT NULL THEN
    -- The instance first, as everywhere.
    EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE',
                   (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) USING _item.wid;
  END IF;
  UPDATE wed.work_item i SET state = CASE i.state WHEN 'LOCKED' THEN 'LOCKED' ELSE 'RUNNING' END
  WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id AND i.holder = _person.person_id
    AND i.state IN ('SELECTED', 'LOCKED') AND (_claim IS NULL OR i.claim = _claim) RETURNING * INTO _item;
  IF NOT FOUND THEN PERFORM wed.refuse_holder(_person, _item_id); END IF;
  IF _told IS NOT NULL THEN
    PERFORM wed.tell_running(_item, _told, _person.name);
  END IF;
  PERFORM wed.record_work(_item, _person.name, 'running', '{}', _now);
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _item.state, 'holder', _person.name, 'claim', _item.claim);
END $$;

-- Sets a task's state attribute to RUNNING by an event, unless the task's own condition would no longer hold.
CREATE OR REPLACE FUNCTION wed.tell_running(_item wed.work_item, _attribute text, _person text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _rows wed.evaluated[];
BEGIN
  PERFORM wed.write_values(_item.flow_id, _item.wid, jsonb_build_object(_attribute, 'RUNNING'));
  _rows := wed.as_it_stands(_item.flow_id, _item.wid);
  IF NOT EXISTS (SELECT FROM unnest(_rows[1].fired) f WHERE f & 4294967295 = _item.tgid) THEN
    -- Takes the write back.
    RAISE EXCEPTION 'its condition would not hold' USING ERRCODE = 'WF089';
  END IF;
  PERFORM wed.pass_gate(_rows, NULL, NULL, '_EVENT', NULL, _person);
EXCEPTION WHEN SQLSTATE 'WF089' THEN
  NULL;
END $$;
