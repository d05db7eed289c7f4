-- The gate: algorithm 1 of the papers, for a set of instances at a time, inside the statement that
-- writes their states. Whoever writes wed_flow passes here; nothing else writes wed.job and wed.trace.
--
-- Why it is free of races: an UPDATE holds the rows of its instances before the gate runs, and each
-- statement in here takes a fresh snapshot under Read Committed, so of two transactions on one
-- instance the second sees all that the first did. Under stricter isolation the second fails.

-- Whether this session is a host's: only hosts connect as the owner of this schema, and only they
-- are believed about leases.
CREATE FUNCTION wed.is_host() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT nspowner = (SELECT oid FROM pg_roles WHERE rolname = session_user)
  FROM pg_namespace WHERE nspname = 'wed'
$$;

-- What an instance becomes: final when its final condition holds and nothing is pending; an exception
-- when it must, when one is being served, or when nothing is left to do; else regular.
CREATE FUNCTION wed.next_status(_p wed.passing) RETURNS "char" LANGUAGE sql IMMUTABLE AS $$
  SELECT (CASE WHEN _p.final AND _p.others = 0 THEN 'F'
               WHEN _p.forced IS NOT NULL OR _p.excpt OR (_p.others = 0 AND _p.fire = '{}') THEN 'E'
               ELSE 'R' END)::"char"
$$;

-- The last part of the gate, for every way into it: finished jobs out, fired jobs in, trace appended,
-- exception or final decided.
CREATE FUNCTION wed.settle(_flow_id integer, _passing wed.passing[], _host_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _finished bigint;
  _expected bigint;
  _excpt integer;
  _any_change boolean;
  _any_excpt boolean;
  _any_waiting boolean;
  _for_hosts boolean;
  _for_others boolean;
BEGIN
  SELECT count(p.tgid), bool_or(wed.next_status(p) <> p.status), bool_or(p.waiting > 0),
         bool_or(wed.next_status(p) = 'E' AND NOT p.excpt)
  INTO _expected, _any_change, _any_waiting, _any_excpt FROM unnest(_passing) p;

  IF _expected > 0 THEN
    DELETE FROM wed.job j USING unnest(_passing) p
    WHERE j.flow_id = _flow_id AND j.wid = p.wid AND j.tgid = p.tgid AND j.token = p.token;
    GET DIAGNOSTICS _finished = ROW_COUNT;
    IF _finished <> _expected THEN
      RAISE EXCEPTION 'a job was taken by someone else meanwhile' USING ERRCODE = '40001',
        HINT = 'Read job_pool again.';
    END IF;
  END IF;

  INSERT INTO wed.job (flow_id, wid, tgid, trname, timeout, payload, seq, priority, due, fired_at,
                       attempt, component_id, host_id, token)
  SELECT _flow_id, p.wid, t.tgid, t.trname, t.timeout, p.state, p.seq, t.priority, now() + t.delay, now(),
         l.leased::integer, t.component_id, CASE WHEN l.leased THEN _host_id END,
         CASE WHEN l.leased THEN nextval('wed.fence') ELSE 0 END
  FROM unnest(_passing) p
  CROSS JOIN LATERAL unnest(p.fire) f(tgid)
  JOIN wed.trigger t ON t.tgid = f.tgid
  CROSS JOIN LATERAL (SELECT _host_id IS NOT NULL AND t.component_id IS NOT NULL AND t.delay = '0' AS leased) l;

  -- An exception is served like a transition: whoever is bound to _EXCPT.
  IF _any_excpt THEN
    SELECT excpt_tgid INTO _excpt FROM wed.flow WHERE flow_id = _flow_id;
    INSERT INTO wed.job (flow_id, wid, tgid, trname, timeout, payload, seq, priority, due, fired_at, component_id)
    SELECT _flow_id, p.wid, t.tgid, t.trname, t.timeout, p.state, p.seq, t.priority, now(), now(), t.component_id
    FROM unnest(_passing) p, wed.trigger t
    WHERE t.tgid = _excpt AND NOT p.excpt AND wed.next_status(p) = 'E';
    -- Recovery handlers wait on the papers' channel too, hosts on theirs.
    PERFORM CASE WHEN t.component_id IS NULL
                 THEN pg_notify('_EXCPT', format('{"wid":%s,"tgid":%s}', p.wid, _excpt))
                 ELSE pg_notify('wed_jobs', '') END
    FROM unnest(_passing) p, wed.trigger t
    WHERE t.tgid = _excpt AND NOT p.excpt AND wed.next_status(p) = 'E';
  END IF;

  INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tgid, attempt, fuel, elapsed_us,
                         memory_bytes, writer, note)
  SELECT _flow_id, p.wid, p.seq, s.status, p.trw,
         ARRAY(SELECT t.trname FROM wed.trigger t WHERE t.tgid = ANY (p.fire) ORDER BY t.tgid)
           || CASE WHEN s.status = 'E' AND NOT p.excpt THEN ARRAY['_EXCPT'] ELSE '{}' END,
         p.state, p.tgid, p.attempt, p.fuel, p.elapsed_us, p.memory_bytes,
         CASE WHEN _host_id IS NULL THEN session_user::text ELSE 'host:' || _host_id END,
         coalesce(p.forced, p.note)
  FROM unnest(_passing) p CROSS JOIN LATERAL (SELECT wed.next_status(p) AS status) s;

  IF _any_change THEN
    UPDATE wed.instance i SET status = wed.next_status(p), changed = clock_timestamp()
    FROM unnest(_passing) p
    WHERE i.flow_id = _flow_id AND i.wid = p.wid AND i.status <> wed.next_status(p);
  END IF;

  IF _any_waiting THEN
    -- A job left the pool: those that waited for it may try again.
    UPDATE wed.job j SET due = now(), waits_for = NULL FROM unnest(_passing) p
    WHERE j.flow_id = _flow_id AND j.wid = p.wid AND j.waits_for IS NOT NULL;
    PERFORM pg_notify('wed_jobs', '');
  END IF;

  -- Wake the others: external workers by the papers' channel, one notification a job; hosts by one
  -- for the whole transaction. Notifications carry numbers only.
  IF EXISTS (SELECT FROM unnest(_passing) WHERE fire <> '{}') THEN
    SELECT bool_or(t.component_id IS NOT NULL AND _host_id IS NULL), bool_or(t.component_id IS NULL)
    INTO _for_hosts, _for_others FROM wed.trigger t
    WHERE t.tgid IN (SELECT unnest(fire) FROM unnest(_passing));
    IF _for_hosts THEN PERFORM pg_notify('wed_jobs', ''); END IF;
    IF _for_others THEN
      PERFORM pg_notify(t.trname, format('{"wid":%s,"tgid":%s}', p.wid, t.tgid))
      FROM unnest(_passing) p CROSS JOIN LATERAL unnest(p.fire) f(tgid)
      JOIN wed.trigger t ON t.tgid = f.tgid
      WHERE t.component_id IS NULL;
    END IF;
  END IF;
END $$;

-- New instances.
CREATE FUNCTION wed.gate_insert(_flow_id integer, _rows wed.evaluated[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _bad wed.evaluated;
  _schema text;
BEGIN
  SELECT * INTO _bad FROM unnest(_rows) r
  WHERE r.fault IS NOT NULL OR (r.fired = '{}' AND NOT r.final) ORDER BY r.wid LIMIT 1;
  IF _bad.fault IS NOT NULL THEN
    RAISE EXCEPTION 'the initial state of instance % cannot be evaluated: %', _bad.wid, _bad.fault
      USING ERRCODE = 'WF014', HINT = 'Mend the values, or write the condition so that it holds for them too.';
  ELSIF _bad.wid IS NOT NULL THEN
    RAISE EXCEPTION 'the initial state of instance % satisfies no condition', _bad.wid
      USING ERRCODE = 'WF001', DETAIL = left(_bad.state::text, 1000),
        HINT = 'A new instance must fire at least one transition, or be final; see wed_trig.';
  END IF;
  INSERT INTO wed.instance (flow_id, wid, status) SELECT _flow_id, r.wid, 'R' FROM unnest(_rows) r;
  PERFORM wed.settle(_flow_id, ARRAY(
    SELECT ROW(r.wid, r.state, CASE WHEN r.final THEN '{}' ELSE r.fired END, r.final, NULL, 'R', 1, 0, false, 0,
               NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::wed.passing
    FROM unnest(_rows) r), NULL);
  -- A wid given by hand must not be given again by the sequence.
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = _flow_id;
  PERFORM setval(s.seq, m.wid)
  FROM (SELECT max(r.wid) AS wid FROM unnest(_rows) r) m,
       (SELECT pg_get_serial_sequence(format('%I.wed_flow', _schema), 'wid')::regclass AS seq) s
  WHERE m.wid > coalesce(pg_sequence_last_value(s.seq), 0);
END $$;

-- Changed states. Returns, when some instance's writer may not set every attribute, what each may set
-- (null: any); the caller holds it against the rows.
CREATE FUNCTION wed.gate_update(_flow_id integer, _rows wed.evaluated[]) RETURNS jsonb[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _commit jsonb := nullif(current_setting('wed.commit', true), '')::jsonb;
  _host_id integer;
  _tokens bigint[] := '{}';
  _fuel bigint[];
  _us bigint[];
  _memory bigint[];
  _locked bigint[] := '{}';
  _open text[];
  _passing wed.passing[];
  _allowed jsonb[];
  _fault text;
BEGIN
  IF _commit IS NOT NULL AND wed.is_host() THEN
    _host_id := _commit ->> 'host';
    _tokens := ARRAY(SELECT jsonb_array_elements_text(_commit -> 'token')::bigint);
    _fuel := ARRAY(SELECT jsonb_array_elements_text(_commit -> 'fuel')::bigint);
    _us := ARRAY(SELECT jsonb_array_elements_text(_commit -> 'us')::bigint);
    _memory := ARRAY(SELECT jsonb_array_elements_text(_commit -> 'mem')::bigint);
  ELSE
    -- Anyone else shows by the papers' advisory lock which job it finishes.
    _locked := ARRAY(SELECT (l.classid::bigint << 32) | l.objid::bigint FROM pg_locks l
                     WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
                       AND l.pid = pg_backend_pid() AND l.mode = 'ExclusiveLock'
                       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()));
    SELECT open_attributes INTO _open FROM wed.flow WHERE flow_id = _flow_id;
  END IF;

  SELECT array_agg(x.p ORDER BY (x.p).wid), min(x.fault), array_agg(x.allowed ORDER BY (x.p).wid)
  INTO _passing, _fault, _allowed
  FROM (
    SELECT ROW(r.wid, r.state,
        CASE WHEN r.final THEN '{}'
             ELSE ARRAY(SELECT f FROM unnest(r.fired) f WHERE f <> ALL (j.pending)) END,
        r.final, r.fault, i.status, t.seq + 1, j.others, j.excpt, j.waiting, j.tgid, j.token,
        coalesce(g.trname, '_EVENT'), coalesce(nullif(j.attempt, 0), 1), _fuel[a.at], _us[a.at], _memory[a.at],
        NULL)::wed.passing AS p,
      CASE
        WHEN i.status = 'F' THEN 'WF002 ' || r.wid
        WHEN t.xid = pg_current_xact_id_if_assigned() AND t.trw IS NOT NULL THEN 'WF006 ' || r.wid
        WHEN j.finishing > 1 THEN 'WF005 ' || r.wid
        WHEN j.finishing = 1 AND _host_id IS NULL AND j.host_id IS NOT NULL THEN 'WF004 ' || r.wid
        WHEN j.finishing = 0 AND (_host_id IS NOT NULL OR _open = '{}') THEN 'WF003 ' || r.wid
        WHEN r.final AND j.others > 0 THEN 'WF007 ' || r.wid
      END AS fault,
      CASE WHEN j.finishing = 0 THEN jsonb_build_object('event', true, 'set', to_jsonb(_open))
           WHEN g.writes IS NOT NULL THEN jsonb_build_object('transition', g.trname, 'set', to_jsonb(g.writes))
      END AS allowed
    FROM unnest(_rows) r
    JOIN wed.instance i ON i.flow_id = _flow_id AND i.wid = r.wid
    CROSS JOIN LATERAL (
      SELECT seq, xid, trw FROM wed.trace WHERE flow_id = _flow_id AND wid = r.wid
      ORDER BY seq DESC LIMIT 1) t
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE m.mine) AS finishing,
             (count(*) FILTER (WHERE NOT m.mine))::integer AS others,
             coalesce(bool_or(q.trname = '_EXCPT') FILTER (WHERE NOT m.mine), false) AS excpt,
             (count(*) FILTER (WHERE NOT m.mine AND q.waits_for IS NOT NULL))::integer AS waiting,
             coalesce(array_agg(q.tgid) FILTER (WHERE NOT m.mine), '{}') AS pending,
             max(q.tgid) FILTER (WHERE m.mine) AS tgid,
             max(q.token) FILTER (WHERE m.mine) AS token,
             max(q.attempt) FILTER (WHERE m.mine) AS attempt,
             max(q.host_id) FILTER (WHERE m.mine) AS host_id
      FROM wed.job q
      CROSS JOIN LATERAL (SELECT CASE WHEN _host_id IS NOT NULL THEN q.token = ANY (_tokens)
                                      ELSE ((q.wid::bigint << 32) | q.tgid::bigint) = ANY (_locked) END AS mine) m
      WHERE q.flow_id = _flow_id AND q.wid = r.wid) j
    LEFT JOIN wed.trigger g ON g.tgid = j.tgid
    CROSS JOIN LATERAL (SELECT array_position(_tokens, j.token) AS at) a
  ) x;

  IF _fault IS NOT NULL THEN
    PERFORM wed.refuse_update(_fault, _rows);
  END IF;
  PERFORM wed.settle(_flow_id, _passing, _host_id);
  RETURN CASE WHEN array_remove(_allowed, NULL) <> '{}' THEN _allowed END;
END $$;

-- Says why an update is refused, what about, and how to go on.
CREATE FUNCTION wed.refuse_update(_fault text, _rows wed.evaluated[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _code text := substr(_fault, 1, 5);
  _wid text := substr(_fault, 7);
BEGIN
  CASE _code
    WHEN 'WF002' THEN
      RAISE EXCEPTION 'instance % is final and cannot be modified', _wid USING ERRCODE = 'WF002',
        HINT = 'Start a new instance.';
    WHEN 'WF003' THEN
      RAISE EXCEPTION 'this session holds no lock on a pending job of instance %', _wid USING ERRCODE = 'WF003',
        HINT = 'Take the job''s lock first, SELECT pg_try_advisory_xact_lock(wid, tgid) with a row of job_pool, or declare the attribute open (UPDATE wed_attr SET open = true).';
    WHEN 'WF004' THEN
      RAISE EXCEPTION 'the job of instance % that this session has locked is in the hands of a host', _wid
        USING ERRCODE = 'WF004', HINT = 'Abort, and look for another job.';
    WHEN 'WF005' THEN
      RAISE EXCEPTION 'this session holds the locks of several pending jobs of instance %', _wid
        USING ERRCODE = 'WF005', HINT = 'One transaction finishes one job of an instance: lock only that one.';
    WHEN 'WF006' THEN
      RAISE EXCEPTION 'instance % was already updated in this transaction', _wid USING ERRCODE = 'WF006',
        HINT = 'One transaction finishes one job of an instance, with one UPDATE: commit, then go on.';
    WHEN 'WF007' THEN
      RAISE EXCEPTION 'the final condition of instance % would hold while other transitions of it are pending', _wid
        USING ERRCODE = 'WF007', HINT = 'Let the pending transitions in job_pool finish first, then try again.';
  END CASE;
END $$;

-- Holds what an update changed against what its writer may set.
CREATE FUNCTION wed.check_writes(_wids integer[], _allowed jsonb[], _old jsonb[], _new jsonb[]) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _bad record;
BEGIN
  SELECT r.wid, r.allowed, n.key INTO _bad
  FROM ROWS FROM (unnest(_wids), unnest(_allowed), unnest(_old), unnest(_new)) AS r(wid, allowed, old, new)
  CROSS JOIN LATERAL jsonb_each(r.new) n
  WHERE r.allowed IS NOT NULL AND r.old -> n.key IS DISTINCT FROM n.value
    AND NOT r.allowed -> 'set' ? n.key
  ORDER BY r.wid LIMIT 1;
  IF NOT FOUND THEN RETURN; END IF;
  IF _bad.allowed ? 'event' THEN
    RAISE EXCEPTION 'this session holds no lock on a pending job of instance %, and attribute "%" is not open',
        _bad.wid, _bad.key USING ERRCODE = 'WF003',
      HINT = 'Take the job''s lock first, SELECT pg_try_advisory_xact_lock(wid, tgid) with a row of job_pool, or declare the attribute open (UPDATE wed_attr SET open = true).';
  END IF;
  RAISE EXCEPTION 'transition % may not set attribute "%"', _bad.allowed ->> 'transition', _bad.key
    USING ERRCODE = 'WF010', DETAIL = format('Instance %s; it may set: %s.', _bad.wid, coalesce(nullif(
      (SELECT string_agg(w, ', ') FROM jsonb_array_elements_text(_bad.allowed -> 'set') w), ''), 'nothing')),
    HINT = 'Add the attribute to the trigger''s writes in wed_trig, or do not set it.';
END $$;

CREATE FUNCTION wed.refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'instances are not deleted (instance %)', OLD.wid USING ERRCODE = 'WF009',
    HINT = 'Let the instance reach its final state; its history is kept.';
END $$;

-- Sends an instance through the gate as it stands, without a new state: a skipped job, an exhausted
-- one, a re-match. Its row is locked first. Returns what passed, or nothing when there was no need.
CREATE FUNCTION wed.pass_current(
  _flow_id integer, _wid integer, _tgid integer, _token bigint, _trw text, _forced text, _note text,
  _host_id integer, _measure jsonb) RETURNS wed.passing
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _row wed.evaluated;
  _passing wed.passing;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _flow.schema_name) USING _wid;
  EXECUTE format('SELECT (%I.current(ARRAY[$1]))[1].*', _flow.shape_schema) INTO _row USING _wid;
  SELECT r.wid, r.state,
    CASE WHEN r.final OR _forced IS NOT NULL THEN '{}'
         ELSE ARRAY(SELECT f FROM unnest(r.fired) f WHERE f <> ALL (j.pending)) END,
    r.final AND _forced IS NULL, coalesce(_forced, r.fault), i.status, t.seq + 1, j.others, j.excpt, j.waiting,
    _tgid, _token, _trw, (_measure ->> 'attempt')::integer, (_measure ->> 'fuel')::bigint,
    (_measure ->> 'us')::bigint, (_measure ->> 'mem')::bigint, _note
  INTO _passing
  FROM (SELECT _row.*) r
  JOIN wed.instance i ON i.flow_id = _flow_id AND i.wid = r.wid
  CROSS JOIN LATERAL (SELECT max(seq) AS seq FROM wed.trace WHERE flow_id = _flow_id AND wid = r.wid) t
  CROSS JOIN LATERAL (
    SELECT (count(*) FILTER (WHERE q.tgid IS DISTINCT FROM _tgid))::integer AS others,
           coalesce(bool_or(q.trname = '_EXCPT') FILTER (WHERE q.tgid IS DISTINCT FROM _tgid), false) AS excpt,
           (count(*) FILTER (WHERE q.tgid IS DISTINCT FROM _tgid AND q.waits_for IS NOT NULL))::integer AS waiting,
           coalesce(array_agg(q.tgid) FILTER (WHERE q.tgid IS DISTINCT FROM _tgid), '{}') AS pending
    FROM wed.job q WHERE q.flow_id = _flow_id AND q.wid = r.wid) j;
  IF _passing.wid IS NULL OR _passing.status = 'F' THEN RETURN NULL; END IF;
  RETURN _passing;
END $$;
