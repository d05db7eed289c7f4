-- Takes a pending job out of the pool without running it. The state is the same, so nothing is fired: what it satisfies
-- was fired when it was written. Traced as _SKIP; with nothing left to do the instance is an exception. Tasks that come
-- after it wait for it no longer.
CREATE OR REPLACE FUNCTION wed.skip_job(_flow_id integer, _wid integer, _transition text, _actor text, _reason text)
RETURNS "char" LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job wed.job;
  _rows wed.evaluated[];
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  PERFORM wed.operated(_flow_id, _wid);
  SELECT * INTO _job FROM wed.job
  WHERE flow_id = _flow_id AND wid = _wid AND trname = _transition AND trname <> '_EXCPT' ORDER BY tgid LIMIT 1 FOR
    UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'instance % has no pending job of transition "%"', _wid, left(_transition, 80)
      USING ERRCODE = 'WF040', HINT = 'Its pending transitions: ' || coalesce((SELECT string_agg(trname,
        ', ' ORDER BY trname)
        FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND trname <> '_EXCPT'), 'none') || '.';
  END IF;
  INSERT INTO wed.task_done (flow_id, wid, tgid)
  SELECT flow_id, _wid, _job.tgid FROM wed.flow WHERE flow_id = _flow_id AND ordered ON CONFLICT DO NOTHING;
  _rows := wed.as_it_stands(_flow_id, _wid);
  _rows[1].fired := '{}';
  -- No version has this number: the next state's conditions are all evaluated.
  _rows[1].version := 0;
  PERFORM wed.pass_gate(_rows, wed.result_of(_wid, _job.tgid, _job.token), NULL, '_SKIP', NULL,
                     format('%s was skipped by %s', _job.trname, wed.reasoned(_actor, _reason)));
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  VALUES (_flow_id, _wid, _job.tgid, _job.trname, _job.attempt, 'skipped', wed.reasoned(_actor, _reason), session_user);
  PERFORM wed.note_flow(_actor, _flow_id, 'job.skip', _wid || '/'
    || _job.trname, jsonb_build_object('reason', _reason));
  RETURN (SELECT status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid);
END $$;
