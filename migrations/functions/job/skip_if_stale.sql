-- Workers: how a job is taken, finished, failed, given back and found again. Hosts hold leases with
-- fencing tokens; external workers hold the papers' advisory lock on (wid, tgid).

-- Takes a job out of the pool whose condition no longer holds, and traces that. Returns whether it did. The
-- instance's row is waited for, or (_now) the job is left alone when another holds it.
CREATE OR REPLACE FUNCTION wed.skip_if_stale(_flow_id integer, _wid integer, _tgid integer, _now boolean DEFAULT false) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job wed.job;
  _schema text;
  _found integer;
BEGIN
  -- While the state that fired it is still the last one, nothing can have changed.
  SELECT j.* INTO _job FROM wed.job j JOIN wed.trigger t USING (tgid)
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid AND t.recheck AND t.trname <> '_EXCPT'
    AND j.last_seq > j.seq;
  IF NOT FOUND THEN RETURN false; END IF;
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = _flow_id;
  BEGIN
    EXECUTE format('SELECT wid FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _schema)
      || CASE WHEN _now THEN ' SKIP LOCKED' ELSE '' END INTO _found USING _wid;
  EXCEPTION WHEN lock_not_available THEN
    RETURN false; -- somebody has locked the table: who commits will see
  END;
  IF _found IS NULL
     OR EXISTS (SELECT FROM unnest(wed.as_it_stands(_flow_id, _wid)) r CROSS JOIN LATERAL unnest(r.fired) f
                WHERE f & 4294967295 = _tgid)
     OR NOT wed.pass_as_it_stands(_flow_id, _wid, _tgid, '_SKIP', NULL,
                                  format('%s was skipped: its condition no longer holds', _job.trname), NULL) THEN
    RETURN false;
  END IF;
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  VALUES (_flow_id, _wid, _tgid, _job.trname, _job.attempt, 'skipped', 'its condition no longer holds', session_user);
  RETURN true;
END $$;

ALTER FUNCTION wed.skip_if_stale SET lock_timeout = '100ms';
