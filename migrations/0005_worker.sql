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
  _passing wed.passing;
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
  _passing := wed.pass_current(_flow_id, _wid, _tgid, _job.token, '_SKIP', NULL,
    format('%s was skipped: its condition no longer holds', _job.trname), NULL, NULL);
  IF _passing.wid IS NULL THEN RETURN false; END IF;
  PERFORM wed.settle(_flow_id, ARRAY[_passing], NULL);
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
         (extract(epoch FROM j.timeout) * 1000)::bigint, j.payload::text, j.component_id, f.version
  FROM wed.job j JOIN wed.trigger t USING (tgid) JOIN wed.flow f ON f.flow_id = j.flow_id
  WHERE j.host_id = _host_id AND j.token = ANY (_tokens)
$$;

-- Commits a batch of finished transitions: all of them or none. A group is one flow and one shape of
-- SET clause:
--   {"flow": 1, "set": "a2 = (_b._lit ->> 0)::text", "items":
--     [{"_wid": 1, "token": 7, "_lit": ["done"], "fuel": 10, "us": 20, "mem": 65536}]}
-- The clause comes from the guard and is run with the flow's own rights. Returns the jobs that the new
-- states fired, leased to this host, and the tokens that were no longer its own.
CREATE FUNCTION wed.commit_batch(_host_id integer, _groups jsonb) RETURNS SETOF wed.claimed
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _mark bigint := nextval('wed.fence');
  _group record;
  _items jsonb;
  _lost bigint[];
BEGIN
  -- The rows first, in one order for everybody, so that batches never wait in a circle.
  FOR _group IN
    SELECT (g ->> 'flow')::integer AS flow_id, array_agg(i._wid ORDER BY i._wid) AS wids, f.schema_name
    FROM jsonb_array_elements(_groups) g
    CROSS JOIN LATERAL jsonb_to_recordset(g -> 'items') AS i(_wid integer)
    JOIN wed.flow f ON f.flow_id = (g ->> 'flow')::integer
    GROUP BY 1, 3 ORDER BY 1
  LOOP
    EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE',
                   _group.schema_name) USING _group.wids;
  END LOOP;

  FOR _group IN
    SELECT f.flow_id, f.schema_name, f.role_name, g ->> 'set' AS clause, g -> 'items' AS items
    FROM jsonb_array_elements(_groups) g JOIN wed.flow f ON f.flow_id = (g ->> 'flow')::integer
  LOOP
    SELECT jsonb_agg(i) FILTER (WHERE j.token IS NOT NULL),
           array_agg((i ->> 'token')::bigint) FILTER (WHERE j.token IS NULL)
    INTO _items, _lost
    FROM jsonb_array_elements(_group.items) i
    LEFT JOIN wed.job j ON j.flow_id = _group.flow_id AND j.wid = (i ->> '_wid')::integer
      AND j.host_id = _host_id AND j.token = (i ->> 'token')::bigint;
    IF _lost IS NOT NULL THEN
      RETURN QUERY SELECT _group.flow_id, NULL::integer, NULL::integer, NULL::text, NULL::text, l,
        NULL::integer, NULL::bigint, NULL::text, NULL::integer, NULL::integer FROM unnest(_lost) l;
    END IF;
    CONTINUE WHEN _items IS NULL;
    PERFORM set_config('wed.commit', (
      SELECT jsonb_build_object('host', _host_id, 'token', jsonb_agg(i -> 'token'), 'fuel', jsonb_agg(i -> 'fuel'),
                                'us', jsonb_agg(i -> 'us'), 'mem', jsonb_agg(i -> 'mem'))::text
      FROM jsonb_array_elements(_items) i), true);
    PERFORM set_config('role', _group.role_name, true);
    EXECUTE format('UPDATE %I.wed_flow SET %s FROM jsonb_to_recordset($1) AS _b(_wid integer, _lit jsonb) WHERE wid = _b._wid',
                   _group.schema_name, _group.clause) USING _items;
    PERFORM set_config('role', 'none', true);
    PERFORM set_config('wed.commit', '', true);
    RETURN QUERY
      SELECT j.flow_id, j.wid, j.tgid, t.tgname, j.trname, j.token, j.attempt,
             (extract(epoch FROM j.timeout) * 1000)::bigint, j.payload::text, j.component_id, f.version
      FROM jsonb_to_recordset(_items) AS i(_wid integer)
      JOIN wed.job j ON j.flow_id = _group.flow_id AND j.wid = i._wid
      JOIN wed.trigger t USING (tgid) JOIN wed.flow f ON f.flow_id = j.flow_id
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
  _passing wed.passing;
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
    _passing := wed.pass_current(_job.flow_id, _job.wid, _job.tgid, _job.token, '_ABORT',
      format('%s: %s after %s attempts: %s', _job.trname, _item.outcome, _job.attempt, left(_item.message, 1000)),
      NULL, _host_id, jsonb_build_object('attempt', _job.attempt, 'fuel', _item.fuel, 'us', _item.us, 'mem', _item.mem));
    IF _passing.wid IS NOT NULL THEN
      PERFORM wed.settle(_job.flow_id, ARRAY[_passing], _host_id);
    END IF;
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
  _passing wed.passing;
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
      _passing := wed.pass_current(_late.flow_id, _late.wid, _late.tgid, 0, '_ABORT',
        format('%s: timed_out after %s attempts', _late.trname, _late.attempt), NULL, NULL,
        jsonb_build_object('attempt', _late.attempt));
      IF _passing.wid IS NOT NULL THEN
        PERFORM wed.settle(_late.flow_id, ARRAY[_passing], NULL);
      END IF;
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
  _excpt record;
BEGIN
  FOR _wid IN SELECT i.wid FROM wed.instance i WHERE i.flow_id = _flow_id AND i.status <> 'F' ORDER BY i.wid LOOP
    _passing := wed.pass_current(_flow_id, _wid, NULL, NULL, '_REMATCH', NULL, NULL, NULL, NULL);
    CONTINUE WHEN _passing.wid IS NULL;
    IF _passing.excpt AND _passing.forced IS NULL
       AND (_passing.fire <> '{}' OR _passing.others > 1 OR _passing.final) THEN
      -- The new model leads on from the exception: its job is done by that.
      SELECT j.tgid, j.token INTO _excpt FROM wed.job j
      WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.trname = '_EXCPT' AND j.host_id IS NULL;
      IF FOUND THEN
        _passing := wed.pass_current(_flow_id, _wid, _excpt.tgid, _excpt.token, '_REMATCH', NULL, NULL, NULL, NULL);
      END IF;
    END IF;
    CONTINUE WHEN _passing.fire = '{}' AND wed.next_status(_passing) = _passing.status;
    wid := _wid;
    fires := ARRAY(SELECT t.trname FROM wed.trigger t WHERE t.tgid = ANY (_passing.fire) ORDER BY t.tgid);
    becomes := wed.next_status(_passing);
    IF NOT _preview THEN
      PERFORM wed.settle(_flow_id, ARRAY[_passing], NULL);
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;

-- Nothing of this schema is anybody's but the owner's.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA wed FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA wed FROM PUBLIC;
GRANT USAGE ON SCHEMA wed TO wed_predicate;
