-- The gate: algorithm 1 of the papers, for a set of instances at a time, inside the statement that
-- writes their states. Whoever writes wed_flow passes here; nothing else writes wed.job and wed.trace.
--
-- The functions in here have no search_path of their own: each setting of one costs a dozen microseconds
-- a call. Whoever calls them has set it: the flow's triggers and the functions of 0005_worker.sql.
--
-- Why it is free of races: an UPDATE holds the rows of its instances before the gate runs, and each
-- statement in here takes a fresh snapshot under Read Committed, so of two transactions on one
-- instance the second sees all that the first did. Under stricter isolation the second fails.

-- Whether this session is a host's: only hosts connect as the owner of this schema, and only they
-- are believed about leases.
CREATE FUNCTION wed.is_host() RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM pg_namespace
                 WHERE nspname = 'wed' AND nspowner = quote_ident(session_user)::regrole::oid);
END $$;

-- What an instance becomes: final when its final condition holds and nothing is pending; an exception
-- when it must, when one is being served, or when nothing is left to do; else regular.
CREATE FUNCTION wed.next_status(_p wed.passing) RETURNS "char" LANGUAGE sql IMMUTABLE AS $$
  SELECT (CASE WHEN _p.final AND _p.others = 0 THEN 'F'
               WHEN _p.forced IS NOT NULL OR _p.excpt OR (_p.others = 0 AND _p.fire = '{}') THEN 'E'
               ELSE 'R' END)::"char"
$$;

-- The last part of the gate, for every way into it: fired jobs in, trace appended, exception or final
-- decided. The finished jobs are out of the pool already.
CREATE FUNCTION wed.settle(_flow_id integer, _passing wed.passing[], _host_id integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _changed boolean;
  _excepted boolean;
  _waiting boolean;
  _fires boolean;
  _for_hosts boolean;
  _for_others boolean;
BEGIN
  WITH p AS MATERIALIZED (
    SELECT p.*, wed.next_status(p) AS becomes FROM unnest(_passing) p
  ), fired AS (
    INSERT INTO wed.job (flow_id, wid, tgid, trname, timeout, payload, seq, priority, due, fired_at,
                         attempt, component_id, host_id, token)
    SELECT _flow_id, p.wid, t.tgid, t.trname, t.timeout, p.state, p.seq, t.priority, now() + t.delay, now(),
           l.leased::integer, t.component_id, CASE WHEN l.leased THEN _host_id END,
           CASE WHEN l.leased THEN nextval('wed.fence') ELSE 0 END
    FROM p
    CROSS JOIN LATERAL unnest(p.fire) f(tgid)
    JOIN wed.trigger t ON t.tgid = f.tgid
    CROSS JOIN LATERAL (SELECT _host_id IS NOT NULL AND t.component_id IS NOT NULL AND t.delay = '0' AS leased) l
  ), traced AS (
    INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tgid, attempt, fuel, elapsed_us,
                           memory_bytes, writer, note)
    SELECT _flow_id, p.wid, p.seq, p.becomes, p.trw,
           ARRAY(SELECT t.trname FROM unnest(p.fire) f(tgid) JOIN wed.trigger t ON t.tgid = f.tgid)
             || CASE WHEN p.becomes = 'E' AND NOT p.excpt THEN ARRAY['_EXCPT'] END,
           p.state, p.tgid, p.attempt, p.fuel, p.elapsed_us, p.memory_bytes,
           CASE WHEN _host_id IS NULL THEN session_user::text ELSE 'host:' || _host_id END,
           coalesce(p.forced, p.note)
    FROM p
  )
  SELECT bool_or(becomes <> status), bool_or(becomes = 'E' AND NOT excpt), bool_or(waiting), bool_or(fire <> '{}')
  INTO _changed, _excepted, _waiting, _fires FROM p;

  IF _excepted THEN
    -- An exception is served like a transition: by whoever is bound to _EXCPT.
    INSERT INTO wed.job (flow_id, wid, tgid, trname, timeout, payload, seq, priority, due, fired_at, component_id)
    SELECT _flow_id, p.wid, t.tgid, t.trname, t.timeout, p.state, p.seq, t.priority, now(), now(), t.component_id
    FROM unnest(_passing) p, wed.flow f JOIN wed.trigger t ON t.tgid = f.excpt_tgid
    WHERE f.flow_id = _flow_id AND NOT p.excpt AND wed.next_status(p) = 'E';
    PERFORM CASE WHEN t.component_id IS NULL
                 THEN pg_notify('_EXCPT', format('{"wid":%s,"tgid":%s}', p.wid, t.tgid))
                 ELSE pg_notify('wed_jobs', '') END
    FROM unnest(_passing) p, wed.flow f JOIN wed.trigger t ON t.tgid = f.excpt_tgid
    WHERE f.flow_id = _flow_id AND NOT p.excpt AND wed.next_status(p) = 'E';
  END IF;

  IF _changed THEN
    UPDATE wed.instance i SET status = wed.next_status(p), changed = clock_timestamp()
    FROM unnest(_passing) p
    WHERE i.flow_id = _flow_id AND i.wid = p.wid AND i.status <> wed.next_status(p);
  END IF;

  IF _waiting THEN
    -- A job left the pool: those that waited for it may try again.
    UPDATE wed.job j SET due = now(), waits_for = NULL FROM unnest(_passing) p
    WHERE j.flow_id = _flow_id AND j.wid = p.wid AND j.waits_for IS NOT NULL;
    PERFORM pg_notify('wed_jobs', '');
  END IF;

  -- Wake the others: external workers by the papers' channel, one notification a job; hosts by one
  -- for the whole transaction. Notifications carry numbers only.
  IF _fires THEN
    SELECT bool_or(t.component_id IS NOT NULL AND (_host_id IS NULL OR t.delay > '0')), bool_or(t.component_id IS NULL)
    INTO _for_hosts, _for_others FROM wed.trigger t
    WHERE t.tgid = ANY (ARRAY(SELECT unnest(fire) FROM unnest(_passing)));
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
LANGUAGE plpgsql AS $$
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
    SELECT ROW(r.wid, r.state, CASE WHEN r.final THEN '{}' ELSE r.fired END, r.final, NULL, 'R', 1, 0, false,
               false, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::wed.passing
    FROM unnest(_rows) r), NULL);
  -- A wid given by hand must not be given again by the sequence.
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = _flow_id;
  PERFORM setval(s.seq, m.wid)
  FROM (SELECT max(r.wid) AS wid FROM unnest(_rows) r) m,
       (SELECT pg_get_serial_sequence(format('%I.wed_flow', _schema), 'wid')::regclass AS seq) s
  WHERE m.wid > coalesce(pg_sequence_last_value(s.seq), 0);
END $$;

-- Changed states, ordered by wid. Returns, when some instance's writer may not set every attribute, what
-- each may set (null: any); the caller holds it against the rows.
CREATE FUNCTION wed.gate_update(_flow_id integer, _rows wed.evaluated[]) RETURNS jsonb[]
LANGUAGE plpgsql AS $$
DECLARE
  _commit text := current_setting('wed.commit', true);
  _host_id integer;
  _tgids integer[];
  _attempts integer[];
  _fuel bigint[];
  _us bigint[];
  _memory bigint[];
  _open text[];
  _passing wed.passing[];
  _allowed jsonb[];
  _fault text;
BEGIN
  -- Which job each writer finishes. It leaves the pool now, so that a trigger can fire itself again.
  IF _commit <> '' AND wed.is_host() THEN
    -- A host's batch has taken its jobs out already, checked by their tokens (commit_batch).
    IF split_part(_commit, '|', 2)::integer[] IS DISTINCT FROM ARRAY(SELECT r.wid FROM unnest(_rows) r) THEN
      RAISE EXCEPTION 'the batch does not fit its instances' USING ERRCODE = '40001';
    END IF;
    _host_id := split_part(_commit, '|', 1);
    _tgids := split_part(_commit, '|', 3);
    _attempts := split_part(_commit, '|', 4);
    _fuel := split_part(_commit, '|', 5);
    _us := split_part(_commit, '|', 6);
    _memory := split_part(_commit, '|', 7);
  ELSE
    -- Anyone else shows by the papers' advisory lock which job it finishes.
    SELECT m.tgids, m.attempts, m.fault INTO _tgids, _attempts, _fault
    FROM wed.finish_locked(_flow_id, ARRAY(SELECT r.wid FROM unnest(_rows) r)) m;
    SELECT open_attributes INTO _open FROM wed.flow WHERE flow_id = _flow_id;
  END IF;

  SELECT array_agg(ROW(r.wid, r.state,
        CASE WHEN r.final OR r.fired = '{}' THEN '{}' WHEN j.others = 0 THEN r.fired
             ELSE ARRAY(SELECT f FROM unnest(r.fired) f WHERE f <> ALL (j.pending)) END,
        r.final, r.fault, t.status, t.seq + 1, j.others, j.excpt, j.waiting, r.tgid,
        coalesce(g.trname, '_EVENT'), r.attempt, r.fuel, r.us, r.memory, NULL)::wed.passing),
      coalesce(_fault, min(CASE
        WHEN t.status = 'F' THEN 'WF002 ' || r.wid
        WHEN t.xid = pg_current_xact_id() AND t.trw IS NOT NULL THEN 'WF006 ' || r.wid
        WHEN r.tgid IS NULL AND (_host_id IS NOT NULL OR _open = '{}') THEN 'WF003 ' || r.wid
        WHEN r.final AND j.others > 0 THEN 'WF007 ' || r.wid END)),
      CASE WHEN bool_or(r.tgid IS NULL OR g.writes IS NOT NULL) THEN
        array_agg(CASE WHEN r.tgid IS NULL THEN jsonb_build_object('event', true, 'set', to_jsonb(_open))
                       WHEN g.writes IS NOT NULL THEN jsonb_build_object('transition', g.trname, 'set', to_jsonb(g.writes))
                  END ORDER BY r.wid) END
  INTO _passing, _fault, _allowed
  FROM ROWS FROM (unnest(_rows), unnest(_tgids), unnest(_attempts), unnest(_fuel), unnest(_us), unnest(_memory))
    AS r(wid, state, fired, final, fault, tgid, attempt, fuel, us, memory)
  CROSS JOIN LATERAL (
    SELECT seq, xid, trw, status FROM wed.trace WHERE flow_id = _flow_id AND wid = r.wid
    ORDER BY seq DESC LIMIT 1) t
  CROSS JOIN LATERAL (
    SELECT count(*)::integer AS others, coalesce(bool_or(q.trname = '_EXCPT'), false) AS excpt,
           coalesce(bool_or(q.waits_for IS NOT NULL), false) AS waiting, array_agg(q.tgid) AS pending
    FROM wed.job q WHERE q.flow_id = _flow_id AND q.wid = r.wid) j
  LEFT JOIN wed.trigger g ON g.tgid = r.tgid;

  IF _fault IS NOT NULL THEN
    PERFORM wed.refuse_update(_fault);
  END IF;
  PERFORM wed.settle(_flow_id, _passing, _host_id);
  RETURN _allowed;
END $$;

-- Takes the jobs of some instances out of the pool whose advisory lock (wid, tgid) this session holds.
-- The arrays are in the order of the given wids; null where the session holds none.
CREATE FUNCTION wed.finish_locked(
  _flow_id integer, _wids integer[], OUT tgids integer[], OUT attempts integer[], OUT fault text)
LANGUAGE plpgsql AS $$
DECLARE
  _locked integer[];
  _of integer[];
BEGIN
  SELECT array_agg(l.classid::bigint::integer), array_agg(l.objid::bigint::integer) INTO _of, _locked
  FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.pid = pg_backend_pid()
    AND l.mode = 'ExclusiveLock'
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database());
  IF _locked IS NULL THEN
    tgids := array_fill(NULL::integer, ARRAY[cardinality(_wids)]);
    attempts := tgids;
    RETURN;
  END IF;
  SELECT array_agg(j.tgid ORDER BY w.at), array_agg(greatest(j.attempt, 1) ORDER BY w.at),
         min(CASE WHEN j.jobs > 1 THEN 'WF005 ' || w.wid WHEN j.hosted THEN 'WF004 ' || w.wid END)
  INTO tgids, attempts, fault
  FROM unnest(_wids) WITH ORDINALITY w(wid, at)
  CROSS JOIN LATERAL (
    SELECT count(*) AS jobs, min(q.tgid) AS tgid, min(q.attempt) AS attempt, bool_or(q.host_id IS NOT NULL) AS hosted
    FROM ROWS FROM (unnest(_of), unnest(_locked)) AS l(wid, tgid)
    JOIN wed.job q ON q.flow_id = _flow_id AND q.wid = l.wid AND q.tgid = l.tgid
    WHERE l.wid = w.wid) j;
  IF fault IS NULL THEN
    DELETE FROM wed.job q USING ROWS FROM (unnest(_wids), unnest(tgids)) AS f(wid, tgid)
    WHERE q.flow_id = _flow_id AND q.wid = f.wid AND q.tgid = f.tgid;
  END IF;
END $$;

-- Says why an update is refused, what about, and how to go on.
CREATE FUNCTION wed.refuse_update(_fault text) RETURNS void
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
LANGUAGE plpgsql STABLE AS $$
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

-- An instance as it stands, ready to pass the gate without a new state: a skipped job, an exhausted one,
-- a re-match. Its row is locked first, unless it is only looked at (_trw null); the named job counts as gone. Null when the instance is final.
CREATE FUNCTION wed.as_it_stands(
  _flow_id integer, _wid integer, _tgid integer, _trw text, _forced text, _note text, _measure jsonb)
RETURNS wed.passing
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _row wed.evaluated;
  _passing wed.passing;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  IF _trw IS NOT NULL THEN
    EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _flow.schema_name) USING _wid;
  END IF;
  EXECUTE format('SELECT (%I.current(ARRAY[$1]))[1].*', _flow.shape_schema) INTO _row USING _wid;
  SELECT r.wid, r.state,
    CASE WHEN r.final OR _forced IS NOT NULL THEN '{}'
         ELSE ARRAY(SELECT f FROM unnest(r.fired) f WHERE f <> ALL (j.pending)) END,
    r.final AND _forced IS NULL, coalesce(_forced, r.fault), i.status, t.seq + 1, j.others, j.excpt, j.waiting,
    _tgid, _trw, (_measure ->> 'attempt')::integer, (_measure ->> 'fuel')::bigint,
    (_measure ->> 'us')::bigint, (_measure ->> 'mem')::bigint, _note
  INTO _passing
  FROM (SELECT _row.*) r
  JOIN wed.instance i ON i.flow_id = _flow_id AND i.wid = r.wid
  CROSS JOIN LATERAL (SELECT max(seq) AS seq FROM wed.trace WHERE flow_id = _flow_id AND wid = r.wid) t
  CROSS JOIN LATERAL (
    SELECT count(*)::integer AS others, coalesce(bool_or(q.trname = '_EXCPT'), false) AS excpt,
           coalesce(bool_or(q.waits_for IS NOT NULL), false) AS waiting,
           coalesce(array_agg(q.tgid), '{}') AS pending
    FROM wed.job q WHERE q.flow_id = _flow_id AND q.wid = r.wid AND q.tgid IS DISTINCT FROM _tgid) j;
  IF _passing.wid IS NULL OR _passing.status = 'F' THEN RETURN NULL; END IF;
  RETURN _passing;
END $$;

-- The same, and through the gate: the named job leaves the pool. False when there was nothing to do.
CREATE FUNCTION wed.pass_as_it_stands(
  _flow_id integer, _wid integer, _tgid integer, _trw text, _forced text, _note text, _host_id integer,
  _measure jsonb) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _passing wed.passing := wed.as_it_stands(_flow_id, _wid, _tgid, _trw, _forced, _note, _measure);
BEGIN
  IF _passing.wid IS NULL THEN RETURN false; END IF;
  DELETE FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid;
  PERFORM wed.settle(_flow_id, ARRAY[_passing], _host_id);
  RETURN true;
END $$;
