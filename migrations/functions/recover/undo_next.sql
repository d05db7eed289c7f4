-- Fires the compensation of the newest step that an instance on its way back has to undo; ends the way where there is
-- none, stops it where the last one failed. Does nothing while one is pending.
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
  INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, writer, note)
  VALUES (_flow_id, _wid, _last.seq + 1, CASE WHEN _step.seq IS NULL THEN 'E' ELSE 'R' END, '_BACK',
          CASE WHEN _step.seq IS NULL THEN '{}'::text[] ELSE ARRAY[_step.trname] END, _last.state, _now, session_user,
          CASE WHEN _step.seq IS NULL THEN format('back at step %s', _back.to_seq) ELSE format('undoes step %s',
            _step.seq) END
            || ', ' || wed.reasoned(_back.actor, _back.reason));
  IF _step.seq IS NULL THEN
    UPDATE wed.job SET last_seq = _last.seq + 1 WHERE flow_id = _flow_id AND wid = _wid;
    DELETE FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid;
    UPDATE wed.instance SET announced_at = clock_timestamp() WHERE flow_id = _flow_id AND wid = _wid;
    RETURN;
  END IF;
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
