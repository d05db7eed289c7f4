-- The papers' lock of (wid, tgid), granted only while the job is there, is nobody's, is due, and its
-- condition holds, and no person holds its work item. Looks again after locking: a lock that was just freed may be that of a job just done.
CREATE OR REPLACE FUNCTION wed.take_job(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id IS NULL AND due <= clock_timestamp();
  IF NOT FOUND OR NOT pg_try_advisory_xact_lock(_wid, _tgid) THEN RETURN false; END IF;
  PERFORM FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id IS NULL AND due <= clock_timestamp();
  RETURN FOUND AND NOT wed.is_held(_flow_id, _wid, _tgid) AND NOT wed.skip_if_stale(_flow_id, _wid, _tgid);
END $$;
