-- Grants the papers' lock of (wid, tgid), while the job is there, is nobody's, is due, its condition holds, and no
-- person holds its work item. It looks again after locking: a lock that was just freed may be that of a job just done.
-- Holds nothing else: the other branches of the instance proceed.
CREATE OR REPLACE FUNCTION wed.take_job(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _holds boolean;
BEGIN
  PERFORM FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id IS NULL
    AND due <= clock_timestamp();
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM wed.refuse_many_locks(_flow_id);
  IF NOT pg_try_advisory_xact_lock(_wid, _tgid) THEN RETURN false; END IF;
  PERFORM FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id IS NULL
    AND due <= clock_timestamp();
  IF NOT FOUND OR wed.is_held(_flow_id, _wid, _tgid) THEN RETURN false; END IF;
  _holds := wed.condition_holds(_flow_id, _wid, _tgid);
  IF NOT _holds THEN
    PERFORM wed.skip_stale_job(_flow_id, _wid, _tgid);
  END IF;
  RETURN coalesce(_holds, false);
END $$;
