-- Plans of a flow for people: tasks, roles, forms, deadlines, calendars.

-- Says which transitions of a flow are people's work: the plan of a process definition, or of `work` in a flow's TOML.
-- Replaces the plan before; jobs that are pending become work items. Returns how many did.
CREATE OR REPLACE FUNCTION wed.plan_work(_flow_id integer, _plan jsonb) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _flow wed.flow;
  _task jsonb;
  _kept integer[] := '{}';
  _opened bigint;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  IF NOT FOUND OR jsonb_typeof(_plan -> 'tasks') IS DISTINCT FROM 'array' THEN
    RAISE EXCEPTION 'the plan of work is not for a flow, or has no list "tasks"' USING ERRCODE = 'WF085',
      HINT = 'A plan is {"creator_role": …, "tasks": [{"task", "trigger", "type", "role", …}], "data": […]}.';
  ELSIF jsonb_array_length(_plan -> 'tasks') > 1000 OR octet_length(_plan::text) > 1048576 THEN
    RAISE EXCEPTION 'the plan of work has more than 1000 tasks or 1 MiB' USING ERRCODE = 'WF085',
      HINT = 'Divide the process into several flows.';
  END IF;
  _plan := _plan || jsonb_build_object('creator_role', wed.planned_creator_role(_flow_id, _plan));
  FOR _task IN SELECT jsonb_array_elements(_plan -> 'tasks') LOOP
    IF coalesce(_task ->> 'type', 'manual') <> 'automatic' THEN
      _kept := _kept || wed.plan_task(_flow, _plan, _task);
    END IF;
  END LOOP;
  DELETE FROM wed.work_task WHERE flow_id = _flow_id AND tgid <> ALL (_kept);
  INSERT INTO wed.work_plan (flow_id, plan, creator_role)
  VALUES (_flow_id, _plan, wed.make_role(_flow.tenant_id, _plan ->> 'creator_role'))
  ON CONFLICT (flow_id) DO UPDATE SET plan = excluded.plan, creator_role = excluded.creator_role,
    applied_at = excluded.applied_at;
  SELECT count(wed.open_work_item(j)) INTO _opened FROM wed.job j
  WHERE j.flow_id = _flow_id AND j.tgid = ANY (_kept) AND j.component_id IS NULL
    AND NOT EXISTS (SELECT FROM wed.work_item i WHERE i.flow_id = j.flow_id AND i.wid = j.wid AND i.tgid = j.tgid
                    AND i.ended_at IS NULL);
  RETURN _opened;
END $$;

-- Plans the work of a process, and returns what of that changed: its creator role, people's work.
CREATE OR REPLACE FUNCTION wed.apply_plan(_flow_id integer, _plan jsonb) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _before wed.work_plan;
  _after wed.work_plan;
BEGIN
  SELECT * INTO _before FROM wed.work_plan WHERE flow_id = _flow_id;
  PERFORM wed.plan_work(_flow_id, _plan);
  SELECT * INTO _after FROM wed.work_plan WHERE flow_id = _flow_id;
  RETURN array_remove(ARRAY[
    CASE WHEN _before.creator_role IS DISTINCT FROM _after.creator_role THEN 'creator role' END,
    CASE WHEN _before.plan - 'creator_role' IS DISTINCT FROM _after.plan - 'creator_role' THEN 'people''s work' END],
    NULL);
END $$;

-- Returns the role whose people start instances by a plan: the present one where the plan does not say; nobody's, so
-- that anybody may, where it says ''.
CREATE OR REPLACE FUNCTION wed.planned_creator_role(_flow_id integer, _plan jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN _plan ->> 'creator_role' IS NULL THEN (
      SELECT r.name FROM wed.work_plan p JOIN wed.role_of_people r ON r.role_id = p.creator_role
      WHERE p.flow_id = _flow_id)
    ELSE nullif(_plan ->> 'creator_role', '') END
$$;

-- Keeps a task of a plan, which its waiting items follow; returns its trigger. Data are named by their attributes from
-- here on.
CREATE OR REPLACE FUNCTION wed.plan_task(_flow wed.flow, _plan jsonb, _task jsonb) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _name text := coalesce(_task ->> 'task', _task ->> 'trigger');
  _tgid integer;
  _calendar integer := (SELECT calendar_id FROM wed.work_calendar
                        WHERE tenant_id = _flow.tenant_id AND name = _task ->> 'calendar');
  _before wed.work_task;
  _after wed.work_task;
BEGIN
  SELECT tgid INTO _tgid FROM wed.trigger
  WHERE flow_id = _flow.flow_id AND NOT cfinal AND (tgname = _task ->> 'trigger' OR trname = _task ->> 'trigger')
  ORDER BY (tgname = _task ->> 'trigger') IS TRUE DESC, tgid LIMIT 1;
  IF _tgid IS NULL THEN
    RAISE EXCEPTION 'task "%" names trigger "%", which flow "%" does not have', left(_name, 80),
      left(_task ->> 'trigger', 80),
        _flow.name USING ERRCODE = 'WF085', HINT = 'Define the flow''s triggers first; `wed flow show` lists them.';
  ELSIF octet_length(_name) NOT BETWEEN 1 AND 63 THEN
    RAISE EXCEPTION 'the name of task "%" has % bytes', left(_name, 80), octet_length(_name) USING ERRCODE = 'WF085',
      HINT = 'A task''s name has 1 to 63 bytes.';
  ELSIF _task ->> 'calendar' IS NOT NULL AND _calendar IS NULL THEN
    RAISE EXCEPTION 'task "%" names calendar "%", which there is not', left(_name, 80), left(_task ->> 'calendar', 80)
      USING ERRCODE = 'WF085', HINT = 'Make it: `wed work calendar NAME --zone ZONE`.';
  END IF;
  PERFORM wed.refuse_deadline(_name, wed.planned_deadline(_name, _task), _calendar);
  PERFORM wed.refuse_form(_name, _task -> 'form');
  PERFORM wed.refuse_fields(_flow, _plan, _name, _task);
  PERFORM wed.refuse_performers(_flow, _plan, _name, _task);
  SELECT * INTO _before FROM wed.work_task WHERE tgid = _tgid;
  INSERT INTO wed.work_task (tgid, flow_id, task, kind, role_id, priority, deadline, calendar_id, disconnected,
    application,
                             description, inputs, outputs, state_attribute, users, groups, escalate_after, escalate_to,
                             form, failure_expected, assignee, candidates, same_as, not_by,
                             for_each, collect, complete)
  VALUES (_tgid, _flow.flow_id, _name, coalesce(_task ->> 'type', 'manual'),
    wed.make_role(_flow.tenant_id, _task ->> 'role'),
    coalesce((_task ->> 'priority')::integer, 0),
    wed.planned_deadline(_name, _task),
    _calendar, coalesce((_task ->> 'disconnected')::boolean, false),
    wed.planned_component(_plan, _task ->> 'application'),
    coalesce(_task ->> 'description', ''), coalesce(wed.data_attributes(_plan, _task -> 'inputs'), '{}'),
    wed.data_attributes(_plan, _task -> 'outputs'), _task ->> 'state',
    ARRAY(SELECT jsonb_array_elements_text(coalesce(_task -> 'users', '[]'))),
    ARRAY(SELECT jsonb_array_elements_text(coalesce(_task -> 'groups', '[]'))),
    wed.planned_span(_name, 'escalation', _task ->> 'escalate_after'), _task ->> 'escalate_to', nullif(_task -> 'form', 'null'),
    coalesce((_task ->> 'failure_expected')::boolean, true),
    (wed.data_attributes(_plan, jsonb_build_array(_task -> 'assignee')))[1],
    (wed.data_attributes(_plan, jsonb_build_array(_task -> 'candidates')))[1], _task ->> 'same_as', _task ->> 'not_by',
    (wed.data_attributes(_plan, jsonb_build_array(_task -> 'for_each')))[1],
    (wed.data_attributes(_plan, jsonb_build_array(_task -> 'collect')))[1],
    CASE _task ->> 'complete' WHEN 'all' THEN NULL WHEN 'first' THEN 1 ELSE (_task ->> 'complete')::integer END)
  ON CONFLICT (tgid) DO UPDATE SET task = excluded.task, kind = excluded.kind, role_id = excluded.role_id,
    priority = excluded.priority, deadline = excluded.deadline, calendar_id = excluded.calendar_id,
    disconnected = excluded.disconnected, application = excluded.application, description = excluded.description,
    inputs = excluded.inputs, outputs = excluded.outputs, state_attribute = excluded.state_attribute,
      users = excluded.users,
    groups = excluded.groups, escalate_after = excluded.escalate_after, escalate_to = excluded.escalate_to,
      form = excluded.form, failure_expected = excluded.failure_expected,
    assignee = excluded.assignee, candidates = excluded.candidates, same_as = excluded.same_as,
    not_by = excluded.not_by, for_each = excluded.for_each, collect = excluded.collect, complete = excluded.complete
  RETURNING * INTO _after;
  IF _before.tgid IS NOT NULL AND _before IS DISTINCT FROM _after THEN
    PERFORM wed.replan_items(_before, _after);
  END IF;
  RETURN _tgid;
END $$;

-- Refuses a task that shows or sets what is no attribute, or whose form requires what the task does not set. Of a task
-- for each element of a list too: attributes give the parts of an answer their types.
CREATE OR REPLACE FUNCTION wed.refuse_fields(_flow wed.flow, _plan jsonb, _name text, _task jsonb) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _shape regclass := to_regclass(format('%I.wed_flow', _flow.schema_name));
  _sets text[] := wed.data_attributes(_plan, _task -> 'outputs');
  _shows text[] := coalesce(wed.data_attributes(_plan, _task -> 'inputs'), '{}');
  _requires text[] := CASE WHEN _sets <> '{}' THEN wed.data_attributes(_plan, _task #> '{form,required}') END;
  _wrong text := coalesce(
    (SELECT format('"%s" is no attribute of flow "%s"', left(n, 80), _flow.name) FROM unnest(_shows || _sets) n
     WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = _shape AND a.attnum > 0 AND NOT a.attisdropped
                         AND a.attname = n) LIMIT 1),
    (SELECT format('its form requires "%s", which is none of its outputs', left(n, 80)) FROM unnest(_requires) n
     WHERE n <> ALL (_sets) LIMIT 1));
BEGIN
  IF _wrong IS NOT NULL THEN
    RAISE EXCEPTION 'task "%" cannot be done: %', left(_name, 80), _wrong USING ERRCODE = 'WF085',
      HINT = 'Name attributes in inputs and outputs, and outputs in the form''s required.';
  END IF;
END $$;

-- Returns the deadline of a plan's task: a document of an amount and a unit, or a text.
CREATE OR REPLACE FUNCTION wed.planned_deadline(_name text, _task jsonb) RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
  SELECT wed.planned_span(_name, 'deadline', CASE jsonb_typeof(_task -> 'deadline')
    WHEN 'object' THEN format('%s %s', _task #>> '{deadline,amount}', _task #>> '{deadline,unit}')
    ELSE _task ->> 'deadline' END)
$$;

-- Refuses a deadline that the working hours of a calendar do not reach within ten years.
CREATE OR REPLACE FUNCTION wed.refuse_deadline(_name text, _span interval, _calendar_id integer) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _span IS NOT NULL AND wed.end_of_working_time(now(), _span, _calendar_id) IS NULL THEN
    RAISE EXCEPTION 'the deadline of task "%" is % of working hours, and the calendar has less within ten years',
      left(_name, 80), _span USING ERRCODE = 'WF085',
      HINT = 'Days and hours are working ones: give fewer, or leave the calendar out.';
  END IF;
END $$;

-- Reads a span of time of a plan's task.
CREATE OR REPLACE FUNCTION wed.planned_span(_name text, _part text, _text text) RETURNS interval
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _span interval := _text;
BEGIN
  PERFORM wed.check_span('WF085', format('the %s of task "%s"', _part, left(_name, 80)), _span);
  RETURN _span;
END $$;

-- Says for whom the data say an item is: the people to whom alone it is offered (null: its role), and those who may not
-- hold it. Names that nobody has leave it to who is in charge.
CREATE OR REPLACE FUNCTION wed.people_for(_item wed.work_item, _task wed.work_task, OUT only_people integer[],
  OUT not_people integer[])
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _named text := coalesce(_task.assignee, _task.candidates);
  _names text[];
  _former integer := wed.last_performer(_item, _task.same_as);
BEGIN
  not_people := wed.barred_people(_item, _task);
  IF _named IS NOT NULL THEN
    -- Of a list that the task goes through each element is for whom it names.
    _names := CASE WHEN _named = _task.for_each AND _item.part > 0 THEN ARRAY[_item.element #>> '{}']
                   ELSE wed.names_in(_item.flow_id, _item.wid, _named) END;
    only_people := ARRAY(
      SELECT p.person_id FROM wed.person p WHERE p.tenant_id = _item.tenant_id AND (p.name = ANY (_names)
        OR _task.assignee IS NULL AND EXISTS (SELECT FROM wed.membership m WHERE m.person_id = p.person_id
          AND m.role_id IN (SELECT wed.role_named(_item.tenant_id, n) FROM unnest(_names) n)))
      ORDER BY p.person_id LIMIT 10000);
  ELSIF _former IS NOT NULL THEN
    only_people := ARRAY(SELECT person_id FROM wed.person WHERE person_id = _former);
  END IF;
  IF only_people <@ not_people THEN
    only_people := wed.in_charge(_item.flow_id, _item.wid);
  END IF;
END $$;

-- Returns the people who may not hold an item: those who did the task that another one has to do, or who started the instance.
CREATE OR REPLACE FUNCTION wed.barred_people(_item wed.work_item, _task wed.work_task) RETURNS integer[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY(
    SELECT i.holder FROM wed.work_item i WHERE i.flow_id = _item.flow_id AND i.wid = _item.wid
      AND i.task = _task.not_by AND i.state IN ('SUCCEEDED', 'FAILED') AND i.holder IS NOT NULL
    UNION
    SELECT p.person_id FROM wed.work_instance w JOIN wed.person p ON p.tenant_id = w.tenant_id AND p.name = w.creator
    WHERE _task.not_by = '_START' AND w.flow_id = _item.flow_id AND w.wid = _item.wid
    ORDER BY 1)
$$;

-- Notes who started an instance, and takes its items off the worklist of that person where they are for others.
CREATE OR REPLACE FUNCTION wed.note_starter(_flow_id integer, _wid integer, _actor text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO wed.work_instance (flow_id, wid, tenant_id, creator)
  SELECT _flow_id, _wid, tenant_id, wed.owner_of_keys(_actor) FROM wed.flow WHERE flow_id = _flow_id
  ON CONFLICT (flow_id, wid) DO UPDATE SET creator = excluded.creator;
  PERFORM wed.offer_item(i.item_id, clock_timestamp()) FROM wed.work_item i
  WHERE i.flow_id = _flow_id AND i.wid = _wid AND i.state = 'READY';
END $$;

-- Returns the names that an attribute of an instance holds: a text, or a list of texts.
CREATE OR REPLACE FUNCTION wed.names_in(_flow_id integer, _wid integer, _attribute text) RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _value jsonb;
BEGIN
  EXECUTE format('SELECT to_jsonb(w.%I) FROM %I.wed_flow w WHERE w.wid = $1', _attribute,
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _value USING _wid;
  RETURN CASE jsonb_typeof(_value)
    WHEN 'array' THEN ARRAY(SELECT n #>> '{}' FROM jsonb_array_elements(_value) n WHERE jsonb_typeof(n) = 'string')
    WHEN 'string' THEN ARRAY[_value #>> '{}'] ELSE '{}' END;
END $$;

-- Returns who ended a task of an item's instance last; null when nobody did.
CREATE OR REPLACE FUNCTION wed.last_performer(_item wed.work_item, _task text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT i.holder FROM wed.work_item i WHERE i.flow_id = _item.flow_id AND i.wid = _item.wid AND i.task = _task
    AND i.state IN ('SUCCEEDED', 'FAILED') AND i.holder IS NOT NULL
  ORDER BY i.ended_at DESC LIMIT 1
$$;

-- Refuses a person who may not hold an item, in charge or not: whoever did the task that another one has to do, or
-- started the instance. Looked at anew: that may have been done since the item was offered.
CREATE OR REPLACE FUNCTION wed.refuse_performer(_item wed.work_item, _person_id integer) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _task wed.work_task;
BEGIN
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  IF _person_id = ANY (_item.not_people || wed.barred_people(_item, _task)) THEN
    RAISE EXCEPTION '"%" may not do work item % (%), for that person %',
        (SELECT name FROM wed.person WHERE person_id = _person_id), _item.item_id, _item.task,
        CASE _task.not_by WHEN '_START' THEN 'started the instance' ELSE 'did ' || _task.not_by END
      USING ERRCODE = 'WF083', HINT = 'Another person has to do it.';
  END IF;
END $$;

-- Returns whether the data say for whom a task is.
CREATE OR REPLACE FUNCTION wed.is_for_some(_task wed.work_task) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(_task.assignee, _task.candidates, _task.same_as, _task.not_by) IS NOT NULL
$$;

-- Refuses a task whose performers the data cannot say: an attribute that there is not, or no names; a task that the
-- plan does not have.
CREATE OR REPLACE FUNCTION wed.refuse_performers(_flow wed.flow, _plan jsonb, _name text, _task jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _attribute text := (wed.data_attributes(_plan, jsonb_build_array(coalesce(_task ->> 'assignee',
    _task ->> 'candidates'))))[1];
  _other text;
  _type regtype := (SELECT atttypid FROM pg_attribute WHERE attname = _attribute AND attnum > 0 AND NOT attisdropped
    AND attrelid = to_regclass(format('%I.wed_flow', _flow.schema_name)));
BEGIN
  IF _attribute IS NOT NULL AND (_type IS NULL OR _type NOT IN ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype,
      'varchar'::regtype, 'varchar[]'::regtype)) THEN
    RAISE EXCEPTION 'task "%" is for whom the attribute "%" names, which flow "%" does not have as a text, a list of '
      'texts or a document', left(_name, 80), left(_attribute, 80), _flow.name USING ERRCODE = 'WF085',
      HINT = 'Declare the attribute as text or text[], with names of people or roles.';
  ELSIF _task ? 'assignee' AND _task ? 'candidates' THEN
    RAISE EXCEPTION 'task "%" has both an assignee and candidates', left(_name, 80) USING ERRCODE = 'WF085',
      HINT = 'Name one attribute: assignee for one person, candidates for people and roles.';
  END IF;
  PERFORM wed.refuse_parts(_flow, _plan, _name, _task);
  FOREACH _other IN ARRAY array_remove(ARRAY[_task ->> 'same_as', nullif(_task ->> 'not_by', '_START')], NULL) LOOP
    IF NOT EXISTS (SELECT FROM jsonb_array_elements(_plan -> 'tasks') t
                   WHERE coalesce(t ->> 'task', t ->> 'trigger') = _other) THEN
      RAISE EXCEPTION 'task "%" looks at who did "%", which is no task of people', left(_name, 80), left(_other, 80)
        USING ERRCODE = 'WF085', HINT = 'Name a task of the same flow; `not_by` may be _START, for who started it.';
    END IF;
  END LOOP;
END $$;

-- Refuses a task for each element of what is no list, or whose answers have no place.
CREATE OR REPLACE FUNCTION wed.refuse_parts(_flow wed.flow, _plan jsonb, _name text, _task jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _shape regclass := to_regclass(format('%I.wed_flow', _flow.schema_name));
  _list regtype := (SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = _shape AND NOT a.attisdropped
    AND a.attname = (wed.data_attributes(_plan, jsonb_build_array(_task -> 'for_each')))[1]);
  _answers regtype := (SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = _shape AND NOT a.attisdropped
    AND a.attname = (wed.data_attributes(_plan, jsonb_build_array(_task -> 'collect')))[1]);
  _wrong text := CASE
    WHEN _task ->> 'for_each' IS NULL AND coalesce(_task ->> 'collect', _task ->> 'complete') IS NOT NULL
      THEN 'it has no "for_each"'
    WHEN _task ->> 'for_each' IS NULL THEN NULL
    WHEN _list IS NULL OR _list <> 'jsonb'::regtype AND _list::text NOT LIKE '%[]'
      THEN '"for_each" names no attribute with a list'
    WHEN _answers IS DISTINCT FROM 'jsonb'::regtype THEN '"collect" names no attribute of type jsonb'
    WHEN coalesce(_task ->> 'complete', 'all') !~ '^(all|first|[1-9][0-9]{0,3})$'
      THEN '"complete" is not all, first, or a number' END;
BEGIN
  IF _wrong IS NOT NULL THEN
    RAISE EXCEPTION 'task "%" cannot be done for each element of a list: %', left(_name, 80), _wrong
      USING ERRCODE = 'WF085',
      HINT = 'For example for_each = "voters", collect = "votes", complete = "all", with votes of type jsonb.';
  END IF;
END $$;

-- Returns the list for each element of which a task is done; null of other tasks.
CREATE OR REPLACE FUNCTION wed.list_of(_flow_id integer, _wid integer, _task wed.work_task) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _list jsonb;
BEGIN
  IF _task.for_each IS NOT NULL THEN
    EXECUTE format('SELECT to_jsonb(w.%I) FROM %I.wed_flow w WHERE w.wid = $1', _task.for_each,
                   (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _list USING _wid;
  END IF;
  RETURN _list;
END $$;

-- Returns what is wrong with a list for a task; null when nothing is.
CREATE OR REPLACE FUNCTION wed.list_fault(_list jsonb) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN jsonb_typeof(_list) = 'array' THEN (
      SELECT format('it has %s elements, and 1000 are allowed', n) FROM jsonb_array_length(_list) n WHERE n > 1000)
    WHEN jsonb_typeof(_list) <> 'null' THEN format('it is a %s, and no list', jsonb_typeof(_list)) END
$$;

-- Returns the parts of a task: one for each element of its list; a single one, of number 0, of a task without a list,
-- and of one whose list gives nobody work (see wed.end_list).
CREATE OR REPLACE FUNCTION wed.work_elements(_list jsonb) RETURNS TABLE (part integer, element jsonb)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 0, NULL::jsonb WHERE jsonb_typeof(_list) IS DISTINCT FROM 'array' OR _list = '[]'
    OR wed.list_fault(_list) IS NOT NULL
  UNION ALL
  SELECT e.at::integer, e.value
  FROM jsonb_array_elements(CASE jsonb_typeof(_list) WHEN 'array' THEN _list ELSE '[]' END) WITH ORDINALITY e(value, at)
  WHERE wed.list_fault(_list) IS NULL
$$;

-- Returns the answers so far with that of a part.
CREATE OR REPLACE FUNCTION wed.collected(_item wed.work_item, _task wed.work_task, _answer jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _answers jsonb;
BEGIN
  EXECUTE format('SELECT w.%I FROM %I.wed_flow w WHERE w.wid = $1', _task.collect,
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) INTO _answers USING _item.wid;
  RETURN CASE jsonb_typeof(_answers) WHEN 'object' THEN _answers ELSE '{}' END
    || CASE WHEN _item.part > 0 THEN jsonb_build_object(wed.part_key(_item), _answer) ELSE '{}' END;
END $$;

-- Returns the key of a part's answer: its element where that is a text or a number, else its number. Where two parts of
-- a task would have the same key, as of equal elements, all of them have their numbers.
CREATE OR REPLACE FUNCTION wed.part_key(_item wed.work_item) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH k AS (
    SELECT i.item_id, CASE WHEN jsonb_typeof(i.element) IN ('string', 'number') THEN i.element #>> '{}'
                           ELSE i.part::text END AS key
    FROM wed.work_item i WHERE i.flow_id = _item.flow_id AND i.wid = _item.wid AND i.tgid = _item.tgid
      AND i.arrived_at = _item.arrived_at)
  SELECT CASE WHEN (SELECT count(*) = count(DISTINCT k.key) FROM k) THEN k.key ELSE _item.part::text END
  FROM k WHERE k.item_id = _item.item_id
$$;

-- Returns whether the parts of an item's task that have ended are enough.
CREATE OR REPLACE FUNCTION wed.is_complete(_item wed.work_item, _task wed.work_task) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(*) FILTER (WHERE i.state IN ('SUCCEEDED', 'FAILED'))
    >= least(coalesce(_task.complete, count(*)), count(*))
  FROM wed.work_item i WHERE i.flow_id = _item.flow_id AND i.wid = _item.wid AND i.tgid = _item.tgid
    AND i.arrived_at = _item.arrived_at
$$;

-- Follows an attribute's new name in people's tasks, their forms and the plan they came from. What was copied to
-- people's machines is fetched again, for the plan changed.
CREATE OR REPLACE FUNCTION wed.rename_in_work(_flow_id integer, _former text, _name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.work_task SET inputs = array_replace(inputs, _former, _name),
    outputs = array_replace(outputs, _former, _name),
    state_attribute = CASE state_attribute WHEN _former THEN _name ELSE state_attribute END,
    assignee = CASE assignee WHEN _former THEN _name ELSE assignee END,
    candidates = CASE candidates WHEN _former THEN _name ELSE candidates END,
    for_each = CASE for_each WHEN _former THEN _name ELSE for_each END,
    collect = CASE collect WHEN _former THEN _name ELSE collect END,
    form = wed.renamed_form(form, _former, _name)
  WHERE flow_id = _flow_id;
  UPDATE wed.work_plan SET plan = wed.renamed_plan(plan, _former, _name), applied_at = clock_timestamp()
  WHERE flow_id = _flow_id;
END $$;

-- Renames an attribute in a plan. Data of a process keep theirs.
CREATE OR REPLACE FUNCTION wed.renamed_plan(_plan jsonb, _former text, _name text) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _plan || jsonb_build_object('tasks', (
      SELECT coalesce(jsonb_agg(t || jsonb_strip_nulls(jsonb_build_object(
        'inputs', CASE WHEN d.name IS NULL THEN wed.renamed_list(t -> 'inputs', _former, _name) END,
        'outputs', CASE WHEN d.name IS NULL THEN wed.renamed_list(t -> 'outputs', _former, _name) END,
        'state', CASE t ->> 'state' WHEN _former THEN _name END,
        'assignee', CASE t ->> 'assignee' WHEN _former THEN _name END,
        'candidates', CASE t ->> 'candidates' WHEN _former THEN _name END,
        'for_each', CASE t ->> 'for_each' WHEN _former THEN _name END,
        'collect', CASE t ->> 'collect' WHEN _former THEN _name END,
        'form', wed.renamed_form(t -> 'form', _former, _name))) ORDER BY o), '[]')
      FROM jsonb_array_elements(_plan -> 'tasks') WITH ORDINALITY x(t, o)))
    || CASE WHEN jsonb_typeof(_plan -> 'data') = 'array' THEN jsonb_build_object('data', (
      SELECT coalesce(jsonb_agg(CASE e ->> 'attribute' WHEN _former THEN e || jsonb_build_object('attribute', _name)
        ELSE e END ORDER BY o), '[]')
      FROM jsonb_array_elements(_plan -> 'data') WITH ORDINALITY x(e, o))) ELSE '{}' END
  FROM (SELECT 1) one
  -- A datum of that name is meant by it, whatever attributes are called.
  LEFT JOIN LATERAL (SELECT e ->> 'name' AS name FROM jsonb_array_elements(
    CASE jsonb_typeof(_plan -> 'data') WHEN 'array' THEN _plan -> 'data' ELSE '[]' END) e
    WHERE e ->> 'name' = _former LIMIT 1) d ON true
$$;

-- Renames a name in a list; null for none.
CREATE OR REPLACE FUNCTION wed.renamed_list(_names jsonb, _former text, _name text) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN jsonb_typeof(_names) = 'array' THEN (
    SELECT coalesce(jsonb_agg(CASE n WHEN _former THEN _name ELSE n END ORDER BY o), '[]')
    FROM jsonb_array_elements_text(_names) WITH ORDINALITY x(n, o)) END
$$;

-- Renames a property in a form; null for none.
CREATE OR REPLACE FUNCTION wed.renamed_form(_form jsonb, _former text, _name text) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN jsonb_typeof(_form) = 'object' THEN _form
    || CASE WHEN _form -> 'properties' ? _former THEN jsonb_build_object('properties',
         (_form -> 'properties') - _former || jsonb_build_object(_name, _form -> 'properties' -> _former)) ELSE '{}' END
    || jsonb_strip_nulls(jsonb_build_object('required', wed.renamed_list(_form -> 'required', _former, _name))) END
$$;

-- Refuses values that the form of a task does not take (WF088). Of JSON Schema it knows what forms are made of:
-- required, type, enum, minimum, maximum, minLength, maxLength; the rest is left to who fills the form in.
CREATE OR REPLACE FUNCTION wed.check_form(_form jsonb, _values jsonb, _task text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _key text := (SELECT min(k) FROM jsonb_array_elements_text(
                  CASE jsonb_typeof(_form -> 'required') WHEN 'array' THEN _form -> 'required' ELSE '[]' END) k
                WHERE coalesce(_values -> k, 'null') = 'null');
  _why text := 'it is required';
BEGIN
  IF _key IS NULL THEN
    SELECT v.key, wed.form_complaint(_form #> ARRAY['properties', v.key], v.value) INTO _key, _why
    FROM jsonb_each(_values) v WHERE wed.form_complaint(_form #> ARRAY['properties', v.key], v.value) IS NOT NULL
    ORDER BY v.key LIMIT 1;
  END IF;
  IF _key IS NOT NULL THEN
    RAISE EXCEPTION 'the form of % does not take "%": %', _task, _key, _why USING ERRCODE = 'WF088',
      DETAIL = jsonb_build_object('at', 'values.' || _key)::text,
      HINT = 'The item''s form says what it takes: `wed work show`.';
  END IF;
END $$;

-- Refuses an invalid form: a text, or a schema whose parts have other types than JSON Schema gives them.
CREATE OR REPLACE FUNCTION wed.refuse_form(_task text, _form jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _about text := (SELECT min(p.key) FROM jsonb_each(
      CASE jsonb_typeof(_form -> 'properties') WHEN 'object' THEN _form -> 'properties' ELSE '{}' END) p
    WHERE jsonb_typeof(p.value) <> 'object');
  _wrong text := CASE
    WHEN _form IS NULL OR _form = 'null' THEN NULL
    WHEN jsonb_typeof(_form) <> 'object' THEN 'it is a ' || jsonb_typeof(_form) || ' and no object'
    WHEN jsonb_typeof(_form -> 'properties') <> 'object' THEN '"properties" is no object'
    WHEN jsonb_typeof(_form -> 'required') <> 'array' THEN '"required" is no array'
    WHEN _about IS NOT NULL THEN format('property "%s" is no object', left(_about, 80)) END;
BEGIN
  IF _wrong IS NOT NULL THEN
    RAISE EXCEPTION 'the form of task "%" is no JSON Schema of an object: %', left(_task, 80), _wrong
      USING ERRCODE = 'WF085',
      HINT = 'Write form = { properties = { cost = { type = "number", minimum = 0 } }, required = ["cost"] }.';
  END IF;
END $$;

-- Returns the name of the component that is an application of a plan; the application's own name where the plan does
-- not say.
CREATE OR REPLACE FUNCTION wed.planned_component(_plan jsonb, _application text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce((SELECT a ->> 'component' FROM jsonb_array_elements(
                     CASE jsonb_typeof(_plan -> 'applications') WHEN 'array' THEN _plan -> 'applications'
                       ELSE '[]' END) a
                   WHERE a ->> 'name' = _application LIMIT 1), _application)
$$;

-- Returns the number of a role, which is made when it is missing. At most 1000 roles of a tenant.
CREATE OR REPLACE FUNCTION wed.make_role(_tenant_id integer, _name text) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _role_id integer := wed.role_named(_tenant_id, _name);
BEGIN
  IF _role_id IS NOT NULL OR _name IS NULL THEN RETURN _role_id; END IF;
  IF (SELECT count(*) FROM wed.role_of_people WHERE tenant_id = _tenant_id) >= 1000 THEN
    RAISE EXCEPTION 'the tenant has 1000 roles of people, and no more are allowed' USING ERRCODE = 'WF085',
      HINT = 'Remove roles that are not used.';
  END IF;
  INSERT INTO wed.role_of_people (tenant_id, name) VALUES (_tenant_id, _name)
  ON CONFLICT DO NOTHING RETURNING role_id INTO _role_id;
  RETURN coalesce(_role_id, wed.role_named(_tenant_id, _name));
END $$;

-- Returns the moment at which a time has passed, counted in a calendar's working hours. Months and years of a deadline
-- are those of the calendar on the wall, from the first; days are days of work: as many hours as the calendar opens.
-- Null calendar: by the clock.
CREATE OR REPLACE FUNCTION wed.add_working_time(_from timestamptz, _span interval,
  _calendar_id integer) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(wed.end_of_working_time(_from, _span, _calendar_id), _from + _span)
$$;

-- Returns the end of a span of working time; null where ten years of a calendar do not have so much.
CREATE OR REPLACE FUNCTION wed.end_of_working_time(_from timestamptz, _span interval,
  _calendar_id integer) RETURNS timestamptz
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _months interval := make_interval(years => extract(year FROM _span)::integer,
    months => extract(month FROM _span)::integer);
  _days integer := extract(day FROM _span);
  _c wed.work_calendar;
  _left interval;
  _at timestamp;
  _free interval;
BEGIN
  SELECT * INTO _c FROM wed.work_calendar WHERE calendar_id = _calendar_id;
  IF NOT FOUND THEN RETURN _from + _span; END IF;
  _left := _days * (_c.closes - _c.opens) + (_span - _months - make_interval(days => _days));
  _at := (_from AT TIME ZONE _c.zone) + _months;
  -- Ten years of days bound the search, whatever the holidays.
  FOR _day IN 0 .. 3660 LOOP
    IF extract(isodow FROM _at)::integer = ANY (_c.weekdays) AND _at::date <> ALL (_c.holidays) THEN
      _at := greatest(_at, _at::date + _c.opens);
      _free := greatest(_at::date + _c.closes - _at, interval '0');
      IF _free >= _left THEN RETURN (_at + _left) AT TIME ZONE _c.zone; END IF;
      _left := _left - _free;
    END IF;
    _at := (_at::date + 1)::timestamp;
  END LOOP;
  RETURN NULL;
END $$;

-- Makes or changes a calendar of a tenant.
CREATE OR REPLACE FUNCTION wed.set_calendar(
  _tenant text, _name text, _zone text, _weekdays integer[], _opens time, _closes time,
    _holidays date[]) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _id integer;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_timezone_names WHERE name = _zone) THEN
    RAISE EXCEPTION 'there is no time zone "%"', left(_zone, 80) USING ERRCODE = 'WF085',
      HINT = 'Name a zone of the IANA database, such as America/Sao_Paulo.';
  END IF;
  PERFORM wed.refuse_calendar(_tenant, _name, _weekdays, _opens, _closes, _holidays);
  INSERT INTO wed.work_calendar (tenant_id, name, zone, weekdays, opens, closes, holidays)
  SELECT tenant_id, _name, _zone, _weekdays, _opens, _closes, _holidays FROM wed.tenant WHERE name = _tenant
  ON CONFLICT (tenant_id, name) DO UPDATE SET zone = excluded.zone, weekdays = excluded.weekdays,
    opens = excluded.opens,
    closes = excluded.closes, holidays = excluded.holidays
  RETURNING calendar_id INTO _id;
  RETURN _id;
END $$;

-- Refuses a calendar that opens never, or is one too many.
CREATE OR REPLACE FUNCTION wed.refuse_calendar(
  _tenant text, _name text, _weekdays integer[], _opens time, _closes time, _holidays date[]) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _others bigint := (SELECT count(*) FROM wed.work_calendar c JOIN wed.tenant t USING (tenant_id)
                     WHERE t.name = _tenant AND c.name <> _name);
  _wrong text := CASE
    WHEN (_name ~ '^[a-z0-9][a-z0-9_-]{0,62}$') IS NOT TRUE
      THEN 'its name is not made of 1 to 63 small letters, digits, - and _'
    WHEN cardinality(_weekdays) = 0 OR array_position(_weekdays, NULL) IS NOT NULL
      OR NOT _weekdays <@ '{1,2,3,4,5,6,7}' THEN 'its weekdays are not numbers from 1 (Monday) to 7'
    WHEN _opens >= _closes THEN format('it opens at %s and closes at %s', _opens, _closes)
    WHEN array_position(_holidays, NULL) IS NOT NULL OR 'infinity' = ANY (_holidays) OR '-infinity' = ANY (_holidays)
      THEN 'a holiday is no day'
    WHEN cardinality(_holidays) > 1000 THEN format('it has %s holidays, and 1000 are allowed', cardinality(_holidays))
    WHEN _others >= 1000 THEN 'the tenant has 1000 calendars, and no more are allowed' END;
BEGIN
  IF _wrong IS NOT NULL THEN
    RAISE EXCEPTION 'the calendar "%" cannot be: %', left(_name, 80), _wrong USING ERRCODE = 'WF085',
      HINT = 'For example weekdays {1,2,3,4,5}, opens 09:00, closes 17:00, holidays {2026-12-25}.';
  END IF;
END $$;

-- Returns the calendars of a tenant, by name.
CREATE OR REPLACE FUNCTION wed.work_calendars(_tenant text) RETURNS SETOF jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('calendar', c.name, 'zone', c.zone, 'weekdays', c.weekdays, 'opens', c.opens, 'closes',
    c.closes,
                            'holidays', c.holidays)
  FROM wed.work_calendar c JOIN wed.tenant t USING (tenant_id) WHERE t.name = _tenant ORDER BY c.name LIMIT 1000
$$;

-- Starts an instance in a person's name: with a person in charge, a notification policy, warnings before deadlines
-- (hours) and the one at which items pass to the person in charge. Only people of the flow's creator role may.
-- Returns its wid.
CREATE OR REPLACE FUNCTION wed.start_process(
  _tenant text, _flow text, _creator text, _in_charge text, _values jsonb DEFAULT '{}', _policy integer DEFAULT 1,
  _count integer DEFAULT 1, _warnings integer[] DEFAULT '{}', _transfer integer DEFAULT NULL,
  _now timestamptz DEFAULT clock_timestamp()) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _creator, _now);
  _charge wed.person := wed.person_of(_tenant, coalesce(_in_charge, _creator));
  _of wed.flow;
  _plan wed.work_plan;
  _wid integer;
BEGIN
  SELECT * INTO _of FROM wed.flow WHERE tenant_id = _person.tenant_id AND name = _flow;
  SELECT * INTO _plan FROM wed.work_plan WHERE flow_id = _of.flow_id;
  IF _plan.flow_id IS NULL THEN
    RAISE EXCEPTION 'there is no process "%"', left(_flow, 80) USING ERRCODE = 'WF080',
      HINT = 'A process is a flow with people''s work; list them: `wed flow list`.';
  ELSIF _plan.creator_role IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.membership WHERE person_id = _person.person_id AND role_id = _plan.creator_role) THEN
    RAISE EXCEPTION '"%" may not start "%": people of the role "%" may', _creator, _flow,
        (SELECT name FROM wed.role_of_people WHERE role_id = _plan.creator_role) USING ERRCODE = 'WF083',
      HINT = 'Ask an administrator for the role.';
  END IF;
  PERFORM wed.refuse_values(_of, _values);
  PERFORM wed.check_start(_of.flow_id, _values);
  _wid := wed.insert_values(_of.schema_name, _values);
  INSERT INTO wed.work_instance (flow_id, wid, tenant_id) VALUES (_of.flow_id, _wid,
    _of.tenant_id) ON CONFLICT DO NOTHING;
  UPDATE wed.work_instance SET creator = _creator, in_charge = _charge.person_id WHERE flow_id = _of.flow_id
    AND wid = _wid;
  UPDATE wed.instance SET people = true WHERE flow_id = _of.flow_id AND wid = _wid;
  PERFORM wed.set_notification(_of.flow_id, _wid, _policy, _count, NULL, _warnings, _transfer, _now);
  PERFORM wed.send_message(ARRAY[_charge.person_id], 'process_started', wed.work_place(_of.flow_id, _wid),
    format('The process was started by %s.', _creator), NULL, _now);
  PERFORM wed.note_flow('person:' || _creator, _of.flow_id, 'instance.start', _wid::text, '{}');
  RETURN _wid;
END $$;

-- Inserts an instance with some values; the others are the defaults.
CREATE OR REPLACE FUNCTION wed.insert_values(_schema text, _values jsonb) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _columns text := (SELECT string_agg(quote_ident(k), ', ') FROM jsonb_object_keys(_values) k);
  _wid integer;
BEGIN
  IF _columns IS NULL THEN
    EXECUTE format('INSERT INTO %I.wed_flow DEFAULT VALUES RETURNING wid', _schema) INTO _wid;
  ELSE
    EXECUTE
      format('INSERT INTO %1$I.wed_flow (%2$s) SELECT %2$s FROM jsonb_populate_record(NULL::%1$I.wed_flow, $1) '
      'RETURNING wid',
                   _schema, _columns) INTO _wid USING _values;
  END IF;
  RETURN _wid;
END $$;

-- Ends a task of a process whose attempts are used up, where a dependence rule names its failure: its state is
-- FAILED, and the process continues. False where none does: then the instance is an exception, and the person in
-- charge decides.
CREATE OR REPLACE FUNCTION wed.fail_task(
  _flow_id integer, _wid integer, _tgid integer, _token bigint, _note text, _host_id integer,
  _fuel bigint, _us bigint, _memory bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _state text;
BEGIN
  SELECT task ->> 'state' INTO _state
  FROM wed.work_plan p CROSS JOIN LATERAL jsonb_array_elements(p.plan -> 'tasks') task
  JOIN wed.trigger t ON t.tgid = _tgid AND t.tgname = task ->> 'trigger'
  WHERE p.flow_id = _flow_id AND task ->> 'type' = 'automatic' AND (task ->> 'failure_expected')::boolean;
  IF _state IS NULL THEN RETURN false; END IF;
  PERFORM wed.write_values(_flow_id, _wid, jsonb_build_object(_state, 'FAILED'));
  -- What is fired is left to any host.
  PERFORM wed.pass_gate(wed.as_it_stands(_flow_id, _wid),
    wed.finished_job(_flow_id, _wid, _tgid, _token, _fuel, _us, _memory), _host_id, _note => _note, _lease => false);
  PERFORM pg_notify('wed_jobs', '');
  RETURN true;
END $$;

-- Names an instance of a process, if it has no name yet, and returns its name; null where the flow is no process.
CREATE OR REPLACE FUNCTION wed.name_instance(_flow_id integer, _wid integer) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM wed.instance_name WHERE flow_id = _flow_id AND wid = _wid) THEN
    PERFORM wed.name_instances(_flow_id, ARRAY[_wid]);
  END IF;
  RETURN (SELECT name FROM wed.instance_name WHERE flow_id = _flow_id AND wid = _wid);
END $$;

-- Names new instances of a process, in the order given: each gets the lowest number that no instance of the type
-- has that is not final. Starts of one process wait for each other, 2 seconds at most. Nothing where the flow is no
-- process.
CREATE OR REPLACE FUNCTION wed.name_instances(_flow_id integer, _wids integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _type text;
  _numbers integer[] := '{}';
  _next integer := 1;
  _taken record;
BEGIN
  SELECT plan ->> 'type' INTO _type FROM wed.work_plan WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  IF _type IS NULL THEN RETURN; END IF;
  FOR _taken IN
    SELECT n.wid, n.number, i.status FROM wed.instance_name n LEFT JOIN wed.instance i USING (flow_id, wid)
    WHERE n.flow_id = _flow_id AND NOT n.released ORDER BY n.number
  LOOP
    WHILE _next < _taken.number AND cardinality(_numbers) < cardinality(_wids) LOOP
      _numbers := _numbers || _next;
      _next := _next + 1;
    END LOOP;
    EXIT WHEN cardinality(_numbers) >= cardinality(_wids);
    IF coalesce(_taken.status, 'F') = 'F' THEN
      UPDATE wed.instance_name SET released = true WHERE flow_id = _flow_id AND wid = _taken.wid;
    ELSE
      _next := _taken.number + 1;
    END IF;
  END LOOP;
  WHILE cardinality(_numbers) < cardinality(_wids) LOOP
    _numbers := _numbers || _next;
    _next := _next + 1;
  END LOOP;
  INSERT INTO wed.instance_name (flow_id, wid, type, number)
  SELECT _flow_id, u.wid, _type, u.number FROM unnest(_wids, _numbers) u(wid, number);
END $$;
