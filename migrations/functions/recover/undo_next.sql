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
    -- Only a session of the owner writes past the triggers of the gate: others leave it to the hosts' sweep.
    IF session_user = current_user THEN PERFORM wed.restore_state(_back); END IF;
    RETURN;
  END IF;
  INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, writer, note)
  VALUES (_flow_id, _wid, _last.seq + 1, 'R', '_BACK', ARRAY[_step.trname], _last.state, _now, session_user,
          format('undoes step %s, %s', _step.seq, wed.reasoned(_back.actor, _back.reason)));
  DELETE FROM wed.job WHERE flow_id = _flow_id AND wid = _wid;
  -- The mark {-1} tells the gate that nothing is to be fired by the resulting state.
  INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at,
    component_id,
                       satisfied, beside)
  VALUES (_flow_id, _step.tenant_id, _wid, _step.tgid, _step.trname, _step.timeout, _step.seq, _last.seq + 1, 0, _now,
          _step.tstmp, _step.component_id, '{-1}', 0);
  -- A compensation is held by a pause as any other job.
  IF EXISTS (SELECT FROM wed.pause WHERE tenant_id = _step.tenant_id) THEN
    PERFORM wed.keep_paused(_flow_id);
  END IF;
  UPDATE wed.instance SET status = 'R', changed = _now, announced_at = 'infinity' WHERE flow_id = _flow_id
    AND wid = _wid;
  IF _step.component_id IS NULL THEN
    PERFORM pg_notify(_step.trname, format('{"wid":%s,"tgid":%s}', _wid, _step.tgid));
  ELSE
    PERFORM pg_notify('wed_jobs', '');
  END IF;
END $$;

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
  -- Attributes that were removed since then are left out, and open ones keep what events have told.
  SELECT jsonb_object_agg(a.aname, r.state::jsonb -> a.aname) INTO _recorded
  FROM wed.trace r JOIN wed.flow f USING (flow_id)
  JOIN wed.attribute a ON a.flow_id = r.flow_id AND r.state::jsonb ? a.aname AND a.aname <> ALL (f.open_attributes)
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
