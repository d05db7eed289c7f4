-- Keeps a task of a plan; returns its trigger. Data are named by their attributes from here on.
CREATE OR REPLACE FUNCTION wed.plan_task(_flow wed.flow, _plan jsonb, _task jsonb) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _name text := coalesce(_task ->> 'task', _task ->> 'trigger');
  _tgid integer;
  _calendar integer := (SELECT calendar_id FROM wed.work_calendar
                        WHERE tenant_id = _flow.tenant_id AND name = _task ->> 'calendar');
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
  PERFORM wed.refuse_form(_name, _task -> 'form');
  PERFORM wed.refuse_performers(_flow, _plan, _name, _task);
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
    not_by = excluded.not_by, for_each = excluded.for_each, collect = excluded.collect, complete = excluded.complete;
  RETURN _tgid;
END $$;

-- The deadline of a plan's task: a document of an amount and a unit, or a text.
CREATE OR REPLACE FUNCTION wed.planned_deadline(_name text, _task jsonb) RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
  SELECT wed.planned_span(_name, 'deadline', CASE jsonb_typeof(_task -> 'deadline')
    WHEN 'object' THEN format('%s %s', _task #>> '{deadline,amount}', _task #>> '{deadline,unit}')
    ELSE _task ->> 'deadline' END)
$$;

-- Reads a span of time of a plan's task.
CREATE OR REPLACE FUNCTION wed.planned_span(_name text, _part text, _text text) RETURNS interval
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _span interval := _text;
BEGIN
  PERFORM wed.check_span('WF085', format('the %s of task "%s"', _part, left(_name, 80)), _span);
  RETURN _span;
END $$;
