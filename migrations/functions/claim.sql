-- Claims: which jobs a host is leased, by shares of tenants, without what is stale or locked.

-- Claims (wed.claim), and says in a last row without a job what is left: whether jobs are due that nobody has claimed,
-- and in how many milliseconds the next one is that is not due yet.
CREATE OR REPLACE FUNCTION wed.claim_and_look(
  _host_id integer, _limit integer, _per_tenant_max integer, _excluded integer[], _busy integer[])
RETURNS TABLE (job wed.claimed, waits boolean, next_ms bigint)
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT c, NULL::boolean, NULL::bigint
    FROM wed.claim(_host_id, _limit, _per_tenant_max, _excluded, _busy) c;
  RETURN QUERY SELECT NULL::wed.claimed, d.waits, d.next_ms FROM wed.next_due() d;
END $$;

-- Leases to a host up to _limit jobs that its components can do, and the rest of small flows (wed.claim_rest): to each
-- tenant that has any the same number, at most _per_tenant_max, and what some leave to the others; of a tenant's, those
-- of the highest priority and longest due. Tenants in _excluded get none: they have their share of the host. Where all
-- cannot have some, those come first that are not in _busy, of whom the host has jobs already, and then chance decides;
-- a tenant that gets any gets several together, so that a host's batch has few flows. A job whose condition no longer
-- holds is skipped; one that an external worker has locked is left to it.
CREATE OR REPLACE FUNCTION wed.claim(
  _host_id integer, _limit integer, _per_tenant_max integer DEFAULT NULL, _excluded integer[] DEFAULT '{}',
  _busy integer[] DEFAULT '{}') RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _together CONSTANT integer := 8;
  _now timestamptz := clock_timestamp();
  _rooms wed.room[];
  _left integer := _limit;
  _share integer;
  _some tid[];
  _claimed tid[] := '{}';
  _look_until timestamptz;
BEGIN
  -- A claim need not be on disk: a server that forgets one has the job unclaimed again, and what is committed of a job
  -- takes its claim with it.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM wed.hold_host(_host_id);
  _rooms := wed.find_tenant_claims(_now, _limit, _per_tenant_max, _excluded, _busy);
  _look_until := clock_timestamp() + interval '100 ms';
  WHILE _left > 0 AND _rooms <> '{}' LOOP
    _share := greatest(_left / cardinality(_rooms), least(_left, _together));
    -- Until none is removed of those that come first; in vain at last where others hold too many of them.
    FOR _round IN 1 .. 8 LOOP
      EXIT WHEN NOT wed.remove_stale(_rooms, _share, _left, _now, _look_until);
    END LOOP;
    _some := wed.lease_jobs(_host_id, _rooms, _share, _left, _now);
    EXIT WHEN _some = '{}';
    _claimed := _claimed || _some;
    _left := _left - cardinality(_some);
    _rooms := wed.rooms_left(_rooms, _some, _share);
  END LOOP;
  _claimed := _claimed || wed.claim_rest(_host_id, _now, _claimed, _limit, _per_tenant_max);
  RETURN QUERY SELECT * FROM wed.held(_host_id, _claimed);
END $$;

-- Finds what each tenant may claim: the tenants that a claim gives jobs to, and how many to each at most.
CREATE OR REPLACE FUNCTION wed.find_tenant_claims(
  _now timestamptz, _limit integer, _per_tenant_max integer, _excluded integer[], _busy integer[]) RETURNS wed.room[]
LANGUAGE plpgsql AS $$
BEGIN
  RETURN ARRAY(
    SELECT ROW(r.tenant_id, r.jobs)::wed.room
    FROM (SELECT t.tenant_id, least(wed.concurrency_left(t.tenant_id), coalesce(_per_tenant_max, _limit)) AS jobs
          FROM unnest(wed.tenants_with_work(_now, _excluded)) t(tenant_id)
          ORDER BY t.tenant_id = ANY (_busy), random() LIMIT _limit) r
    WHERE r.jobs > 0);
END $$;

-- Returns the tenants that have jobs a host could begin now, except those in _without, those that are suspended and
-- those that have used up a quota. One index probe finds each tenant with jobs that were due when they were fired. Of
-- jobs that waited for their time, those that are due are read in the order of the index; where they are many, each
-- tenant with unclaimed jobs is probed instead.
-- In plpgsql, which keeps the plan: it is made anew at each call of a function in SQL, and takes longer than this.
CREATE OR REPLACE FUNCTION wed.tenants_with_work(_now timestamptz, _without integer[]) RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _jobs_read_max CONSTANT integer := 512;
  _woken integer[];
  _immediate integer[];
BEGIN
  _woken := ARRAY(
    SELECT j.tenant_id FROM wed.job j
    WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.delayed AND j.due <= _now
    ORDER BY j.due LIMIT _jobs_read_max);
  IF cardinality(_woken) = _jobs_read_max THEN
    _woken := wed.tenants_by_probe(_now);
  END IF;
  _immediate := (WITH RECURSIVE n(tenant_id) AS (
    SELECT min(j.tenant_id) FROM wed.job j
    WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND NOT j.delayed
    UNION ALL
    SELECT (SELECT min(j.tenant_id) FROM wed.job j
            WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND NOT j.delayed AND j.tenant_id > n.tenant_id)
    FROM n WHERE n.tenant_id IS NOT NULL)
  SELECT coalesce(array_agg(n.tenant_id) FILTER (WHERE n.tenant_id IS NOT NULL), '{}') FROM n);
  IF _woken = '{}' AND _immediate = '{}' THEN
    RETURN '{}';
  END IF;
  RETURN ARRAY(
    SELECT DISTINCT t.tenant_id FROM unnest(_immediate || _woken) t(tenant_id)
    WHERE t.tenant_id <> ALL (_without) AND t.tenant_id <> ALL ((SELECT wed.resting())::integer[]));
END $$;

-- Returns the tenants that have jobs a host could begin now, by two index probes for each tenant that has unclaimed
-- jobs at all, however many.
CREATE OR REPLACE FUNCTION wed.tenants_by_probe(_now timestamptz) RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (WITH RECURSIVE n(tenant_id) AS (
    SELECT min(j.tenant_id) FROM wed.job j WHERE j.host_id IS NULL AND j.component_id IS NOT NULL
    UNION ALL
    SELECT (SELECT min(j.tenant_id) FROM wed.job j
            WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.tenant_id > n.tenant_id)
    FROM n WHERE n.tenant_id IS NOT NULL)
  SELECT coalesce(array_agg(n.tenant_id), '{}') FROM n
  -- Not EXISTS, which may become a join that reads all jobs that are due; and in the order of job_ready, which
  -- is the index to use.
  WHERE (SELECT true FROM wed.job j WHERE j.host_id IS NULL AND j.component_id IS NOT NULL
         AND j.tenant_id = n.tenant_id AND j.due <= _now ORDER BY j.priority DESC, j.due LIMIT 1));
END $$;

-- Tenants whose jobs nobody claims: suspended, over their fuel, or far over a limit on bytes.
CREATE OR REPLACE FUNCTION wed.resting() RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT tenant_id FROM wed.tenant WHERE suspended_at IS NOT NULL
               UNION ALL SELECT tenant_id FROM wed.usage WHERE resting OR over IS NOT NULL);
END $$;

-- Returns how many more jobs of a tenant hosts may have in flight; null without a limit.
CREATE OR REPLACE FUNCTION wed.concurrency_left(_tenant_id integer) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _allowed bigint := (SELECT concurrency FROM wed.quota WHERE tenant_id = _tenant_id);
BEGIN
  RETURN CASE WHEN _allowed IS NOT NULL
    THEN _allowed - (SELECT count(*) FROM wed.job WHERE tenant_id = _tenant_id AND host_id > 0) END;
END $$;

-- Looks at the jobs that would be claimed next whose state, condition or attributes have changed since they were fired,
-- or whose condition depends on the time, flow by flow: those whose condition no longer holds are skipped, those that
-- cannot be looked at now are put off. Returns whether any was removed.
CREATE OR REPLACE FUNCTION wed.remove_stale(
  _rooms wed.room[], _share integer, _left integer, _now timestamptz, _until timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _of record;
  _begun boolean := false;
  _removed boolean := false;
  -- Most often there is none, and no job asks.
  _is_changed CONSTANT boolean := EXISTS (SELECT FROM wed.changed_condition);
BEGIN
  FOR _of IN
    SELECT c.tenant_id, c.flow_id, array_agg(c.wid) AS wids, array_agg(c.tgid) AS tgids FROM (
      SELECT n.turn, j.* FROM unnest(_rooms) WITH ORDINALITY n(tenant_id, jobs, turn)
      CROSS JOIN LATERAL (
        SELECT q.tenant_id, q.flow_id, q.wid, q.tgid, q.last_seq > q.seq AS changed, q.fired_at, q.is_compensation
        FROM wed.job q
        WHERE q.host_id IS NULL AND q.component_id IS NOT NULL AND q.tenant_id = n.tenant_id AND q.due <= _now
        ORDER BY q.priority DESC, q.due, q.flow_id LIMIT least(_share, n.jobs)) j
      CROSS JOIN LATERAL (
        SELECT timely, recheck, attributes_changed_at FROM wed.trigger WHERE tgid = j.tgid OFFSET 0) t
      WHERE t.recheck AND (j.changed OR t.timely OR _is_changed AND EXISTS (
          SELECT FROM wed.changed_condition d WHERE d.flow_id = j.flow_id AND d.tgid = j.tgid))
        OR t.attributes_changed_at > j.fired_at AND NOT j.is_compensation LIMIT _left) c
    GROUP BY c.tenant_id, c.flow_id ORDER BY min(c.turn)
  LOOP
    _removed := wed.remove_stale_of(_of.tenant_id, _of.flow_id, _of.wids, _of.tgids, _begun, _until) OR _removed;
    _begun := true;
  END LOOP;
  RETURN _removed;
END $$;

-- Removes stale jobs of one flow, some more at a time, until _until; the rest is put off. The first few of a claim are
-- looked at whatever the time (_begun: they were). A flow whose table is locked
-- or whose conditions raise is left out for a second, and twice as long each time; a tenant at whose jobs the time
-- ends, for ten times as long as it took.
CREATE OR REPLACE FUNCTION wed.remove_stale_of(
  _tenant_id integer, _flow_id integer, _wids integer[], _tgids integer[], _begun boolean, _until timestamptz)
  RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _later timestamptz := (SELECT max(until) FROM wed.postponed WHERE kind = 'look' AND flow_id IN (0, _flow_id)
    AND thing = 0 AND tgid = 0 AND tenant_id = _tenant_id);
  _was_postponed boolean := _later IS NOT NULL;
  _at integer := 1;
  _some integer := 4;
  _removed boolean := false;
  _lock CONSTANT text := 'a lock that another session holds on its instance';
  _reason text := _lock;
BEGIN
  IF _later < _now THEN _later := NULL; END IF;
  WHILE _later IS NULL AND _at <= cardinality(_wids) LOOP
    IF (_begun OR _at > 1) AND clock_timestamp() > _until THEN
      _later := wed.leave_out(_tenant_id, clock_timestamp() - _now);
      _reason := NULL;
      EXIT;
    END IF;
    BEGIN
      _removed := wed.skip_stale_among(_flow_id, _wids[_at : _at + _some - 1], _tgids[_at : _at + _some - 1])
        OR _removed;
      _at := _at + _some;
      _some := 2 * _some;
    EXCEPTION WHEN OTHERS OR query_canceled THEN
      _later := wed.postpone('look', _tenant_id, _flow_id, 0, 0, SQLERRM);
      _reason := CASE SQLSTATE WHEN '55P03' THEN _lock ELSE 'its condition cannot be evaluated: ' || SQLERRM END;
    END;
  END LOOP;
  IF _later IS NOT NULL THEN
    PERFORM wed.put_off_jobs(_flow_id, _wids[_at :], _tgids[_at :], _later, _reason, _reason <> _lock);
    RETURN true;
  ELSIF _was_postponed THEN
    DELETE FROM wed.postponed WHERE kind = 'look' AND flow_id IN (0, _flow_id) AND tenant_id = _tenant_id;
  END IF;
  RETURN _removed;
END $$;

-- Skips those jobs of a flow whose condition no longer holds, and gives the others a payload of the present attributes.
-- One that another session holds, or its instance, is put off by a second. Returns whether any was skipped.
CREATE OR REPLACE FUNCTION wed.skip_stale_among(_flow_id integer, _wids integer[], _tgids integer[]) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '20ms' AS $$
DECLARE
  _rows wed.evaluated[];
  _job record;
  _removed boolean := false;
BEGIN
  EXECUTE format('SELECT %1$I.current_%1$s($1)', (SELECT shape_schema FROM wed.flow WHERE flow_id = _flow_id))
    INTO _rows USING ARRAY(SELECT DISTINCT w FROM unnest(_wids) w ORDER BY w);
  PERFORM wed.renew_payloads(_flow_id, _rows, _tgids);
  FOR _job IN
    SELECT j.wid, j.tgid FROM ROWS FROM (unnest(_wids), unnest(_tgids)) j(wid, tgid)
      JOIN wed.trigger t ON t.tgid = j.tgid AND t.recheck
    EXCEPT
    SELECT r.wid, (f & 4294967295)::integer FROM unnest(_rows) r CROSS JOIN LATERAL unnest(r.fired) f
  LOOP
    _removed := true;
    IF NOT pg_try_advisory_xact_lock(_job.wid, _job.tgid)
       OR NOT wed.skip_stale_job(_flow_id, _job.wid, _job.tgid) THEN
      PERFORM wed.put_off_jobs(_flow_id, ARRAY[_job.wid], ARRAY[_job.tgid], clock_timestamp() + interval '1 second',
        'a lock that another session holds on its instance', false);
    END IF;
  END LOOP;
  RETURN _removed;
END $$;

-- Gives jobs of instances as they stand that were fired before an attribute changed the present state as payload: the
-- recorded one lacks attributes, or has them under former names.
CREATE OR REPLACE FUNCTION wed.renew_payloads(_flow_id integer, _rows wed.evaluated[], _tgids integer[]) RETURNS void
LANGUAGE sql AS $$
  UPDATE wed.job j SET payload = l.payload
  FROM (SELECT q.ctid AS at, coalesce(r.payload, r.state) AS payload
        FROM unnest(_rows) r JOIN wed.job q ON q.flow_id = _flow_id AND q.wid = r.wid AND q.tgid = ANY (_tgids)
        JOIN wed.trigger t ON t.tgid = q.tgid AND t.attributes_changed_at > q.fired_at
        WHERE q.host_id IS NULL AND NOT q.is_compensation AND r.state IS NOT NULL FOR UPDATE OF q SKIP LOCKED) l
  WHERE j.ctid = l.at
$$;

-- Puts jobs off that could not be looked at, for a reason; null where they only wait for their turn. A job whose row
-- another session holds stays due.
CREATE OR REPLACE FUNCTION wed.put_off_jobs(_flow_id integer, _wids integer[], _tgids integer[], _until timestamptz,
  _reason text, _not_runnable boolean) RETURNS void LANGUAGE sql AS $$
  UPDATE wed.job j SET due = _until, not_runnable = coalesce(_not_runnable, false), put_off = left(_reason, 1000)
  FROM (SELECT q.at FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
        CROSS JOIN LATERAL (
          SELECT q.ctid AS at FROM wed.job q WHERE q.flow_id = _flow_id AND q.wid >= u.wid AND q.wid <= u.wid
            AND q.tgid = u.tgid AND q.host_id IS NULL FOR UPDATE SKIP LOCKED) q) l
  WHERE j.ctid = l.at
$$;

-- Leaves a tenant's jobs out of looks for ten times as long as they took. Returns until when.
CREATE OR REPLACE FUNCTION wed.leave_out(_tenant_id integer, _took interval) RETURNS timestamptz
LANGUAGE sql AS $$
  INSERT INTO wed.postponed AS p (kind, tenant_id, flow_id, thing, tgid, until)
  VALUES ('look', _tenant_id, 0, 0, 0, clock_timestamp() + 10 * _took)
  ON CONFLICT (kind, flow_id, thing, tgid, tenant_id) DO UPDATE SET until = excluded.until RETURNING until
$$;

-- Returns whether a pending job's condition holds in the committed state, without a lock; null when another session
-- keeps it from being looked at. While the state that fired the job is still the last one, nothing but time and the
-- definition can have changed it; a definition that disables a trigger leaves its jobs as they are.
CREATE OR REPLACE FUNCTION wed.condition_holds(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '20ms' AS $$
BEGIN
  PERFORM FROM wed.job j JOIN wed.trigger t USING (tgid)
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid AND t.recheck AND t.trname <> '_EXCPT'
    AND (j.last_seq > j.seq OR t.timely OR t.enabled AND NOT j.is_compensation AND EXISTS (
      SELECT FROM wed.flow f WHERE f.flow_id = _flow_id AND f.version <> j.version));
  RETURN NOT FOUND OR EXISTS (
    SELECT FROM unnest(wed.as_it_stands(_flow_id, _wid)) r CROSS JOIN LATERAL unnest(r.fired) f
      WHERE f & 4294967295 = _tgid);
EXCEPTION WHEN lock_not_available THEN
  RETURN NULL; -- somebody has locked the table
END $$;

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

-- Leases to a host up to _share jobs of each tenant, _left in all, and returns their rows.
CREATE OR REPLACE FUNCTION wed.lease_jobs(
  _host_id integer, _rooms wed.room[], _share integer, _left integer, _now timestamptz) RETURNS tid[]
LANGUAGE plpgsql AS $$
DECLARE
  _leased tid[];
BEGIN
  WITH c AS MATERIALIZED (
    SELECT j.* FROM unnest(_rooms) n
    CROSS JOIN LATERAL (
      SELECT q.ctid AS at, q.wid, q.tgid FROM wed.job q
      WHERE q.host_id IS NULL AND q.component_id IS NOT NULL AND q.tenant_id = n.tenant_id AND q.due <= _now
      ORDER BY q.priority DESC, q.due, q.flow_id LIMIT least(_share, n.jobs) FOR UPDATE SKIP LOCKED) j
    LIMIT _left
  ), l AS MATERIALIZED (
    SELECT c.at, pg_try_advisory_xact_lock(c.wid, c.tgid) AS ours FROM c
  ), u AS (
    UPDATE wed.job j SET host_id = _host_id, token = nextval('wed.fence'), attempt = j.attempt + 1, put_off = NULL
    FROM l WHERE l.ours AND j.ctid = l.at RETURNING j.ctid)
  SELECT coalesce(array_agg(u.ctid), '{}') INTO _leased FROM u;
  RETURN _leased;
END $$;

-- Returns which tenants a claim may give more jobs to: those that got as many as _share.
CREATE OR REPLACE FUNCTION wed.rooms_left(_rooms wed.room[], _leased tid[], _share integer) RETURNS wed.room[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT ROW(n.tenant_id, n.jobs - _share)::wed.room
    FROM (SELECT j.tenant_id, count(*) AS got FROM unnest(_leased) a(at)
          CROSS JOIN LATERAL (SELECT tenant_id FROM wed.job WHERE ctid = a.at OFFSET 0) j GROUP BY j.tenant_id) g
    JOIN unnest(_rooms) n USING (tenant_id) WHERE g.got >= _share AND n.jobs > _share ORDER BY n.tenant_id);
END $$;

-- Claims what else is due of the flows of claimed jobs, where a flow has few jobs: a batch has work with each of its
-- flows, however many results of it there are. What was claimed together stays together, so that jobs of small
-- flows go through a host as one. Only instances whose numbers are _near are looked at: where a flow's jobs come
-- and go, those that are gone are still in the index, all of them. At most as many more as _limit, of a tenant that
-- has a share (_per_tenant_max) as many more as a flow may have, none of lower priority, and none where concurrency is
-- bounded.
CREATE OR REPLACE FUNCTION wed.claim_rest(
  _host_id integer, _now timestamptz, _claimed tid[], _limit integer, _per_tenant_max integer) RETURNS tid[]
LANGUAGE plpgsql AS $$
DECLARE
  _few CONSTANT integer := 8;
  _near CONSTANT integer := 32;
  _more tid[];
BEGIN
  WITH f AS MATERIALIZED (
    SELECT j.flow_id, j.tenant_id, count(*) AS claimed, min(j.priority) AS priority, random() AS turn,
           min(j.wid) - _near AS first, max(j.wid) + _near AS last
    FROM unnest(_claimed) a(at)
    CROSS JOIN LATERAL (SELECT flow_id, tenant_id, priority, wid::bigint FROM wed.job WHERE ctid = a.at OFFSET 0) j
    GROUP BY j.flow_id, j.tenant_id HAVING count(*) < _few AND max(j.wid) - min(j.wid) <= _near
  ), s AS MATERIALIZED (
    SELECT f.*, sum(n.jobs - f.claimed) OVER (PARTITION BY f.tenant_id ORDER BY f.turn) AS theirs,
           sum(n.jobs - f.claimed) OVER (ORDER BY f.turn) AS more
    FROM f CROSS JOIN LATERAL (
      -- In the order of the index that is to be used, here and below.
      SELECT count(*) AS jobs FROM (
        SELECT FROM wed.job WHERE flow_id = f.flow_id AND wid BETWEEN f.first AND f.last ORDER BY wid LIMIT _few + 1) j)
          n
    WHERE n.jobs <= _few AND n.jobs > f.claimed
      AND (SELECT q.concurrency FROM wed.quota q WHERE q.tenant_id = f.tenant_id) IS NULL
  ), l AS MATERIALIZED (
    SELECT j.at, pg_try_advisory_xact_lock(j.wid, j.tgid) AS ours FROM s
    CROSS JOIN LATERAL (
      SELECT q.ctid AS at, q.wid, q.tgid FROM wed.job q
      WHERE q.flow_id = s.flow_id AND q.wid BETWEEN s.first AND s.last AND q.host_id IS NULL
        AND q.component_id IS NOT NULL AND q.due <= _now AND q.last_seq <= q.seq AND q.priority >= s.priority
        AND NOT (SELECT timely OR attributes_changed_at > q.fired_at FROM wed.trigger WHERE tgid = q.tgid)
      ORDER BY q.wid LIMIT _few FOR UPDATE SKIP LOCKED) j
    WHERE s.more <= _limit AND (_per_tenant_max IS NULL OR s.theirs <= _few)
  ), u AS (
    UPDATE wed.job j SET host_id = _host_id, token = nextval('wed.fence'), attempt = j.attempt + 1, put_off = NULL
    FROM l WHERE l.ours AND j.ctid = l.at RETURNING j.ctid)
  SELECT coalesce(array_agg(u.ctid), '{}') INTO _more FROM u;
  RETURN _more;
END $$;

-- Returns the jobs that a host holds, of those in some rows. Each is looked up where it is: of tokens there is no
-- index, and to go through all that the host holds took 5 ms with 700 jobs in flight.
CREATE OR REPLACE FUNCTION wed.held(_host_id integer, _taken tid[]) RETURNS SETOF wed.claimed
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT j.flow_id, j.wid, j.tgid, t.tgname, j.trname, j.token, j.attempt, t.timeout_ms,
         CASE WHEN j.is_compensation AND t.attributes_changed_at > j.fired_at
           THEN wed.with_present_names(j.flow_id, coalesce(j.payload, r.state)::jsonb, j.fired_at)::text
           ELSE coalesce(j.payload, r.state) END, j.component_id, f.version, j.seq
  FROM unnest(_taken) a(at)
  CROSS JOIN LATERAL (SELECT * FROM wed.job WHERE ctid = a.at OFFSET 0) j
  -- One look for each, however few triggers and flows there were when the plan was made.
  CROSS JOIN LATERAL (SELECT * FROM wed.trigger WHERE tgid = j.tgid OFFSET 0) t
  CROSS JOIN LATERAL (SELECT * FROM wed.flow WHERE flow_id = j.flow_id OFFSET 0) f
  LEFT JOIN wed.trace r ON r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq = j.seq AND r.tstmp = j.fired_at
  WHERE j.host_id = _host_id;
END $$;

-- Returns whether a job of the hosts is due that nobody has claimed, and in how many milliseconds the next one will
-- be that is not due yet; null when there is none.
CREATE OR REPLACE FUNCTION wed.next_due(OUT waits boolean, OUT next_ms bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _now timestamptz := clock_timestamp();
BEGIN
  waits := wed.tenants_with_work(_now, '{}') <> '{}';
  SELECT (extract(epoch FROM j.due - _now) * 1000)::bigint INTO next_ms FROM wed.job j
  WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.delayed AND j.due > _now AND j.due < 'infinity'
  ORDER BY j.due LIMIT 1;
END $$;
