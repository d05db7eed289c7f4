-- Workers: how a job is taken, finished, failed, given back and found again. Hosts hold leases with
-- fencing tokens; external workers hold the papers' advisory lock on (wid, tgid).

-- A job as a host is given it; with trname null, a token whose job is no longer the host's.
CREATE TYPE wed.claimed AS (
  flow_id integer, wid integer, tgid integer, tgname text, trname text, token bigint, attempt integer,
  timeout_ms bigint, payload text, component_id integer, version integer);

-- Takes a job out of the pool whose condition no longer holds, and traces that. Returns whether it did.
CREATE FUNCTION wed.skip_if_stale(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job wed.job;
  _fired integer[];
  _flow wed.flow;
BEGIN
  SELECT j.* INTO _job FROM wed.job j JOIN wed.trigger t USING (tgid)
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid AND t.recheck AND t.trname <> '_EXCPT'
    -- The state that fired it is still the last one: nothing can have changed.
    AND EXISTS (SELECT FROM wed.trace r WHERE r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq > j.seq);
  IF NOT FOUND THEN RETURN false; END IF;
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _flow.schema_name) USING _wid;
  EXECUTE format('SELECT ((%I.current(ARRAY[$1]))[1]).fired', _flow.shape_schema) INTO _fired USING _wid;
  IF _tgid = ANY (_fired) THEN RETURN false; END IF;
  IF NOT wed.pass_as_it_stands(_flow_id, _wid, _tgid, '_SKIP', NULL,
    format('%s was skipped: its condition no longer holds', _job.trname), NULL, NULL) THEN
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

-- Enters a host. Its leases hold while its row does not expire.
CREATE FUNCTION wed.enter_host(_name text, _lease interval) RETURNS integer
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.host (name, expires_at) VALUES (_name, clock_timestamp() + _lease) RETURNING host_id
$$;

-- Keeps a host's leases. False: they were lost, and the host must enter anew.
CREATE FUNCTION wed.keep_host(_host_id integer, _lease interval) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.host SET expires_at = clock_timestamp() + _lease WHERE host_id = _host_id;
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

-- Gives a host up to _limit jobs that its components can do.
CREATE FUNCTION wed.claim(_host_id integer, _limit integer) RETURNS SETOF wed.claimed
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
  _job record;
  _tokens bigint[] := '{}';
  _token bigint;
BEGIN
  PERFORM FROM wed.host WHERE host_id = _host_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016', HINT = 'Enter anew.';
  END IF;
  FOR _job IN
    SELECT j.flow_id, j.wid, j.tgid, j.attempt, t.attempts, j.trname,
           EXISTS (SELECT FROM wed.trace r WHERE r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq > j.seq) AS moved
    FROM wed.job j JOIN wed.trigger t USING (tgid)
    WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.due <= clock_timestamp()
      AND NOT EXISTS (SELECT FROM wed.flow f JOIN wed.tenant n USING (tenant_id)
                      WHERE f.flow_id = j.flow_id AND n.suspended_at IS NOT NULL)
    ORDER BY j.priority DESC, j.due LIMIT _limit FOR UPDATE OF j SKIP LOCKED
  LOOP
    -- An external worker may be at it.
    CONTINUE WHEN NOT pg_try_advisory_xact_lock(_job.wid, _job.tgid);
    IF _job.moved AND wed.skip_if_stale(_job.flow_id, _job.wid, _job.tgid) THEN
      CONTINUE;
    END IF;
    _token := nextval('wed.fence');
    UPDATE wed.job SET host_id = _host_id, token = _token, attempt = attempt + 1, waits_for = NULL
    WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
    _tokens := _tokens || _token;
  END LOOP;
  RETURN QUERY SELECT * FROM wed.held(_host_id, _tokens);
END $$;

-- The jobs that a host holds under some tokens.
CREATE FUNCTION wed.held(_host_id integer, _tokens bigint[]) RETURNS SETOF wed.claimed
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT j.flow_id, j.wid, j.tgid, t.tgname, j.trname, j.token, j.attempt,
         t.timeout_ms, j.payload::text, j.component_id, f.version
  FROM wed.job j JOIN wed.trigger t USING (tgid) JOIN wed.flow f ON f.flow_id = j.flow_id
  WHERE j.host_id = _host_id AND j.token = ANY (_tokens)
$$;

-- Commits a batch of finished transitions: all of them or none. Groups and items are parallel arrays: a
-- group is one flow and one shape of SET clause, its items follow each other, ordered by wid. The clause
-- comes from the guard and is run with the flow's own rights; in it, _b._1, _b._2, … are the item's
-- literals as text, of which _lit holds, group after group, first all the first, then all the second.
-- Returns the jobs that the new states fired, leased to this host, and the tokens that were not its own
-- any more.
CREATE FUNCTION wed.commit_batch(
  _host_id integer, _flows integer[], _sets text[], _counts integer[], _literals integer[], _wids integer[],
  _tgids integer[], _tokens bigint[], _fuel bigint[], _us bigint[], _memory bigint[], _lit text[])
RETURNS SETOF wed.claimed
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _mark bigint := nextval('wed.fence');
  _last integer := 0;
  _last_lit integer := 0;
  _from integer;
  _flow record;
  _attempts integer[];
  _held integer[];
  _w integer[];
  _t integer[];
  _f bigint[];
  _u bigint[];
  _m bigint[];
  _l text[];
BEGIN
  -- The rows first, in one order for everybody, so that batches never wait in a circle.
  FOR _flow IN
    SELECT f.flow_id, f.schema_name, array_agg(w.wid) AS wids
    FROM unnest(_flows, _counts) WITH ORDINALITY g(flow_id, items, at)
    CROSS JOIN LATERAL (SELECT coalesce(sum(c), 0) AS before FROM unnest(_counts[:g.at - 1]) c) s
    CROSS JOIN LATERAL unnest(_wids[s.before + 1 : s.before + g.items]) w(wid)
    JOIN wed.flow f ON f.flow_id = g.flow_id
    GROUP BY f.flow_id ORDER BY f.flow_id
  LOOP
    EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE',
                   _flow.schema_name) USING _flow.wids;
  END LOOP;

  FOR _g IN 1 .. cardinality(_flows) LOOP
    _from := _last + 1;
    _last := _last + _counts[_g];
    SELECT flow_id, schema_name, role_name, version INTO STRICT _flow FROM wed.flow WHERE flow_id = _flows[_g];
    _w := _wids[_from:_last];
    _t := _tgids[_from:_last];
    _f := _fuel[_from:_last];
    _u := _us[_from:_last];
    _m := _memory[_from:_last];
    _l := _lit[_last_lit + 1 : _last_lit + _counts[_g] * _literals[_g]];
    _last_lit := _last_lit + _counts[_g] * _literals[_g];

    -- Only the present holder of a claim takes its job out.
    WITH done AS (
      DELETE FROM wed.job j
      USING ROWS FROM (unnest(_w), unnest(_t), unnest(_tokens[_from:_last])) AS i(wid, tgid, token)
      WHERE j.flow_id = _flow.flow_id AND j.wid = i.wid AND j.tgid = i.tgid AND j.host_id = _host_id
        AND j.token = i.token
      RETURNING j.wid, j.attempt)
    SELECT array_agg(d.attempt ORDER BY d.wid), array_agg(d.wid ORDER BY d.wid) INTO _attempts, _held FROM done d;

    IF _held IS DISTINCT FROM _w THEN
      RETURN QUERY SELECT _flow.flow_id, NULL::integer, NULL::integer, NULL::text, NULL::text, i.token,
          NULL::integer, NULL::bigint, NULL::text, NULL::integer, NULL::integer
        FROM ROWS FROM (unnest(_w), unnest(_tokens[_from:_last])) AS i(wid, token)
        WHERE i.wid <> ALL (coalesce(_held, '{}'));
      SELECT array_agg(i.t ORDER BY i.wid), array_agg(i.f ORDER BY i.wid), array_agg(i.u ORDER BY i.wid),
             array_agg(i.m ORDER BY i.wid)
      INTO _t, _f, _u, _m
      FROM ROWS FROM (unnest(_w), unnest(_t), unnest(_f), unnest(_u), unnest(_m)) AS i(wid, t, f, u, m)
      WHERE i.wid = ANY (_held);
      _l := ARRAY(SELECT l.text FROM unnest(_l) WITH ORDINALITY l(text, at)
                  WHERE _w[(l.at - 1) % cardinality(_w) + 1] = ANY (_held) ORDER BY l.at);
      _w := _held;
    END IF;
    CONTINUE WHEN _w IS NULL;

    PERFORM set_config('wed.commit', concat_ws('|', _host_id, _w, _t, _attempts, _f, _u, _m), true);
    PERFORM set_config('role', _flow.role_name, true);
    EXECUTE format('UPDATE %I.wed_flow SET %s FROM ROWS FROM (unnest($1)%s) AS _b(_wid%s) WHERE wid = _b._wid',
      _flow.schema_name, _sets[_g],
      (SELECT string_agg(format(', unnest($2[%s:%s])', (n - 1) * cardinality(_w) + 1, n * cardinality(_w)), '' ORDER BY n)
       FROM generate_series(1, _literals[_g]) n),
      (SELECT string_agg(format(', _%s', n), '' ORDER BY n) FROM generate_series(1, _literals[_g]) n))
      USING _w, _l;
    PERFORM set_config('role', 'none', true);
    PERFORM set_config('wed.commit', '', true);

    RETURN QUERY
      SELECT j.flow_id, j.wid, j.tgid, t.tgname, j.trname, j.token, j.attempt, t.timeout_ms, j.payload::text,
             j.component_id, _flow.version
      FROM unnest(_w) i(wid)
      JOIN wed.job j ON j.flow_id = _flow.flow_id AND j.wid = i.wid
      JOIN wed.trigger t ON t.tgid = j.tgid
      WHERE j.host_id = _host_id AND j.token > _mark;
  END LOOP;
END $$;

-- Records attempts that changed nothing, and decides what becomes of their jobs: another attempt later,
-- or, when those are used up, an exception. Items:
--   {"flow", "wid", "token", "outcome", "message", "retry", "fuel", "us", "mem"}
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
      retry boolean, fuel bigint, us bigint, mem bigint)
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
        due = now() + least(_trigger.backoff * (2 ^ least(_job.attempt - 1, 30)), interval '1 day')
      WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
      CONTINUE;
    END IF;
    PERFORM wed.pass_as_it_stands(_job.flow_id, _job.wid, _job.tgid, '_ABORT',
      format('%s: %s after %s attempts: %s', _job.trname, _item.outcome, _job.attempt, left(_item.message, 1000)),
      NULL, _host_id, jsonb_build_object('attempt', _job.attempt, 'fuel', _item.fuel, 'us', _item.us, 'mem', _item.mem));
  END LOOP;
END $$;

-- Gives jobs back unrun, as if they had not been claimed.
CREATE FUNCTION wed.release(_host_id integer, _tokens bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1
  WHERE host_id = _host_id AND token = ANY (_tokens);
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;

-- When the next unclaimed job of the hosts is due, in milliseconds from now; null when there is none.
CREATE FUNCTION wed.next_due() RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT (extract(epoch FROM min(due) - clock_timestamp()) * 1000)::bigint FROM wed.job
  WHERE host_id IS NULL AND component_id IS NOT NULL AND due < 'infinity'
$$;

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
        format('%s: timed_out after %s attempts', _late.trname, _late.attempt), NULL, NULL,
        jsonb_build_object('attempt', _late.attempt));
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
      AND EXISTS (SELECT FROM wed.trace r WHERE r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq > j.seq)
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
  _wid integer;
  _passing wed.passing;
  _excpt integer;
  _trw text := CASE WHEN NOT _preview THEN '_REMATCH' END;
BEGIN
  FOR _wid IN SELECT i.wid FROM wed.instance i WHERE i.flow_id = _flow_id AND i.status <> 'F' ORDER BY i.wid LOOP
    _excpt := NULL;
    _passing := wed.as_it_stands(_flow_id, _wid, NULL, _trw, NULL, NULL, NULL);
    CONTINUE WHEN _passing.wid IS NULL;
    IF _passing.excpt AND _passing.forced IS NULL
       AND (_passing.fire <> '{}' OR _passing.others > 1 OR _passing.final) THEN
      -- The new model leads on from the exception: its job is done by that.
      SELECT j.tgid INTO _excpt FROM wed.job j
      WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.trname = '_EXCPT' AND j.host_id IS NULL;
      IF FOUND THEN
        _passing := wed.as_it_stands(_flow_id, _wid, _excpt, _trw, NULL, NULL, NULL);
      END IF;
    END IF;
    CONTINUE WHEN _passing.fire = '{}' AND wed.next_status(_passing) = _passing.status;
    wid := _wid;
    fires := ARRAY(SELECT t.trname FROM wed.trigger t WHERE t.tgid = ANY (_passing.fire) ORDER BY t.tgid);
    becomes := wed.next_status(_passing);
    IF NOT _preview THEN
      DELETE FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _excpt;
      PERFORM wed.settle(_flow_id, ARRAY[_passing], NULL);
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;

-- Nothing of this schema is anybody's but the owner's.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA wed FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA wed FROM PUBLIC;
GRANT USAGE ON SCHEMA wed TO wed_predicate;
