-- Chores about jobs: those of hosts that are gone, overdue, late, stale, or without attempts left.

-- Chore `abandoned`: jobs of hosts that are gone, of hosts that there are not, and of workers over HTTP (host 0) whose
-- leases have ended, are freed.

CREATE OR REPLACE FUNCTION wed.due_abandoned()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT j.tenant_id, j.flow_id, j.wid, j.tgid, j.fired_at
  FROM wed.hosts_with_jobs() g LEFT JOIN wed.host h USING (host_id) JOIN wed.job j ON j.host_id = g.host_id
  WHERE CASE WHEN g.host_id = 0 THEN j.lease_ends ELSE h.expires_at END < clock_timestamp()
    OR h.host_id IS NULL AND g.host_id > 0
$$;

-- Frees a job whose host is gone, or whose worker's lease has ended. The attempt is on record and counts; from the
-- second on a job waits, each its own time, so that one that kills its host meets others. A host whose row is held
-- claims or commits just now. A host's death is not its jobs' fault, so a job has three attempts at the least.
CREATE OR REPLACE FUNCTION wed.do_abandoned(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _attempts_min CONSTANT integer := 3;
  _host_id integer;
  _lost text := 'the host that ran it is gone';
  _job wed.job;
  _trigger wed.trigger;
BEGIN
  SELECT j.host_id INTO _host_id FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid;
  IF _host_id IS NULL THEN RETURN 'false'; END IF;
  PERFORM FROM wed.host WHERE host_id = _host_id AND expires_at < clock_timestamp() FOR UPDATE SKIP LOCKED;
  IF NOT FOUND AND EXISTS (SELECT FROM wed.host WHERE host_id = _host_id) THEN RETURN NULL; END IF;
  SELECT * INTO _job FROM wed.job j
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid AND j.host_id = _host_id FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF _host_id = 0 THEN
    IF _job.lease_ends >= clock_timestamp() THEN RETURN 'false'; END IF;
    _lost := format('the lease of worker %s has ended', _job.worker);
  END IF;
  SELECT * INTO STRICT _trigger FROM wed.trigger WHERE tgid = _tgid;
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  VALUES (_flow_id, _wid, _tgid, _job.trname, _job.attempt, 'abandoned', _lost, 'wedflow');
  IF _job.attempt >= greatest(_trigger.attempts, _attempts_min) THEN
    PERFORM wed.exhaust(_job, format('%s: abandoned after %s', _job.trname, wed.attempts_in_words(_job.attempt)));
    RETURN 'true';
  END IF;
  UPDATE wed.job j SET host_id = NULL, token = 0, put_off = NULL,
    due = CASE WHEN j.attempt <= 1 THEN least(j.due, now())
      ELSE now() + wed.backoff_of(_trigger.backoff, j.attempt - 1) END
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid;
  PERFORM wed.ask_again_or_exhaust(_job, _trigger, NULL);
  PERFORM pg_notify('wed_jobs', '');
  RETURN 'true';
END $$;

-- Takes from a job whose attempt has ended what it reserves, and queues it anew from _ready on: requests that wait for
-- what it holds come first. A reservation that cannot be evaluated any more makes its instance an exception.
CREATE OR REPLACE FUNCTION wed.ask_again_or_exhaust(_job wed.job, _trigger wed.trigger, _ready timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF _trigger.constrained THEN
    PERFORM wed.ask_again(_job.flow_id, ARRAY[_job.wid], ARRAY[_job.tgid], _ready);
  END IF;
EXCEPTION
  WHEN lock_not_available THEN RAISE;
  WHEN OTHERS THEN
    PERFORM wed.exhaust(_job, format('%s: what it reserves cannot be evaluated: %s', _job.trname, SQLERRM));
END $$;

-- Removes hosts that are gone and have no jobs left.
CREATE OR REPLACE FUNCTION wed.remove_hosts() RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH gone AS (
    DELETE FROM wed.host WHERE host_id = ANY (ARRAY(
      SELECT h.host_id FROM wed.host h WHERE h.expires_at < clock_timestamp()
        AND NOT EXISTS (SELECT FROM wed.job j WHERE j.host_id = h.host_id)
      FOR UPDATE SKIP LOCKED))
    RETURNING 1)
  SELECT count(*) FROM gone
$$;

-- Returns the hosts that jobs are leased to, one probe of the index for each.
CREATE OR REPLACE FUNCTION wed.hosts_with_jobs() RETURNS TABLE (host_id integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE n(host_id) AS (
    SELECT min(j.host_id) FROM wed.job j WHERE j.host_id IS NOT NULL
    UNION ALL
    SELECT (SELECT min(j.host_id) FROM wed.job j WHERE j.host_id IS NOT NULL AND j.host_id > n.host_id)
    FROM n WHERE n.host_id IS NOT NULL)
  SELECT n.host_id FROM n WHERE n.host_id IS NOT NULL
$$;

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
    PERFORM wed.exhaust(_job, format('%s: timed_out after %s', _job.trname, wed.attempts_in_words(_job.attempt)));
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

-- Chore `exhausted`: instances are exceptions that have a job without attempts left.

-- Takes a job from everybody whose attempts are used up; the chore makes its instance an exception.
CREATE OR REPLACE FUNCTION wed.exhaust(_job wed.job, _message text) RETURNS void
LANGUAGE sql AS $$
  UPDATE wed.job j SET host_id = NULL, token = 0, put_off = NULL, due = 'infinity'
  WHERE j.flow_id = _job.flow_id AND j.wid = _job.wid AND j.tgid = _job.tgid;
  INSERT INTO wed.exhausted VALUES (_job.flow_id, _job.wid, _job.tgid, _job.seq, _message) ON CONFLICT DO NOTHING
$$;

CREATE OR REPLACE FUNCTION wed.due_exhausted()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, e.flow_id, e.wid, e.tgid, now() FROM wed.exhausted e JOIN wed.flow f USING (flow_id)
$$;

CREATE OR REPLACE FUNCTION wed.do_exhausted(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of wed.exhausted;
BEGIN
  SELECT * INTO _of FROM wed.exhausted WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 'false'; END IF;
  IF EXISTS (SELECT FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND seq = _of.seq) THEN
    IF NOT wed.hold_instance(_flow_id, _wid::integer, true) THEN RETURN NULL; END IF;
    PERFORM wed.pass_as_it_stands(_flow_id, _wid::integer, _tgid, '_ABORT', _of.message, NULL, NULL);
  END IF;
  DELETE FROM wed.exhausted WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid;
  RETURN 'true';
END $$;

-- Chore `stale`: pending jobs whose condition no longer holds are skipped. A commit that makes it false puts them on
-- the list (wed.update_siblings), and so do looks at the clock (wed.do_clock) and at a changed condition
-- (wed.list_stale).

-- Lists stale jobs, and as thing 0 triggers whose condition has changed, unless many of their flow's jobs are listed.
CREATE OR REPLACE FUNCTION wed.due_stale()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, s.flow_id, s.wid, s.tgid, s.since FROM wed.stale s JOIN wed.flow f USING (flow_id)
  UNION ALL
  SELECT f.tenant_id, c.flow_id, 0::bigint, c.tgid, c.since FROM wed.changed_condition c JOIN wed.flow f USING (flow_id)
  WHERE NOT EXISTS (SELECT FROM wed.stale s WHERE s.flow_id = c.flow_id OFFSET 999)
$$;

CREATE OR REPLACE FUNCTION wed.do_stale(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _skipped boolean := false;
BEGIN
  IF _wid = 0 THEN RETURN to_jsonb(wed.list_stale(_flow_id, _tgid)); END IF;
  IF EXISTS (SELECT FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid
      AND j.host_id IS NULL AND NOT j.awaits_siblings) THEN
    -- A worker is at it, or somebody at its instance.
    IF NOT pg_try_advisory_xact_lock(_wid::integer, _tgid) OR NOT wed.hold_instance(_flow_id, _wid::integer, true) THEN
      RETURN NULL;
    END IF;
    _skipped := wed.skip_stale_job(_flow_id, _wid::integer, _tgid);
  END IF;
  DELETE FROM wed.stale WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid;
  RETURN to_jsonb(_skipped);
END $$;

-- Looks at pending jobs of a trigger whose condition has changed, in the order of their instances, until 100 ms have
-- passed, and lists those whose condition does not hold; the next look continues there. Null: a definition is being
-- written. Jobs of a disabled trigger are left as they are, and so are those of an instance that cannot be evaluated.
CREATE OR REPLACE FUNCTION wed.list_stale(_flow_id integer, _tgid integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _jobs_max CONSTANT integer := 20000;
  _until CONSTANT timestamptz := clock_timestamp() + interval '100 ms';
  _from integer;
  _seen record;
  _at integer := 1;
  -- One at first, so that a look at slow conditions gets somewhere.
  _some integer := 1;
  _listed bigint := 0;
BEGIN
  SELECT from_wid INTO _from FROM wed.changed_condition WHERE flow_id = _flow_id AND tgid = _tgid
  FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN NULL; END IF;
  -- Of whatever trigger, so that one look reads a bounded number.
  SELECT count(*) AS jobs, max(q.wid) AS last,
    coalesce(array_agg(q.wid ORDER BY q.wid) FILTER (WHERE q.is_asked), '{}') AS wids
  INTO _seen
  FROM (SELECT j.wid, j.tgid = _tgid AND j.host_id IS NULL AND NOT j.is_compensation AND t.enabled AND t.recheck
          AS is_asked
        FROM wed.job j CROSS JOIN (SELECT enabled, recheck FROM wed.trigger WHERE tgid = _tgid) t
        WHERE j.flow_id = _flow_id AND j.wid >= _from ORDER BY j.wid LIMIT _jobs_max) q;
  WHILE _at <= cardinality(_seen.wids) AND _listed < 1000 AND (_at = 1 OR clock_timestamp() < _until) LOOP
    _listed := _listed + wed.list_stale_among(_flow_id, _tgid, _seen.wids[_at : _at + _some - 1]);
    _at := _at + _some;
    _some := least(_some * 4, 1024);
  END LOOP;
  IF _at <= cardinality(_seen.wids) OR _seen.jobs = _jobs_max THEN
    UPDATE wed.changed_condition SET from_wid = coalesce(_seen.wids[_at], _seen.last)
    WHERE flow_id = _flow_id AND tgid = _tgid;
  ELSE
    DELETE FROM wed.changed_condition WHERE flow_id = _flow_id AND tgid = _tgid;
  END IF;
  RETURN _listed > 0;
END $$;

-- Lists those instances' jobs of a trigger whose condition does not hold. Returns how many.
CREATE OR REPLACE FUNCTION wed.list_stale_among(_flow_id integer, _tgid integer, _wids integer[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _rows wed.evaluated[];
  _listed bigint;
BEGIN
  EXECUTE format('SELECT %1$I.current_%1$s($1)', (SELECT shape_schema FROM wed.flow WHERE flow_id = _flow_id))
    INTO _rows USING _wids;
  INSERT INTO wed.stale (flow_id, wid, tgid)
  SELECT _flow_id, r.wid, _tgid FROM unnest(_rows) r
  WHERE r.fault IS NULL AND NOT EXISTS (SELECT FROM unnest(r.fired) f WHERE f & 4294967295 = _tgid)
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS _listed = ROW_COUNT;
  RETURN _listed;
END $$;

-- Chore `late`: jobs that were not done within their triggers' deadlines, pauses not counted, make their instances
-- exceptions.

-- Jobs that may be behind their deadlines: by seconds, since a deadline added to a time could be out of range, and a
-- month counts as 28 days (wed.do_late looks at the calendar).
CREATE OR REPLACE FUNCTION wed.due_late()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT j.tenant_id, p.flow_id, j.wid, j.tgid, j.fired_at
  FROM wed.trigger_policy p JOIN wed.job j ON j.flow_id = p.flow_id AND j.tgid = p.tgid
  CROSS JOIN LATERAL (SELECT extract(epoch FROM p.deadline)
    * CASE WHEN extract(month FROM p.deadline) <> 0 THEN 28.0 / 31 ELSE 1 END AS seconds OFFSET 0) d
  WHERE p.deadline IS NOT NULL AND extract(epoch FROM clock_timestamp() - j.fired_at) >= d.seconds
      + coalesce(extract(epoch FROM j.paused_for), 0)
    AND NOT wed.job_is_paused(j.due, j.paused_at)
$$;

CREATE OR REPLACE FUNCTION wed.do_late(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET intervalstyle = 'postgres' AS $$
DECLARE
  _late record;
BEGIN
  SELECT j.trname, p.deadline, j.fired_at + p.deadline + coalesce(j.paused_for, '0') <= clock_timestamp()
    AND NOT wed.job_is_paused(j.due, j.paused_at) AS is_late
  INTO _late
  FROM wed.job j JOIN wed.trigger_policy p USING (flow_id, tgid)
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid;
  IF _late.is_late IS NOT TRUE THEN RETURN 'false'; END IF;
  IF NOT wed.hold_instance(_flow_id, _wid::integer, true) THEN RETURN NULL; END IF;
  RETURN to_jsonb(wed.pass_as_it_stands(_flow_id, _wid::integer, _tgid, '_DEADLINE',
    format('%s: not done within %s', _late.trname, _late.deadline), NULL, NULL));
END $$;
