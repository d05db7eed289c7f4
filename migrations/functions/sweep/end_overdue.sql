-- Ends external workers that hold a job's lock for longer than its timeout. Their attempt is on record;
-- when attempts are used up, the instance is an exception.
CREATE OR REPLACE FUNCTION wed.end_overdue() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _late record;
  _ended bigint := 0;
BEGIN
  FOR _late IN
    SELECT l.pid, a.usename, j.*, t.attempts, t.backoff
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    JOIN wed.job j ON j.wid = l.classid::bigint AND j.tgid = l.objid::bigint
    JOIN wed.trigger t ON t.tgid = j.tgid
    WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND j.host_id IS NULL
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND a.pid <> pg_backend_pid() AND coalesce(a.xact_start, a.state_change) < clock_timestamp() - j.timeout
  LOOP
    CONTINUE WHEN NOT pg_terminate_backend(_late.pid, 2000);
    -- Its locks are gone; somebody may already have taken the job anew.
    CONTINUE WHEN NOT pg_try_advisory_xact_lock(_late.wid, _late.tgid);
    _ended := _ended + 1;
    UPDATE wed.job SET attempt = attempt + 1, due = now() + least(_late.backoff * (2 ^ least(attempt, 30)), interval '1 day')
    WHERE flow_id = _late.flow_id AND wid = _late.wid AND tgid = _late.tgid AND host_id IS NULL
    RETURNING attempt INTO _late.attempt;
    CONTINUE WHEN NOT FOUND;
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
    VALUES (_late.flow_id, _late.wid, _late.tgid, _late.trname, _late.attempt, 'timed_out',
            format('the worker held the lock for longer than %s and was ended', _late.timeout), _late.usename);
    IF _late.attempt >= _late.attempts THEN
      PERFORM wed.pass_as_it_stands(_late.flow_id, _late.wid, _late.tgid, '_ABORT',
        format('%s: timed_out after %s attempts', _late.trname, _late.attempt), NULL, NULL);
    END IF;
  END LOOP;
  RETURN _ended;
END $$;
