-- Before a trigger is written: its defaults, whether it is allowed, its number, and its row as the gate uses it, with
-- the condition as Postgres understood it. All flows share the numbers, so none is taken for what is refused.
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
  PERFORM wed.check_trigger(
    CASE WHEN TG_OP = 'INSERT' OR NEW.tgname IS DISTINCT FROM OLD.tgname THEN NEW.tgname END, NEW.trname, NEW.cfinal,
    NEW.timeout, NEW.attempts, NEW.backoff, NEW.delay);
  -- Deeper than one, it is wed.rename_attribute that writes, and has done the rest.
  IF pg_trigger_depth() > 1 THEN RETURN NEW; END IF;

  -- One definition at a time in a flow.
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  PERFORM wed.check_in_flow(_flow, NEW.tgid, NEW.cfinal, NEW.writes);
  _checked := wed.check_predicate(_flow.shape_schema, coalesce(NEW.tgid, 0), NEW.cpred);
  NEW.tgid := coalesce(NEW.tgid, wed.next_tgid());
  INSERT INTO wed.trigger AS t (tgid, flow_id, tenant_id, tgname, trname, cfinal, enabled, predicate, reads, timely,
      timeout, attempts, backoff, delay, priority, recheck, writes, component_id, weight, guarded)
  VALUES (NEW.tgid, _flow.flow_id, _flow.tenant_id, NEW.tgname, NEW.trname, NEW.cfinal, NEW.enabled, _checked.predicate,
      _checked.reads, _checked.timely, NEW.timeout, NEW.attempts, NEW.backoff, NEW.delay, NEW.priority, NEW.recheck,
      NEW.writes,
      wed.bound_component(_flow.flow_id, NEW.trname), _checked.weight, _checked.guarded)
  ON CONFLICT (tgid) DO UPDATE SET tgname = excluded.tgname, trname = excluded.trname, cfinal = excluded.cfinal,
    enabled = excluded.enabled, predicate = excluded.predicate, reads = excluded.reads,
    timely = excluded.timely, timeout = excluded.timeout, attempts = excluded.attempts, backoff = excluded.backoff,
    delay = excluded.delay, priority = excluded.priority, recheck = excluded.recheck,
    writes = excluded.writes, component_id = excluded.component_id, weight = excluded.weight,
    guarded = excluded.guarded;
  RETURN NEW;
EXCEPTION WHEN OTHERS THEN
  -- Of a whole definition, the trigger is named.
  _is_named := SQLSTATE = 'WF013' AND current_setting('wed.definition', true) = 'whole';
  -- An error with a place in a fragment (classes 22 and 42) is raised as it is, and to hosts any. All others are raised
  -- again in this, the outermost function: whoever writes by hand reads why, and no statements of ours (CONTEXT).
  IF NOT _is_named AND (session_user = current_user OR SQLSTATE ~ '^(22|42)') THEN RAISE; END IF;
  GET STACKED DIAGNOSTICS _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL, _hint = PG_EXCEPTION_HINT;
  IF _is_named THEN _said := format('trigger "%s": %s', NEW.tgname, _said); END IF;
  RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END $$;
