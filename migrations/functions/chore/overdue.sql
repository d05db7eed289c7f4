-- Chore `overdue`: external workers that hold the lock of a job for longer than its timeout are counted, then ended.

-- Jobs whose locks external workers hold that have held one for longer than its timeout: one overrun ends a worker, so
-- it counts for all its jobs. (Seconds are compared: a timeout added to a time could be out of range.)
CREATE OR REPLACE FUNCTION wed.late_workers()
RETURNS TABLE (pid integer, usename name, tenant_id integer, flow_id integer, wid integer, tgid integer,
  due timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT h.pid, h.usename, h.tenant_id, h.flow_id, h.wid, h.tgid, h.due
  FROM (
    SELECT l.pid, a.usename, j.tenant_id, j.flow_id, j.wid, j.tgid, j.due,
           bool_or(extract(epoch FROM clock_timestamp() - coalesce(a.xact_start, a.state_change))
             > extract(epoch FROM j.timeout)) OVER (PARTITION BY l.pid) AS late
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    JOIN wed.job j ON j.wid = l.classid::bigint AND j.tgid = l.objid::bigint
    -- Numbers of locks are everybody's: only sessions of the flow's own role are its workers.
    JOIN wed.flow f ON f.flow_id = j.flow_id AND f.role_name = a.usename
    WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND j.host_id IS NULL
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND a.pid <> pg_backend_pid()) h
  WHERE h.late
$$;

CREATE OR REPLACE FUNCTION wed.due_overdue()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT DISTINCT tenant_id, flow_id, wid::bigint, tgid, due FROM wed.late_workers() WHERE due <= now()
$$;

-- Counts the attempt of an external worker that is overdue, and puts its job off. It is committed before the worker is
-- ended (wed.end_overdue): whoever gets the lock then finds the job not due.
CREATE OR REPLACE FUNCTION wed.do_overdue(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job wed.job;
  _trigger wed.trigger;
BEGIN
  SELECT * INTO _job FROM wed.job
  WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id IS NULL AND due <= now() FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT * INTO STRICT _trigger FROM wed.trigger WHERE tgid = _tgid;
  _job.attempt := _job.attempt + 1;
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  SELECT _flow_id, _wid, _tgid, _job.trname, _job.attempt, 'timed_out',
    format('the worker held the lock for longer than %s and was ended', _job.timeout), f.role_name
  FROM wed.flow f WHERE f.flow_id = _flow_id;
  _job.due := now() + wed.backoff_of(_trigger.backoff, _job.attempt) + interval '1 second';
  UPDATE wed.job SET attempt = _job.attempt, due = _job.due
  WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid;
  IF _job.attempt >= _trigger.attempts THEN
    PERFORM wed.exhaust(_job, format('%s: timed_out after %s attempts', _job.trname, _job.attempt));
  ELSE
    PERFORM wed.ask_again_or_exhaust(_job, _trigger, _job.due);
  END IF;
  RETURN 'true';
END $$;

-- Ends external workers whose overrun is on record. Returns how many.
CREATE OR REPLACE FUNCTION wed.end_overdue() RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(*) FROM (SELECT DISTINCT pid FROM wed.late_workers() WHERE due > now()) w
  WHERE pg_terminate_backend(w.pid)
$$;
