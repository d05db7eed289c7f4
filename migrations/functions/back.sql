-- Going back by compensations, and deadlines of jobs: what a trigger's policy declares (decision 0043).

-- Declares of a trigger which transition undoes its own (compensation) and how long its job may take in all (deadline);
-- null takes it back. The compensation gets a trigger without condition, which only wed.undo_next fires.
CREATE OR REPLACE FUNCTION wed.set_policy(_flow_id integer, _tgid integer, _compensation text, _deadline interval)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _compensation IS NULL AND _deadline IS NULL THEN
    DELETE FROM wed.trigger_policy WHERE tgid = _tgid;
    RETURN;
  END IF;
  PERFORM wed.check_span('22023', format('the deadline of trigger "%s"',
    (SELECT coalesce(tgname, trname) FROM wed.trigger WHERE tgid = _tgid)), _deadline);
  IF _deadline <= '0' THEN
    RAISE EXCEPTION 'the deadline of trigger "%" is not positive: %',
      (SELECT coalesce(tgname, trname) FROM wed.trigger WHERE tgid = _tgid), _deadline
      USING ERRCODE = '22023', HINT = 'Write a span such as "2 hours".';
  ELSIF _compensation !~ '^[^_]' OR octet_length(_compensation) > 63 THEN
    RAISE EXCEPTION 'trigger "%" cannot have "%" for a compensation',
      (SELECT coalesce(tgname, trname) FROM wed.trigger WHERE tgid = _tgid), left(_compensation, 80)
      USING ERRCODE = '22023', HINT = 'Name a transition: at most 63 bytes, no "_" in front.';
  END IF;
  INSERT INTO wed.trigger_policy AS p (tgid, flow_id, compensation, deadline)
  VALUES (_tgid, _flow_id, _compensation, _deadline)
  ON CONFLICT (tgid) DO UPDATE SET compensation = excluded.compensation, deadline = excluded.deadline
  WHERE (p.compensation, p.deadline) IS DISTINCT FROM (excluded.compensation, excluded.deadline);
  IF _compensation IS NOT NULL AND wed.compensation_trigger(_flow_id, _compensation) IS NULL THEN
    INSERT INTO wed.trigger (tgid, flow_id, tenant_id, trname, cfinal, enabled, timeout, attempts, backoff, delay,
      priority,
                             recheck, component_id)
    SELECT wed.next_tgid(), t.flow_id, t.tenant_id, _compensation, false, true, t.timeout, t.attempts,
      t.backoff, '0', 0,
           false, wed.bound_component(_flow_id, _compensation)
    FROM wed.trigger t WHERE t.tgid = _tgid;
  END IF;
END $$;

-- Sends an exception back to the state of trace row _to_seq: the compensations of the steps since then are run, newest
-- first, each a transaction of its own with a trace row. Where one fails it stops; the same call resumes it. At the end
-- the instance is an exception still, to be retried or set by hand. Answers how many steps there are to undo.
CREATE OR REPLACE FUNCTION wed.go_back(_flow_id integer, _wid integer, _to_seq integer, _actor text, _reason text)
RETURNS integer LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _last integer;
  _steps integer;
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  IF wed.operated(_flow_id, _wid) <> 'E' THEN
    RAISE EXCEPTION 'instance % is no exception', _wid USING ERRCODE = 'WF043',
      HINT = 'Only an exception goes back; skip or cancel what is pending first.';
  END IF;
  SELECT max(last_seq) INTO _last FROM wed.job WHERE flow_id = _flow_id AND wid = _wid;
  IF _to_seq NOT BETWEEN 1 AND _last THEN
    RAISE EXCEPTION 'instance % has no step %', _wid, _to_seq USING ERRCODE = 'WF040',
      HINT = format('Its trace goes from 1 to %s.', _last);
  END IF;
  SELECT count(*) INTO _steps FROM wed.steps_to_undo(_flow_id, _wid, _to_seq);
  INSERT INTO wed.going_back (flow_id, wid, to_seq, from_seq, actor, reason)
  VALUES (_flow_id, _wid, _to_seq, _last, _actor, _reason)
  ON CONFLICT (flow_id, wid) DO UPDATE SET to_seq = excluded.to_seq, from_seq = excluded.from_seq, stopped = false,
    actor = excluded.actor, reason = excluded.reason;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.back', _wid::text,
                        jsonb_build_object('to', _to_seq, 'steps', _steps, 'reason', _reason));
  PERFORM wed.undo_next(_flow_id, _wid);
  RETURN _steps;
END $$;

-- Fires the compensation of the newest step that an instance on its way back has to undo. Without such a step it
-- restores the recorded state; where the last compensation failed it stops. Does nothing while one is pending.
CREATE OR REPLACE FUNCTION wed.undo_next(_flow_id integer, _wid integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _back wed.going_back;
  _last wed.trace;
  _step record;
  _now timestamptz := clock_timestamp();
BEGIN
  SELECT * INTO _back FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid FOR UPDATE;
  IF NOT FOUND OR wed.operated(_flow_id, _wid) <> 'E' THEN RETURN; END IF;
  SELECT * INTO _last FROM wed.trace WHERE flow_id = _flow_id AND wid = _wid ORDER BY seq DESC LIMIT 1;
  IF _last.seq > _back.from_seq AND _last.trw = '_ABORT' THEN
    UPDATE wed.going_back SET stopped = true WHERE flow_id = _flow_id AND wid = _wid;
    UPDATE wed.instance SET announced_at = NULL WHERE flow_id = _flow_id AND wid = _wid;
    RETURN;
  END IF;
  SELECT s.*, t.trname, t.timeout, t.tenant_id, t.component_id INTO _step
  FROM wed.steps_to_undo(_flow_id, _wid, _back.to_seq) s JOIN wed.trigger t USING (tgid) LIMIT 1;
  IF NOT FOUND THEN
    -- Only a session of the owner writes past the triggers of the gate: others leave it to a chore of the hosts.
    IF session_user = current_user THEN PERFORM wed.restore_state(_back); END IF;
    RETURN;
  END IF;
  INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, writer, note)
  VALUES (_flow_id, _wid, _last.seq + 1, 'R', '_BACK', ARRAY[_step.trname], _last.state, _now, session_user,
          format('undoes step %s, %s', _step.seq, wed.reasoned(_back.actor, _back.reason)));
  DELETE FROM wed.job WHERE flow_id = _flow_id AND wid = _wid;
  INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at,
    component_id, is_compensation, beside)
  VALUES (_flow_id, _step.tenant_id, _wid, _step.tgid, _step.trname, _step.timeout, _step.seq, _last.seq + 1, 0, _now,
          _step.tstmp, _step.component_id, true, 0);
  -- A compensation is held by a pause as any other job.
  IF EXISTS (SELECT FROM wed.pause WHERE tenant_id = _step.tenant_id) THEN
    PERFORM wed.keep_paused(_flow_id);
  END IF;
  PERFORM wed.do_exceptions(_step.tenant_id, _flow_id, _wid, 0);
  UPDATE wed.instance SET status = 'R', changed = _now, announced_at = 'infinity' WHERE flow_id = _flow_id
    AND wid = _wid;
  IF _step.component_id IS NULL THEN
    PERFORM pg_notify(_step.trname, format('{"wid":%s,"tgid":%s}', _wid, _step.tgid));
  ELSE
    PERFORM pg_notify('wed_jobs', '');
  END IF;
END $$;

-- Says how far an exception on its way back has come, and which command continues it; null for any other.
CREATE OR REPLACE FUNCTION wed.way_back(_flow_id integer, _wid integer) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT format(CASE
    WHEN b.stopped THEN 'on its way back to step %1$s, and stopped, for a compensation failed: mend that, then '
      '`wed instance back %2$s %3$s --to %1$s` continues; retry, set and cancel give the way back up'
    ELSE 'on its way back to step %1$s, and a host fires the next compensation: %4$s of its steps are to be undone; '
      'retry, set and cancel give the way back up' END,
    b.to_seq, f.name, b.wid, (SELECT count(*) FROM wed.steps_to_undo(b.flow_id, b.wid, b.to_seq)))
  FROM wed.going_back b JOIN wed.flow f USING (flow_id) WHERE b.flow_id = _flow_id AND b.wid = _wid
$$;

-- Ends an instance's way back: gives it the state of the trace row that it goes back to, traced as _BACK. The instance
-- stays an exception, and nothing is fired until an operator retries it. Where the recorded state does not fit the
-- flow of today, the state stays as it is, and the trace says why.
CREATE OR REPLACE FUNCTION wed.restore_state(_back wed.going_back) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _recorded jsonb;
  _kept text := '';
BEGIN
  PERFORM wed.do_exceptions(f.tenant_id, f.flow_id, _back.wid, 0) FROM wed.flow f WHERE f.flow_id = _back.flow_id;
  -- Attributes that were removed since then are left out, and open ones keep what events have told.
  SELECT jsonb_object_agg(a.aname, s.state -> a.aname) INTO _recorded
  FROM wed.trace r JOIN wed.flow f USING (flow_id)
  CROSS JOIN LATERAL wed.with_present_names(r.flow_id, r.state::jsonb, r.tstmp) s(state)
  JOIN wed.attribute a ON a.flow_id = r.flow_id AND s.state ? a.aname AND a.aname <> ALL (f.open_attributes)
  WHERE r.flow_id = _back.flow_id AND r.wid = _back.wid AND r.seq = _back.to_seq;
  BEGIN
    PERFORM wed.write_values(_back.flow_id, _back.wid, coalesce(_recorded, '{}'));
  EXCEPTION WHEN data_exception OR integrity_constraint_violation OR syntax_error_or_access_rule_violation THEN
    _kept := format('; its state could not be restored: %s', SQLERRM);
  END;
  PERFORM wed.pass_gate(wed.as_it_stands(_back.flow_id, _back.wid), NULL, NULL, '_BACK',
    format('back at step %s, %s%s', _back.to_seq, wed.reasoned(_back.actor, _back.reason), _kept));
  DELETE FROM wed.going_back WHERE flow_id = _back.flow_id AND wid = _back.wid;
  UPDATE wed.instance SET announced_at = clock_timestamp() WHERE flow_id = _back.flow_id AND wid = _back.wid;
END $$;

-- Committed steps of an instance behind a trace row that have a compensation and are not undone yet, nor left as they
-- are because an operator skipped the compensation; newest first. A compensation's own trace row names the step that it
-- undid as the row that it started from.
CREATE OR REPLACE FUNCTION wed.steps_to_undo(_flow_id integer, _wid integer, _to_seq integer)
RETURNS TABLE (seq integer, tstmp timestamptz, tgid integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT r.seq, r.tstmp, c.tgid
  FROM wed.trace r JOIN wed.trigger_policy p ON p.tgid = r.tgid AND p.compensation IS NOT NULL
  CROSS JOIN LATERAL (SELECT wed.compensation_trigger(_flow_id, p.compensation) AS tgid) c
  WHERE r.flow_id = _flow_id AND r.wid = _wid AND r.seq > _to_seq AND wed.names_transition(r.trw)
    AND NOT EXISTS (SELECT FROM wed.trace u WHERE u.flow_id = _flow_id AND u.wid = _wid AND u.seq > r.seq
                    AND u.tgid = c.tgid AND u.from_seq = r.seq
                    AND (wed.names_transition(u.trw) OR u.trw = '_SKIP'))
  ORDER BY r.seq DESC
$$;

-- Returns the trigger without condition that fires a compensation of a flow.
CREATE OR REPLACE FUNCTION wed.compensation_trigger(_flow_id integer, _compensation text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT min(tgid) FROM wed.trigger
  WHERE flow_id = _flow_id AND trname = _compensation AND predicate IS NULL AND NOT cfinal
$$;

-- Chore `back`: instances on their way back that have no compensation pending get the next one.

CREATE OR REPLACE FUNCTION wed.due_back()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, b.flow_id, b.wid, 0, i.changed FROM wed.going_back b
  JOIN wed.instance i USING (flow_id, wid) JOIN wed.flow f USING (flow_id)
  WHERE i.status = 'F' OR NOT b.stopped AND i.status = 'E'
$$;

CREATE OR REPLACE FUNCTION wed.do_back(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT wed.hold_instance(_flow_id, _wid::integer, true) THEN RETURN NULL; END IF;
  DELETE FROM wed.going_back b USING wed.instance i
  WHERE b.flow_id = _flow_id AND b.wid = _wid AND i.flow_id = _flow_id AND i.wid = _wid AND i.status = 'F';
  IF NOT FOUND THEN PERFORM wed.undo_next(_flow_id, _wid::integer); END IF;
  RETURN 'true';
END $$;
