-- Takes a job out of the pool whose condition no longer holds, and traces that. It waits for nobody: false when another
-- session holds the instance, or the condition holds after all.
CREATE OR REPLACE FUNCTION wed.skip_stale_job(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '20ms' AS $$
DECLARE
  _job wed.job;
BEGIN
  IF NOT wed.hold_instance(_flow_id, _wid, true) OR wed.condition_holds(_flow_id, _wid, _tgid) IS NOT FALSE THEN
    RETURN false;
  END IF;
  SELECT * INTO _job FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid FOR UPDATE SKIP LOCKED;
  IF NOT FOUND OR NOT wed.pass_as_it_stands(_flow_id, _wid, _tgid, '_SKIP', NULL,
      format('%s was skipped: its condition no longer holds', _job.trname), NULL) THEN
    RETURN false;
  END IF;
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  VALUES (_flow_id, _wid, _tgid, _job.trname, _job.attempt, 'skipped', 'its condition no longer holds', session_user);
  RETURN true;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  RETURN false; -- somebody has locked the table, or a job of the instance
END $$;
