-- Workers: how a job is taken, finished, failed, given back and found again. Hosts hold leases with
-- fencing tokens; external workers hold the papers' advisory lock on (wid, tgid).

-- Takes a job out of the pool whose condition no longer holds, and traces that. Returns whether it did. The
-- instance's row is waited for, or (_now) the job is left alone when another holds it.
CREATE FUNCTION wed.skip_if_stale(_flow_id integer, _wid integer, _tgid integer, _now boolean DEFAULT false) RETURNS boolean
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

-- The papers' lock of (wid, tgid), granted only while the job is there, is nobody's, is due, and its
-- condition holds. Looks again after locking: a lock that was just freed may be that of a job just done.
CREATE FUNCTION wed.take_job(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id IS NULL AND due <= clock_timestamp();
  IF NOT FOUND OR NOT pg_try_advisory_xact_lock(_wid, _tgid) THEN RETURN false; END IF;
  PERFORM FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id IS NULL;
  RETURN FOUND AND NOT wed.skip_if_stale(_flow_id, _wid, _tgid);
END $$;

-- Whether some transaction is open since some 500 others that wrote: what was changed since then is kept in its old versions too. Of other
-- roles' sessions only pg_read_all_stats may know.
CREATE FUNCTION wed.is_beside_old() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM pg_stat_activity
                 WHERE (datname = current_database() OR datname IS NULL) AND pid <> pg_backend_pid()
                   AND backend_type <> 'autovacuum worker'
                   AND greatest(age(backend_xmin), age(backend_xid)) > 500)
      OR EXISTS (SELECT FROM pg_prepared_xacts WHERE database = current_database() AND age(transaction) > 500)
      OR EXISTS (SELECT FROM pg_replication_slots WHERE age(xmin) > 500)
$$;

-- Enters a host. Its leases hold while its row does not expire.
CREATE FUNCTION wed.enter_host(_name text, _lease interval) RETURNS integer
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.host (name, expires_at, beside_old)
  VALUES (_name, clock_timestamp() + _lease, wed.is_beside_old()) RETURNING host_id
$$;

-- Keeps a host's leases. False: they were lost, and the host must enter anew.
CREATE FUNCTION wed.keep_host(_host_id integer, _lease interval) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.host SET expires_at = clock_timestamp() + _lease, beside_old = wed.is_beside_old() WHERE host_id = _host_id;
  RETURN FOUND;
END $$;

-- Gives back every job of a host that leaves.
CREATE FUNCTION wed.leave_host(_host_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1 WHERE host_id = _host_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  DELETE FROM wed.host WHERE host_id = _host_id;
END $$;

-- Frees the jobs of hosts that are gone. Each such attempt is on record.
CREATE FUNCTION wed.free_abandoned() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _gone integer[];
  _freed bigint := 0;
BEGIN
  _gone := ARRAY(SELECT host_id FROM wed.host WHERE expires_at < clock_timestamp() FOR UPDATE SKIP LOCKED);
  IF _gone = '{}' THEN RETURN 0; END IF;
  WITH freed AS (
    UPDATE wed.job SET host_id = NULL, token = 0, due = least(due, now())
    WHERE host_id = ANY (_gone) RETURNING *)
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  SELECT flow_id, wid, tgid, trname, attempt, 'abandoned', 'the host that ran it is gone', 'wedflow' FROM freed;
  GET DIAGNOSTICS _freed = ROW_COUNT;
  DELETE FROM wed.host WHERE host_id = ANY (_gone);
  IF _freed > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  RETURN _freed;
END $$;

-- Tenants whose jobs nobody claims: suspended, or over their fuel (0008).
CREATE FUNCTION wed.resting() RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT tenant_id FROM wed.tenant WHERE suspended_at IS NOT NULL
               UNION ALL SELECT tenant_id FROM wed.usage WHERE resting);
END $$;

-- How many more jobs of a tenant hosts may have in hand; null: as many as they like.
CREATE FUNCTION wed.concurrency_left(_tenant_id integer) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _allowed bigint := (SELECT concurrency FROM wed.quota WHERE tenant_id = _tenant_id);
BEGIN
  RETURN CASE WHEN _allowed IS NOT NULL
    THEN _allowed - (SELECT count(*) FROM wed.job WHERE tenant_id = _tenant_id AND host_id IS NOT NULL) END;
END $$;

-- The tenants that have jobs a host could begin now, found by one probe of an index for each tenant that has
-- unclaimed jobs at all, however many. Left out are those named, and those that are suspended or have used up
-- a quota.
-- In plpgsql, which keeps the plan: it is made anew at each call of a function in SQL, and takes longer than this.
CREATE FUNCTION wed.tenants_with_work(_now timestamptz, _without integer[]) RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (WITH RECURSIVE n(tenant_id) AS (
    SELECT min(j.tenant_id) FROM wed.job j WHERE j.host_id IS NULL AND j.component_id IS NOT NULL
    UNION ALL
    SELECT (SELECT min(j.tenant_id) FROM wed.job j
            WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.tenant_id > n.tenant_id)
    FROM n WHERE n.tenant_id IS NOT NULL)
  SELECT coalesce(array_agg(n.tenant_id), '{}') FROM n
  WHERE n.tenant_id <> ALL (_without) AND n.tenant_id <> ALL ((SELECT wed.resting())::integer[])
    -- Not EXISTS, which may become a join that reads all jobs that are due; and in the order of job_ready, which
    -- is the index to use.
    AND (SELECT true FROM wed.job j WHERE j.host_id IS NULL AND j.component_id IS NOT NULL
         AND j.tenant_id = n.tenant_id AND j.due <= _now ORDER BY j.priority DESC, j.due LIMIT 1));
END $$;

-- Gives a host up to _limit jobs that its components can do, and some beside (claim_beside): to each tenant that has any the same number, at
-- most _most, and what some leave to the others; of a tenant's, those of the highest priority and longest
-- due. Tenants named in _without get none: they have their share of the host. Where all cannot have some, those
-- come first that are not named in _busy, of whom the host has jobs already, and then chance decides; who gets any
-- gets some together, so that a host's batch is of few flows. A job whose condition no longer holds is skipped
-- instead; one that an external worker is at is left to it.
CREATE FUNCTION wed.claim(_host_id integer, _limit integer, _most integer DEFAULT NULL, _without integer[] DEFAULT '{}',
                          _busy integer[] DEFAULT '{}')
RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _tenants integer[];
  _rooms integer[];
  _left integer := _limit;
  _share integer;
  _some tid[];
  _taken tid[] := '{}';
  _stale record;
  _together CONSTANT integer := 8;
BEGIN
  -- A claim need not be on disk: a server that forgets one has the job unclaimed again, and what is committed
  -- of a job takes its claim with it.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM FROM wed.host WHERE host_id = _host_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016', HINT = 'Enter anew.';
  END IF;
  SELECT array_agg(r.tenant_id), array_agg(r.room) INTO _tenants, _rooms
  FROM (SELECT t.tenant_id, least(wed.concurrency_left(t.tenant_id), coalesce(_most, _limit)) AS room
        FROM unnest(wed.tenants_with_work(_now, _without)) t(tenant_id)
        ORDER BY t.tenant_id = ANY (_busy), random() LIMIT _limit) r
  WHERE r.room > 0;
  WHILE _left > 0 AND cardinality(_tenants) > 0 LOOP
    _share := greatest(_left / cardinality(_tenants), least(_left, _together));
    FOR _stale IN
      SELECT j.* FROM ROWS FROM (unnest(_tenants), unnest(_rooms)) AS n(tenant_id, room)
      CROSS JOIN LATERAL (
        SELECT q.flow_id, q.wid, q.tgid, q.last_seq, q.seq FROM wed.job q
        WHERE q.host_id IS NULL AND q.component_id IS NOT NULL AND q.tenant_id = n.tenant_id AND q.due <= _now
        ORDER BY q.priority DESC, q.due, q.flow_id LIMIT least(_share, n.room)) j
      LIMIT _left
    LOOP
      CONTINUE WHEN _stale.last_seq <= _stale.seq;
      IF pg_try_advisory_xact_lock(_stale.wid, _stale.tgid) THEN
        PERFORM wed.skip_if_stale(_stale.flow_id, _stale.wid, _stale.tgid, true);
      END IF;
    END LOOP;
    WITH c AS MATERIALIZED (
      SELECT n.tenant_id, n.room, j.* FROM ROWS FROM (unnest(_tenants), unnest(_rooms)) AS n(tenant_id, room)
      CROSS JOIN LATERAL (
        SELECT q.ctid AS at, q.wid, q.tgid FROM wed.job q
        WHERE q.host_id IS NULL AND q.component_id IS NOT NULL AND q.tenant_id = n.tenant_id AND q.due <= _now
        ORDER BY q.priority DESC, q.due, q.flow_id LIMIT least(_share, n.room) FOR UPDATE SKIP LOCKED) j
      LIMIT _left
    ), l AS MATERIALIZED (
      SELECT c.at, pg_try_advisory_xact_lock(c.wid, c.tgid) AS ours FROM c
    ), u AS (
      UPDATE wed.job j SET host_id = _host_id, token = nextval('wed.fence'), attempt = j.attempt + 1, waits_for = NULL
      FROM l WHERE l.ours AND j.ctid = l.at RETURNING j.ctid
    ), more AS (
      -- Who had as many as its share may have more.
      SELECT c.tenant_id, c.room - _share AS room FROM c
      GROUP BY c.tenant_id, c.room HAVING count(*) = _share AND c.room > _share)
    SELECT (SELECT array_agg(u.ctid) FROM u), _left - (SELECT count(*) FROM c),
           (SELECT array_agg(tenant_id ORDER BY tenant_id) FROM more), (SELECT array_agg(room ORDER BY tenant_id) FROM more)
    INTO _some, _left, _tenants, _rooms;
    _taken := _taken || _some;
  END LOOP;
  _taken := _taken || wed.claim_beside(_host_id, _now, _taken, _limit, _most);
  RETURN QUERY SELECT * FROM wed.held(_host_id, _taken);
END $$;

-- Claims what else is due of the flows of claimed jobs, where a flow has few jobs: a batch has work with each of its
-- flows, however many results of it there are. What was claimed together stays together, so that jobs of small
-- flows go through a host as one. Only instances whose numbers are _near are looked at: where a flow's jobs come
-- and go, those that are gone are still in the index, all of them. At most as many more as _limit, of a tenant that
-- has a share (_most) as many more as a flow may have, none of lower priority, and none where concurrency is bounded.
CREATE FUNCTION wed.claim_beside(
  _host_id integer, _now timestamptz, _taken tid[], _limit integer, _most integer) RETURNS tid[]
LANGUAGE plpgsql AS $$
DECLARE
  _few CONSTANT integer := 8;
  _near CONSTANT integer := 32;
  _more tid[];
BEGIN
  WITH f AS MATERIALIZED (
    SELECT j.flow_id, j.tenant_id, count(*) AS claimed, min(j.priority) AS priority, random() AS turn,
           min(j.wid) - _near AS first, max(j.wid) + _near AS last
    FROM unnest(_taken) a(at)
    CROSS JOIN LATERAL (SELECT flow_id, tenant_id, priority, wid::bigint FROM wed.job WHERE ctid = a.at OFFSET 0) j
    GROUP BY j.flow_id, j.tenant_id HAVING count(*) < _few AND max(j.wid) - min(j.wid) <= _near
  ), s AS MATERIALIZED (
    SELECT f.*, sum(n.jobs - f.claimed) OVER (PARTITION BY f.tenant_id ORDER BY f.turn) AS theirs,
           sum(n.jobs - f.claimed) OVER (ORDER BY f.turn) AS more
    FROM f CROSS JOIN LATERAL (
      -- In the order of the index that is to be used, here and below.
      SELECT count(*) AS jobs FROM (
        SELECT FROM wed.job WHERE flow_id = f.flow_id AND wid BETWEEN f.first AND f.last ORDER BY wid LIMIT _few + 1) j) n
    WHERE n.jobs <= _few AND n.jobs > f.claimed
      AND (SELECT q.concurrency FROM wed.quota q WHERE q.tenant_id = f.tenant_id) IS NULL
  ), l AS MATERIALIZED (
    SELECT j.at, pg_try_advisory_xact_lock(j.wid, j.tgid) AS ours FROM s
    CROSS JOIN LATERAL (
      SELECT q.ctid AS at, q.wid, q.tgid FROM wed.job q
      WHERE q.flow_id = s.flow_id AND q.wid BETWEEN s.first AND s.last AND q.host_id IS NULL
        AND q.component_id IS NOT NULL AND q.due <= _now AND q.last_seq <= q.seq AND q.priority >= s.priority
      ORDER BY q.wid LIMIT _few FOR UPDATE SKIP LOCKED) j
    WHERE s.more <= _limit AND (_most IS NULL OR s.theirs <= _few)
  ), u AS (
    UPDATE wed.job j SET host_id = _host_id, token = nextval('wed.fence'), attempt = j.attempt + 1, waits_for = NULL
    FROM l WHERE l.ours AND j.ctid = l.at RETURNING j.ctid)
  SELECT coalesce(array_agg(u.ctid), '{}') INTO _more FROM u;
  RETURN _more;
END $$;

-- The jobs that a host holds, of those in some rows. Each is looked up where it is: of tokens there is no index, and
-- to go through all that the host holds took 5 ms with 700 jobs in hand.
CREATE FUNCTION wed.held(_host_id integer, _taken tid[]) RETURNS SETOF wed.claimed
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT j.flow_id, j.wid, j.tgid, t.tgname, j.trname, j.token, j.attempt, t.timeout_ms,
         coalesce(j.payload, r.state), j.component_id, f.version, j.seq
  FROM unnest(_taken) a(at)
  CROSS JOIN LATERAL (SELECT * FROM wed.job WHERE ctid = a.at OFFSET 0) j
  -- One look for each, however few triggers and flows there were when the plan was made.
  CROSS JOIN LATERAL (SELECT * FROM wed.trigger WHERE tgid = j.tgid OFFSET 0) t
  CROSS JOIN LATERAL (SELECT * FROM wed.flow WHERE flow_id = j.flow_id OFFSET 0) f
  LEFT JOIN wed.trace r ON r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq = j.seq AND r.tstmp = j.fired_at
  WHERE j.host_id = _host_id;
END $$;

-- Writes the states of a batch of finished transitions, and returns them evaluated. A host hands what this
-- returns straight to wed.settle, in one statement: SELECT * FROM wed.settle(wed.write_states(...), ...).
--
-- Groups and items are parallel arrays: a group is one flow (named by its shape's schema) and one shape of
-- result, its items follow each other, ordered by wid. A group assigns the attributes _assigned, of which it
-- has _widths; as literals, of which _lit holds, group after group, first all the first, then all the second;
-- or, where _sets is not null, by that SET clause, which comes from the guard and in which _b._1, _b._2, ...
-- are the item's literals. With _careful, an instance whose condition fails becomes an exception instead of
-- failing the batch. Where a claim was lost, nothing is committed (40001), and the host tries again with
-- those it still has.
CREATE FUNCTION wed.write_states(
  _host_id integer, _shapes text[], _sets text[], _counts integer[], _widths integer[], _assigned text[],
  _literals integer[], _lit text[], _wids integer[], _tgids integer[], _careful boolean)
RETURNS wed.evaluated[]
LANGUAGE plpgsql AS $$
DECLARE
  _some wed.evaluated[];
  _parts wed.part[];
  _all wed.batch := ROW(_wids, _tgids, _assigned, _lit);
  _several boolean := cardinality(_shapes) > 1;
  _item integer := 0;
  _attribute integer := 0;
  _literal integer := 0;
  _n integer;
  _held boolean;
BEGIN
  -- Holding this row keeps others from freeing this host's jobs meanwhile (free_abandoned).
  SELECT beside_old INTO _held FROM wed.host WHERE host_id = _host_id FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016', HINT = 'Enter anew.';
  END IF;
  PERFORM set_config('wed.commit', 'batch', true);
  FOR _g IN 1 .. cardinality(_shapes) LOOP
    _n := _counts[_g];
    -- Of a flow with several groups all instances are held first, in order: each group's UPDATE takes its own in
    -- order, and two batches would each wait for the other. (A shape's schema is its flow's and _shape.)
    IF _shapes[_g] = _shapes[_g + 1] AND _shapes[_g] IS DISTINCT FROM _shapes[_g - 1] THEN
      EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE', left(_shapes[_g], -6))
        USING _wids[_item + 1 : _item + (SELECT sum(c) FROM unnest(_shapes, _counts) u(s, c) WHERE s = _shapes[_g])::integer];
    END IF;
    EXECUTE format('SELECT %1$I.apply_%1$s($1, $2, $3, $4, $5, $6, $7, $8)', _shapes[_g]) INTO _some
      USING _all.wids[_item + 1 : _item + _n], _all.tgids[_item + 1 : _item + _n],
            _all.assigned[_attribute + 1 : _attribute + _widths[_g]], _sets[_g], _literals[_g],
            _all.lit[_literal + 1 : _literal + _n * _literals[_g]], _careful, _held;
    IF cardinality(_some) IS DISTINCT FROM _n THEN
      PERFORM wed.refuse_update('lost', _wids[_item + 1]);
    END IF;
    IF _several THEN _parts[_g] := ROW(_some)::wed.part; END IF;
    _item := _item + _n;
    _attribute := _attribute + _widths[_g];
    _literal := _literal + _n * _literals[_g];
  END LOOP;
  PERFORM set_config('wed.commit', '', true);
  -- Put together once, not flow by flow: each time would be a copy of all that are there.
  IF _several THEN
    RETURN ARRAY(SELECT r FROM unnest(_parts) p CROSS JOIN unnest(p.rows) r);
  END IF;
  RETURN _some;
END $$;

-- Records attempts that changed nothing, and decides what becomes of their jobs: another attempt later,
-- or, when those are used up, an exception. Items:
--   {"flow", "wid", "token", "outcome", "message", "retry", "after_us", "fuel", "us", "mem"}
-- after_us is when the transition wants to be tried again instead of after the trigger's backoff.
-- The outcome 'final_pending' is no failure: the transition's result makes the instance final while
-- others of it are pending, so it waits until one of them has left the pool; when all of them wait for
-- each other so, the instance is an exception.
CREATE FUNCTION wed.fail_batch(_host_id integer, _items jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item record;
  _job wed.job;
  _trigger wed.trigger;
  _running integer;
  _others integer;
BEGIN
  FOR _item IN
    SELECT i.*, f.schema_name
    FROM jsonb_to_recordset(_items) AS i(flow integer, wid integer, token bigint, outcome text, message text,
      retry boolean, after_us bigint, fuel bigint, us bigint, mem bigint)
    JOIN wed.flow f ON f.flow_id = i.flow ORDER BY i.flow, i.wid
  LOOP
    EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _item.schema_name) USING _item.wid;
    SELECT * INTO _job FROM wed.job
    WHERE flow_id = _item.flow AND wid = _item.wid AND host_id = _host_id AND token = _item.token FOR UPDATE;
    CONTINUE WHEN NOT FOUND; -- the lease was lost; whoever has the job now goes on with it
    SELECT * INTO _trigger FROM wed.trigger WHERE tgid = _job.tgid;
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, fuel, elapsed_us, memory_bytes, writer)
    VALUES (_job.flow_id, _job.wid, _job.tgid, _job.trname, _job.attempt, _item.outcome, left(_item.message, 8192),
            _item.fuel, _item.us, _item.mem, 'host:' || _host_id);
    IF _item.outcome = 'final_pending' THEN
      SELECT count(*), count(*) FILTER (WHERE waits_for IS NULL) INTO _others, _running
      FROM wed.job WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid <> _job.tgid;
      IF _others = 0 OR _running > 0 THEN
        UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1,
          due = CASE WHEN _others = 0 THEN now() ELSE 'infinity' END,
          waits_for = CASE WHEN _others > 0 THEN 'the pending transitions of its instance' END
        WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
        IF _others = 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
        CONTINUE;
      END IF;
    ELSIF _item.retry AND _job.attempt < _trigger.attempts THEN
      UPDATE wed.job SET host_id = NULL, token = 0,
        due = now() + least(CASE WHEN _item.after_us IS NULL THEN _trigger.backoff * (2 ^ least(_job.attempt - 1, 30))
          ELSE least(_item.after_us, 86400000000) * interval '1 microsecond' END, interval '1 day')
      WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
      CONTINUE;
    END IF;
    PERFORM wed.pass_as_it_stands(_job.flow_id, _job.wid, _job.tgid, '_ABORT',
      format('%s: %s after %s attempts: %s', _job.trname, _item.outcome, _job.attempt, left(_item.message, 1000)),
      NULL, _host_id, _item.fuel, _item.us, _item.mem);
  END LOOP;
END $$;

-- Tells hosts of work that another has left. On its own and not waiting for the disk, because transactions that
-- notify commit one after another.
CREATE FUNCTION wed.tell_hosts() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM pg_notify('wed_jobs', '');
END $$;

-- Gives jobs back unrun, as if they had not been claimed.
CREATE FUNCTION wed.release(_host_id integer, _tokens bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1
  WHERE host_id = _host_id AND token = ANY (_tokens);
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;

-- Whether a job of the hosts is due that nobody has claimed, and in how many milliseconds the next one will
-- be that is not due yet; null when there is none.
CREATE FUNCTION wed.next_due(OUT waits boolean, OUT next_ms bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _now timestamptz := clock_timestamp();
BEGIN
  waits := wed.tenants_with_work(_now, '{}') <> '{}';
  SELECT (extract(epoch FROM j.due - _now) * 1000)::bigint INTO next_ms FROM wed.job j
  WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.due > _now AND j.due < 'infinity'
  ORDER BY j.due LIMIT 1;
END $$;

-- Ends external workers that hold a job's lock for longer than its timeout. Their attempt is on record;
-- when attempts are used up, the instance is an exception.
CREATE FUNCTION wed.end_overdue() RETURNS bigint
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

-- Skips the jobs left to external workers whose condition no longer holds, where nobody is at them.
CREATE FUNCTION wed.skip_stale(_limit integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job record;
  _skipped bigint := 0;
BEGIN
  FOR _job IN
    SELECT j.flow_id, j.wid, j.tgid FROM wed.job j JOIN wed.trigger t USING (tgid)
    WHERE j.host_id IS NULL AND j.component_id IS NULL AND t.recheck AND t.trname <> '_EXCPT'
      AND j.last_seq > j.seq
    LIMIT _limit
  LOOP
    CONTINUE WHEN NOT pg_try_advisory_xact_lock(_job.wid, _job.tgid);
    IF wed.skip_if_stale(_job.flow_id, _job.wid, _job.tgid) THEN _skipped := _skipped + 1; END IF;
  END LOOP;
  RETURN _skipped;
END $$;

-- After a change of the model: which live instances would fire what, or, without preview, fires it.
CREATE FUNCTION wed.rematch(_flow_id integer, _preview boolean)
RETURNS TABLE (wid integer, fires text[], becomes text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  _flow wed.flow;
  _last integer := 0;
  _wids integer[];
  _rows wed.evaluated[];
  _tgids integer[];
  _chosen integer[];
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  LOOP
    -- A thousand at a time; their rows are held, unless they are only looked at.
    _wids := ARRAY(SELECT i.wid FROM wed.instance i
                   WHERE i.flow_id = _flow_id AND i.wid > _last AND i.status <> 'F' ORDER BY i.wid LIMIT 1000);
    EXIT WHEN _wids = '{}';
    _last := _wids[cardinality(_wids)];
    IF NOT _preview THEN
      EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE', _flow.schema_name)
        USING _wids;
      _wids := ARRAY(SELECT i.wid FROM wed.instance i
                     WHERE i.flow_id = _flow_id AND i.wid = ANY (_wids) AND i.status <> 'F' ORDER BY i.wid);
    END IF;
    EXECUTE format('SELECT %1$I.current_%1$s($1)', _flow.shape_schema) INTO _rows USING _wids;
    CONTINUE WHEN _rows = '{}';
    -- Where the new model leads on from an exception, the exception's job is done by that.
    _tgids := ARRAY(
      SELECT j.tgid FROM unnest(_rows) r
      LEFT JOIN wed.job j ON j.flow_id = _flow_id AND j.wid = r.wid AND j.trname = '_EXCPT' AND j.host_id IS NULL
      ORDER BY r.wid);
    _tgids := ARRAY(
      SELECT CASE WHEN p.becomes <> 'E' THEN p.tgid END
      FROM wed.gather(_rows, _tgids, array_fill(0::bigint, ARRAY[cardinality(_tgids)]), '_REMATCH', NULL, NULL, NULL, NULL) p
      ORDER BY p.wid);
    _chosen := '{}';
    FOR wid, fires, becomes IN
      SELECT p.wid, ARRAY(SELECT t.trname FROM wed.trigger t WHERE t.tgid = ANY (p.fire) ORDER BY t.tgid), p.becomes
      FROM wed.gather(_rows, _tgids, array_fill(0::bigint, ARRAY[cardinality(_tgids)]), '_REMATCH', NULL, NULL, NULL, NULL) p
      WHERE p.fire <> '{}' OR p.becomes <> p.was ORDER BY p.wid
    LOOP
      _chosen := _chosen || wid;
      RETURN NEXT;
    END LOOP;
    IF NOT _preview AND _chosen <> '{}' THEN
      PERFORM wed.settle(array_agg(r.row ORDER BY r.at), array_agg(_tgids[r.at] ORDER BY r.at),
                         array_fill(0::bigint, ARRAY[count(*)::integer]), NULL, '_REMATCH')
      FROM (SELECT _rows[at] AS row, at FROM generate_subscripts(_rows, 1) at) r WHERE (r.row).wid = ANY (_chosen);
    END IF;
  END LOOP;
END $$;

-- The trace's partitions, one for each day (UTC): makes those of today and the next two days, and drops
-- those that are older than what is kept. Before a partition goes, jobs whose payload lies in it get a
-- copy of their own. Returns how many were dropped.
CREATE FUNCTION wed.roll_trace() RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '2s'
SET client_min_messages = warning AS $$
DECLARE
  _day date;
  _old record;
  _dropped integer := 0;
BEGIN
  -- One at a time; who comes second has nothing to do.
  PERFORM FROM wed.retention FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 0; END IF;
  FOR _day IN SELECT current_date + n FROM generate_series(0, 2) n LOOP
    CONTINUE WHEN to_regclass(format('wed.trace_%s', to_char(_day, 'YYYYMMDD'))) IS NOT NULL;
    -- Rows that the partition should have had stay where they are.
    CONTINUE WHEN EXISTS (SELECT FROM wed.trace_else WHERE tstmp >= _day AND tstmp < _day + 1);
    EXECUTE format('CREATE TABLE wed.trace_%1$s PARTITION OF wed.trace FOR VALUES FROM (%2$L) TO (%3$L)',
                   to_char(_day, 'YYYYMMDD'), _day, _day + 1);
    EXECUTE format('REVOKE ALL ON wed.trace_%s FROM PUBLIC', to_char(_day, 'YYYYMMDD'));
  END LOOP;
  FOR _old IN
    SELECT c.relname, to_date(substr(c.relname, 7), 'YYYYMMDD') AS day
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'wed.trace'::regclass AND c.relname ~ '^trace_[0-9]{8}$'
      AND to_date(substr(c.relname, 7), 'YYYYMMDD') + 1 <= now() - (SELECT trace FROM wed.retention)
    ORDER BY 2
  LOOP
    EXECUTE format('UPDATE wed.job j SET payload = r.state FROM wed.%I r
                    WHERE j.payload IS NULL AND r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq = j.seq
                      AND j.fired_at >= %L AND j.fired_at < %L', _old.relname, _old.day, _old.day + 1);
    EXECUTE format('DROP TABLE wed.%I', _old.relname);
    -- What was logged and recorded until then goes with it: it cannot be replayed any more.
    DELETE FROM wed.log WHERE tstmp < _old.day + 1;
    DELETE FROM wed.recording WHERE tstmp < _old.day + 1;
    _dropped := _dropped + 1;
  END LOOP;
  RETURN _dropped;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  RETURN 0; -- somebody reads for long; the next round tries again
END $$;
SELECT wed.roll_trace();

-- Nothing of this schema is anybody's but the owner's.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA wed FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA wed FROM PUBLIC;
GRANT USAGE ON SCHEMA wed TO wed_predicate;
