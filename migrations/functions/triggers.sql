-- Writes to wed_trig: checks of a trigger, and the notification of hosts.

-- Prepares a trigger that is written: its defaults, checks, its number, and its row as the gate uses it, with the
-- condition as Postgres understood it. All flows share the numbers, so none is taken for what is refused.
CREATE OR REPLACE FUNCTION wed.before_trigger() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _said text;
  _detail text;
  _hint text;
  _is_named boolean;
  _flow wed.flow;
  _checked record;
BEGIN
  IF TG_OP = 'INSERT' AND NEW.tgid IS NOT NULL THEN
    RAISE EXCEPTION 'tgid is given by the server' USING ERRCODE = 'WF013', HINT = 'Leave tgid out of the INSERT.';
  ELSIF TG_OP = 'UPDATE' AND NEW.tgid IS DISTINCT FROM OLD.tgid THEN
    RAISE EXCEPTION 'the tgid of a trigger cannot change' USING ERRCODE = 'WF013',
      HINT = 'Change the other columns, or insert a new trigger.';
  END IF;
  NEW.cfinal := coalesce(NEW.cfinal, false);
  NEW.enabled := coalesce(NEW.enabled, true);
  NEW.recheck := coalesce(NEW.recheck, true);
  NEW.timeout := coalesce(NEW.timeout, '1 minute');
  NEW.attempts := coalesce(NEW.attempts, 3);
  NEW.backoff := coalesce(NEW.backoff, '1 second');
  NEW.delay := coalesce(NEW.delay, '0');
  NEW.priority := coalesce(NEW.priority, 0);
  NEW.consumes := coalesce(NEW.consumes, false);
  IF NEW.waits_for IS NOT NULL THEN NEW.trname := nullif(NEW.trname, ''); END IF;
  PERFORM wed.check_trigger(
    CASE WHEN TG_OP = 'INSERT' OR NEW.tgname IS DISTINCT FROM OLD.tgname THEN NEW.tgname END,
    CASE WHEN NEW.waits_for IS NOT NULL THEN coalesce(NEW.trname, NEW.waits_for) ELSE NEW.trname END, NEW.cfinal,
    NEW.timeout, NEW.attempts, NEW.backoff, NEW.delay);
  PERFORM wed.check_wait(NEW.cfinal, NEW.waits_for, NEW.trname, NEW.or_after, NEW.delay,
    NEW.reserves IS NOT NULL OR NEW.after IS NOT NULL);
  -- Deeper than one, it is wed.rename_attribute that writes, and has done the rest.
  IF pg_trigger_depth() > 1 THEN RETURN NEW; END IF;

  -- One definition at a time in a flow.
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  PERFORM wed.check_in_flow(_flow, NEW.tgid, NEW.cfinal, NEW.writes);
  _checked := wed.check_predicate(_flow.shape_schema, coalesce(NEW.tgid, 0), NEW.cpred);
  NEW.tgid := coalesce(NEW.tgid, wed.next_tgid());
  INSERT INTO wed.trigger AS t (tgid, flow_id, tenant_id, tgname, trname, cfinal, enabled, predicate, reads, timely,
      timeout, attempts, backoff, delay, priority, recheck, writes, component_id, weight, guarded, waits_for)
  VALUES (NEW.tgid, _flow.flow_id, _flow.tenant_id, NEW.tgname,
      CASE WHEN NEW.waits_for IS NULL THEN NEW.trname ELSE coalesce(NEW.trname, '_WAIT') END, NEW.cfinal, NEW.enabled,
      _checked.predicate, _checked.reads, _checked.timely, NEW.timeout, NEW.attempts, NEW.backoff,
      coalesce(NEW.or_after, NEW.delay), NEW.priority, NEW.recheck,
      -- A wait that nobody performs sets nothing.
      CASE WHEN NEW.waits_for IS NULL OR NEW.trname IS NOT NULL THEN NEW.writes ELSE '{}' END,
      wed.bound_component(_flow.flow_id, NEW.trname), _checked.weight, _checked.guarded, NEW.waits_for)
  ON CONFLICT (tgid) DO UPDATE SET tgname = excluded.tgname, trname = excluded.trname, cfinal = excluded.cfinal,
    enabled = excluded.enabled, predicate = excluded.predicate, reads = excluded.reads,
    timely = excluded.timely, timeout = excluded.timeout, attempts = excluded.attempts, backoff = excluded.backoff,
    delay = excluded.delay, priority = excluded.priority, recheck = excluded.recheck,
    writes = excluded.writes, component_id = excluded.component_id, weight = excluded.weight,
    guarded = excluded.guarded, waits_for = excluded.waits_for;
  RETURN NEW;
EXCEPTION WHEN OTHERS THEN
  -- Of a whole definition, the trigger is named.
  _is_named := SQLSTATE = 'WF013' AND current_setting('wed.definition', true) = 'whole';
  -- An error with a place in a fragment (classes 22 and 42) is raised as it is, and to hosts any. All others are raised
  -- again in this, the outermost function: whoever writes by hand reads why, and no statements of ours (CONTEXT).
  IF NOT _is_named AND (session_user = current_user OR SQLSTATE ~ '^(22|42)') THEN RAISE; END IF;
  GET STACKED DIAGNOSTICS _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL, _hint = PG_EXCEPTION_HINT;
  IF _is_named THEN _said := format('trigger "%s": %s', NEW.tgname, _said); END IF;
  IF _detail = '' AND _hint = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said;
  ELSIF _detail = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, HINT = _hint;
  ELSIF _hint = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail;
  END IF;
  RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END $$;

-- Refuses a trigger that makes no sense, whatever its flow: what no column constraint can say well.
CREATE OR REPLACE FUNCTION wed.check_trigger(
  _tgname text, _trname text, _cfinal boolean, _timeout interval, _attempts integer, _backoff interval,
  _delay interval) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _wrong text;
BEGIN
  IF NOT _cfinal AND coalesce(_trname, '') = '' THEN
    RAISE EXCEPTION 'a trigger needs the name of the transition it fires (trname)' USING ERRCODE = 'WF013',
      HINT = 'Set trname, or set cfinal for the final condition.';
  END IF;
  IF _cfinal AND _trname IS NOT NULL AND _trname <> '_FINAL' THEN
    RAISE EXCEPTION 'the final condition fires no transition' USING ERRCODE = 'WF013',
      HINT = 'Leave trname out.';
  END IF;
  IF NOT _cfinal AND (_trname ~ '^_' OR octet_length(_trname) > 63
      OR _trname ~ E'[[:cntrl:]\u202a-\u202e\u2066-\u2069]') THEN
    RAISE EXCEPTION 'the transition name % is not allowed', quote_literal(left(_trname, 80))
      USING ERRCODE = 'WF013',
        HINT = 'At most 63 bytes, no control characters, none that turn the direction of text, no underscore in front.';
  END IF;
  IF wed.is_no_address(_tgname) THEN
    RAISE EXCEPTION 'the trigger name % is not allowed', quote_literal(left(_tgname, 80))
      USING ERRCODE = 'WF013', HINT = 'At most 63 bytes, no characters that are not shown, no slash.';
  END IF;
  PERFORM wed.check_span('WF013', 'timeout', _timeout);
  PERFORM wed.check_span('WF013', 'backoff', _backoff);
  PERFORM wed.check_span('WF013', 'delay', _delay);
  IF greatest(_timeout, _backoff, _delay) > interval '100 years' THEN
    RAISE EXCEPTION 'timeout, backoff and delay are at most 100 years' USING ERRCODE = 'WF013',
      HINT = 'For example: timeout ''30 s'', backoff ''1 s'', delay ''2 days''.';
  END IF;
  _wrong := CASE WHEN _timeout <= '0' THEN format('timeout is %s, and must be positive', _timeout)
    WHEN _backoff < '0' THEN format('backoff is %s, and must not be negative', _backoff)
    WHEN _delay < '0' THEN format('delay is %s, and must not be negative', _delay)
    WHEN _attempts NOT BETWEEN 1 AND 1000 THEN format('attempts is %s, and must be from 1 to 1000', _attempts) END;
  IF _wrong IS NOT NULL THEN
    RAISE EXCEPTION '%', _wrong
      USING ERRCODE = 'WF013', HINT = 'For example: timeout ''30 s'', backoff ''1 s'', attempts 3.';
  END IF;
END $$;

-- Tells of a name whether it cannot be part of addresses (.../jobs/NAME), or holds characters that are not shown or
-- turn the direction of text.
CREATE OR REPLACE FUNCTION wed.is_no_address(_name text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(_name) > 63 OR _name ~ '[[:cntrl:]/]' OR _name IN ('.', '..')
    OR _name ~ E'[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]'
$$;

-- Refuses a wait that makes no sense by itself; wed.check_waits looks at its flow.
CREATE OR REPLACE FUNCTION wed.check_wait(
  _cfinal boolean, _waits_for text, _trname text, _or_after interval, _delay interval, _constrained boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  _wrong text := CASE
    WHEN _waits_for IS NULL AND _or_after IS NOT NULL THEN 'or_after ends a wait, and waits_for names none'
    WHEN _waits_for IS NULL THEN NULL
    WHEN _cfinal THEN 'the final condition waits for nothing'
    WHEN _or_after IS NOT NULL AND _trname IS NULL THEN 'or_after needs the transition that is due then'
    WHEN _or_after < '0' THEN format('or_after is %s, and must not be negative', _or_after)
    WHEN _or_after > interval '100 years' THEN format('or_after is %s, and is at most 100 years', _or_after)
    WHEN _or_after IS NULL AND _trname IS NOT NULL THEN 'a wait fires a transition only when its time is over'
    WHEN _delay <> '0' THEN 'a wait has or_after, and no delay'
    WHEN _constrained THEN 'a wait reserves nothing and comes after nothing' END;
BEGIN
  PERFORM wed.check_span('WF013', 'or_after', _or_after);
  IF _wrong IS NOT NULL THEN
    RAISE EXCEPTION '%', _wrong USING ERRCODE = 'WF013',
      HINT = 'Write waits_for alone, or waits_for with or_after and the transition that is due then; with `deadline` '
        'a wait ends as an exception.';
  END IF;
END $$;

-- Refuses waits of a flow that no event can end: the attribute is open, and the condition reads it.
CREATE OR REPLACE FUNCTION wed.check_waits(_flow wed.flow) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _bad wed.trigger;
BEGIN
  SELECT * INTO _bad FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND t.waits_for IS NOT NULL
    AND NOT (t.waits_for = ANY (_flow.open_attributes) AND t.waits_for = ANY (t.reads)) ORDER BY t.tgid LIMIT 1;
  IF NOT FOUND THEN
    RETURN;
  ELSIF _bad.waits_for = ANY (_flow.open_attributes) THEN
    RAISE EXCEPTION 'trigger "%" waits for attribute "%", which its condition does not read',
      wed.name_of_trigger(_bad), _bad.waits_for USING ERRCODE = 'WF013',
      HINT = format('A wait ends when its condition no longer holds: add, for example, %I IS NULL.', _bad.waits_for);
  END IF;
  RAISE EXCEPTION 'trigger "%" waits for "%", which is no open attribute', wed.name_of_trigger(_bad), _bad.waits_for
    USING ERRCODE = 'WF013', HINT = 'Declare the attribute open, so that an event can set it.';
END $$;

-- Refuses a span of time that is longer than 100 years in any of its parts: months, days and time. By the parts, since
-- '71000000 months -2130000000 days' compares as nothing and adds six million years.
CREATE OR REPLACE FUNCTION wed.check_span(_code text, _name text, _span interval) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF extract(year FROM _span) NOT BETWEEN -100 AND 100 OR extract(day FROM _span) NOT BETWEEN -36525 AND 36525
    OR extract(hour FROM _span) NOT BETWEEN -876600 AND 876600 THEN
    RAISE EXCEPTION '% is %, and is at most 100 years', _name, _span USING ERRCODE = _code,
      HINT = 'Months, days and hours are each bounded, for example ''30 s'', ''2 days'', ''1 year''.';
  END IF;
END $$;

-- Reads a duration of a trigger's definition; null where it names none. Names the trigger whose duration is unreadable.
CREATE OR REPLACE FUNCTION wed.trigger_interval(_trigger jsonb, _field text) RETURNS interval
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
BEGIN
  RETURN (_trigger ->> _field)::interval;
EXCEPTION WHEN invalid_datetime_format OR datetime_field_overflow OR interval_field_overflow THEN
  RAISE EXCEPTION 'trigger "%": `%`: %', _trigger ->> 'name', _field, SQLERRM USING ERRCODE = SQLSTATE,
    HINT = format('Write `%s` as `10 minutes` or `1 hour 30 seconds`.%s', _field, CASE _field
      WHEN 'or_after' THEN ' A wait without `or_after` lasts until its event comes.' ELSE '' END);
END $$;

-- Returns the trigger of a flow with a name, which is its number for one without; null where there is none.
CREATE OR REPLACE FUNCTION wed.trigger_named(_flow_id integer, _name text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT max(tgid) FROM wed.trigger
  WHERE flow_id = _flow_id AND NOT cfinal AND predicate IS NOT NULL
    AND coalesce(nullif(tgname, ''), tgid::text) = _name
$$;

-- Records what a trigger that was written reserves, that its pending jobs are looked at (wed.list_stale), or that it is
-- removed. Its row as the gate uses it is written before (wed.before_trigger).
CREATE OR REPLACE FUNCTION wed.on_trigger() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _said text;
  _detail text;
  _hint text;
  _flow wed.flow;
BEGIN
  -- Deeper than one, it is wed.rename_attribute that writes, and has done the rest.
  IF TG_OP <> 'DELETE' AND pg_trigger_depth() > 1 THEN RETURN NULL; END IF;
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  IF TG_OP = 'DELETE' THEN
    PERFORM wed.remove_trigger(_flow, OLD.tgid, OLD.tgname);
  ELSE
    PERFORM wed.set_constraint(_flow, NEW.tgid, NEW.reserves, NEW.quantity, NEW.resource, NEW.holds, NEW.consumes,
      NEW.after);
    IF TG_OP = 'UPDATE' AND NOT NEW.cfinal AND NEW.cpred IS DISTINCT FROM OLD.cpred THEN
      INSERT INTO wed.changed_condition (flow_id, tgid) VALUES (_flow.flow_id, NEW.tgid)
      ON CONFLICT (flow_id, tgid) DO UPDATE SET from_wid = 0;
    END IF;
  END IF;
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  -- An error with a place in a fragment (classes 22 and 42) is raised as it is, and to hosts any. All others are raised
  -- again in this, the outermost function: whoever writes by hand reads why, and no statements of ours (CONTEXT).
  IF session_user = current_user OR SQLSTATE ~ '^(22|42)' THEN RAISE; END IF;
  GET STACKED DIAGNOSTICS _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL, _hint = PG_EXCEPTION_HINT;
  IF _detail = '' AND _hint = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said;
  ELSIF _detail = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, HINT = _hint;
  ELSIF _hint = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail;
  END IF;
  RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END $$;

-- Allows a transition the files of its instances, and hosts with their ports that it may speak HTTP to.
CREATE OR REPLACE FUNCTION wed.grant_transition(_flow_id integer, _trname text, _files boolean, _http text[])
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _files OR _http <> '{}' THEN
    INSERT INTO wed."grant" (flow_id, trname, files, http) VALUES (_flow_id, _trname, _files, _http);
  END IF;
EXCEPTION WHEN check_violation THEN
  RAISE EXCEPTION '`http` of the transition "%" is not allowed', _trname USING ERRCODE = 'check_violation',
    HINT = 'Write at most 32 hosts with their ports, such as "api.example.com:443".';
END $$;

CREATE OR REPLACE FUNCTION wed.refuse_truncate() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% cannot be truncated', TG_TABLE_NAME USING ERRCODE = 'WF009',
    HINT = 'Instances keep their history; drop the flow to remove all of it.';
END $$;

-- Compiles a flow after a statement on wed_attr or wed_trig. A server that applies a whole definition compiles once, at
-- its end, if the definition has changed; only a session of the owner is believed to be one.
CREATE OR REPLACE FUNCTION wed.after_definition() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- A trigger that is written anew is paused as it was.
  IF TG_TABLE_NAME = 'wed_trig' AND EXISTS (SELECT FROM wed.flow f JOIN wed.pause p ON p.tenant_id = f.tenant_id
      AND (p.flow_id IS NULL OR p.flow_id = f.flow_id) WHERE f.flow_id = TG_ARGV[0]::integer) THEN
    PERFORM wed.keep_paused(TG_ARGV[0]::integer);
  END IF;
  IF session_user = current_user AND current_setting('wed.definition', true) = 'whole' THEN
    RETURN NULL;
  END IF;
  IF pg_trigger_depth() = 1 THEN
    PERFORM wed.compile(TG_ARGV[0]::integer);
    PERFORM wed.keep_version(TG_ARGV[0]::integer, session_user::text);
  END IF;
  RETURN NULL;
END $$;
