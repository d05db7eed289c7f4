-- The gate: algorithm 1 of the papers, for a set of instances at a time, inside the transaction that
-- writes their states. Whoever writes wed_flow passes here; nothing else writes wed.job and wed.trace.
--
-- The functions in here have no search_path of their own: each setting of one costs a dozen microseconds
-- a call. Whoever calls them has set it: the flow's triggers and the functions of 0005_worker.sql.
--
-- Why it is free of races: an UPDATE holds the rows of its instances before the gate runs, and each
-- statement in here takes a fresh snapshot under Read Committed, so of two transactions on one
-- instance the second sees all that the first did. Under stricter isolation the second fails.

-- Puts new states beside what is pending, and decides: what fires, what the instance becomes, whether a
-- rule forbids it. An instance that is not final has at least one job, and all its jobs know its newest
-- trace row; one without jobs is final, or new. The arrays are parallel; _tgids says which job ends with
-- the state, _tokens by which claim. _trw names what wrote when it was no transition, _forced why the
-- instance must become an exception.
--
-- It is final when its final condition holds and nothing is pending; an exception when it must, when one
-- is being served, or when nothing is left to do; else regular.
CREATE FUNCTION wed.gather(
  _rows wed.evaluated[], _tgids integer[], _tokens bigint[], _trw text, _forced text,
  _fuel bigint[], _us bigint[], _memory bigint[]) RETURNS SETOF wed.passing
LANGUAGE sql STABLE ROWS 100 AS $$
  SELECT r.flow_id, r.version, r.wid, r.state, r.payload,
    CASE WHEN r.kept IS NOT NULL THEN s.satisfied END, o.forced, r.tgid,
    coalesce(_trw, q.trname), q.attempt, r.fuel, r.us, r.memory,
    q.own, q.from_seq, q.component_id, coalesce(q.last_seq, 0) + 1, q.others, q.excpt, q.waiting, f.fire, q.was,
    (CASE WHEN r.final AND o.forced IS NULL AND q.others = 0 THEN 'F'
          WHEN o.forced IS NOT NULL OR q.excpt OR (q.others = 0 AND f.fire = '{}') THEN 'E'
          ELSE 'R' END)::"char",
    CASE WHEN r.tgid IS NOT NULL AND q.own IS NULL THEN 'lost'
         WHEN q.was IS NULL AND coalesce(_trw, 'new') <> 'new' THEN 'WF002'
         WHEN q.others > 0 AND r.final AND o.forced IS NULL AND (_trw IS NULL OR _trw = '_EVENT') THEN 'WF007'
         WHEN r.kept <> '{}' AND r.version IS DISTINCT FROM q.version THEN 'again' END
  FROM unnest(_rows) WITH ORDINALITY AS e(flow_id, version, wid, state, payload, fired, kept, final, fault, at)
  CROSS JOIN LATERAL (SELECT e.*, _tgids[e.at] AS tgid, _tokens[e.at] AS token, _fuel[e.at] AS fuel, _us[e.at] AS us,
    _memory[e.at] AS memory) r
  -- Nearly always the job that ends is its instance's only one. Looked for from the index's end: of a row whose old versions
  -- must be kept, the newest is there. (Not by equality, which Postgres takes for any order.)
  LEFT JOIN LATERAL (
    SELECT ctid, trname, attempt, seq, component_id, last_seq, version, satisfied FROM wed.job
    WHERE flow_id = r.flow_id AND wid >= r.wid AND wid <= r.wid AND tgid = r.tgid AND token = r.token AND beside = 0
    ORDER BY wid DESC LIMIT 1) a ON true
  CROSS JOIN LATERAL (
    -- Where there is none, all of the instance's are looked at. Not a join: that would be begun for each, for nothing.
    SELECT CASE WHEN a.ctid IS NULL THEN (
      SELECT ROW(
        max(j.ctid) FILTER (WHERE j.mine),
        max(j.trname) FILTER (WHERE j.mine),
        max(j.attempt) FILTER (WHERE j.mine),
        max(j.seq) FILTER (WHERE j.mine),
        max(j.component_id) FILTER (WHERE j.mine),
        max(j.last_seq), max(j.version), max(j.satisfied),
        count(*) FILTER (WHERE NOT j.mine),
        bool_or(j.trname = '_EXCPT' AND NOT j.mine),
        bool_or(j.waits_for IS NOT NULL AND NOT j.mine),
        array_agg(j.tgid) FILTER (WHERE NOT j.mine),
        bool_or(j.trname = '_EXCPT'))::wed.pool
      FROM (SELECT *, ctid, (tgid = r.tgid AND token = r.token) IS TRUE AS mine FROM wed.job
            WHERE flow_id = r.flow_id AND wid = r.wid OFFSET 0) j) END AS pool OFFSET 0) b
  CROSS JOIN LATERAL (
    SELECT coalesce(a.ctid, (b.pool).own) AS own, coalesce(a.trname, (b.pool).trname) AS trname,
           greatest(coalesce(a.attempt, (b.pool).attempt), 1) AS attempt, coalesce(a.seq, (b.pool).from_seq) AS from_seq,
           coalesce(a.component_id, (b.pool).component_id) AS component_id, coalesce(a.last_seq, (b.pool).last_seq) AS last_seq,
           coalesce(a.version, (b.pool).version) AS version, coalesce(a.satisfied, (b.pool).satisfied) AS satisfied,
           coalesce((b.pool).others, 0) AS others, coalesce((b.pool).excpt, false) AS excpt, coalesce((b.pool).waiting, false) AS waiting,
           coalesce((b.pool).pending, '{}') AS pending,
           (CASE coalesce(a.trname = '_EXCPT', (b.pool).served) WHEN true THEN 'E' WHEN false THEN 'R' END)::"char" AS was) q
  CROSS JOIN LATERAL (SELECT coalesce(_forced, r.fault) AS forced) o
  CROSS JOIN LATERAL (
    SELECT CASE WHEN r.kept IS NULL OR r.kept = '{}' THEN r.fired
                ELSE r.fired || ARRAY(SELECT x FROM unnest(q.satisfied) x WHERE (x >> 32)::integer = ANY (r.kept))
           END AS satisfied) s
  CROSS JOIN LATERAL (
    SELECT CASE
      WHEN r.final OR o.forced IS NOT NULL THEN '{}'
      WHEN r.kept IS NULL AND q.others = 0 THEN r.fired::integer[]
      WHEN r.kept IS NULL THEN ARRAY(SELECT x::integer FROM unnest(s.satisfied) x WHERE x <> ALL (q.pending))
      ELSE ARRAY(SELECT (x & 4294967295)::integer FROM unnest(s.satisfied) x
                 WHERE (x & 4294967295)::integer <> ALL (q.pending) ORDER BY 1) END AS fire OFFSET 0) f
$$;

-- Brings the other jobs of an instance up to its newest trace row, and lets those that waited for a job to leave
-- the pool try again. A function, because a statement's plan would read all jobs for it where the pool was
-- empty when the plan was made. Rows that carry the new number already are the statement's own. Returns _writer.
CREATE FUNCTION wed.keep_beside(
  _writer text, _flow_id integer, _wid integer, _own tid, _seq integer, _version integer, _satisfied bigint[],
  _beside integer, _waiting boolean)
RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wed.job SET last_seq = _seq, version = _version, satisfied = _satisfied, beside = _beside,
    due = CASE WHEN waits_for IS NULL THEN due ELSE now() END, waits_for = NULL
  WHERE flow_id = _flow_id AND wid = _wid AND last_seq < _seq AND (_own IS NULL OR ctid <> _own);
  IF _waiting THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  RETURN _writer;
END $$;

-- The last part of the gate, for every way into it, in one statement: the finished job out, fired jobs
-- in, trace appended, exception or final decided. In a host's commit the finished job's row becomes the
-- first fired one's, leased to the same host, unless it wants others to have a turn (_lease false). Returns
-- the jobs that were leased.
CREATE FUNCTION wed.settle(
  _rows wed.evaluated[], _tgids integer[], _tokens bigint[], _host_id integer DEFAULT NULL,
  _trw text DEFAULT NULL, _forced text DEFAULT NULL, _note text DEFAULT NULL,
  _fuel bigint[] DEFAULT NULL, _us bigint[] DEFAULT NULL, _memory bigint[] DEFAULT NULL, _lease boolean DEFAULT true)
RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _writer text := CASE WHEN _host_id IS NULL THEN session_user::text ELSE 'host:' || _host_id END;
  _ending integer := coalesce(cardinality(array_remove(_tgids, NULL)), 0);
BEGIN
  RETURN QUERY
    WITH p AS MATERIALIZED (
      -- First what the parts below choose by: what stands behind columns of varying length costs more to look at.
      SELECT k.turns, NOT k.turns OR cardinality(p.fire) > 1 OR p.becomes <> coalesce(p.was, 'R') AS more,
             p.*, t.tgname AS next_tgname, t.trname AS next_trname, t.timeout AS next_timeout,
             t.timeout_ms AS next_timeout_ms, t.priority AS next_priority, t.component_id AS next_component,
             CASE WHEN k.turns THEN nextval('wed.fence') END AS token
      FROM wed.gather(_rows, _tgids, _tokens, _trw, _forced, _fuel, _us, _memory) p
      -- One look for each, however few triggers there were when the plan was made.
      LEFT JOIN LATERAL (
        SELECT tgname, trname, timeout, timeout_ms, priority, component_id, delay FROM wed.trigger
        WHERE tgid = p.fire[1] OFFSET 0) t ON true
      CROSS JOIN LATERAL (
        SELECT (_lease AND _host_id IS NOT NULL AND p.own IS NOT NULL AND t.component_id IS NOT NULL
                AND t.delay = '0') IS TRUE AS turns) k
    ), rest AS MATERIALIZED (
      -- Most just go on: those of which there is more to do are chosen once. (An instance that goes on is no new exception.)
      SELECT p.*, cardinality(p.fire) > p.turns::integer AS forks, p.own IS NOT NULL AND NOT p.turns AS ends,
             p.becomes = 'E' AND NOT p.excpt AS excepts, p.becomes <> coalesce(p.was, 'R') AS changes,
             p.others + cardinality(p.fire) + (p.becomes = 'E' AND NOT p.excpt)::integer - 1 AS beside
      FROM p WHERE p.more
    ), turned AS (
      UPDATE wed.job j SET tgid = p.tgid, trname = p.next_trname, timeout = p.next_timeout, seq = p.seq,
        last_seq = p.seq, priority = p.next_priority, fired_at = _now, attempt = 1,
        component_id = p.next_component, token = p.token, version = p.version,
        satisfied = p.satisfied, beside = p.beside, payload = NULL
      -- Only what it needs: a row that an update is joined to is made into one value, should the other be updated meanwhile.
      FROM (SELECT q.own, q.fire[1] AS tgid, q.next_trname, q.next_timeout, q.seq, q.next_priority, q.next_component,
                   q.token, q.version, q.satisfied, q.others + cardinality(q.fire) - 1 AS beside FROM p q WHERE q.turns OFFSET 0) p
      WHERE j.ctid = p.own RETURNING 1
    ), ended AS (
      DELETE FROM wed.job j USING rest p WHERE p.ends AND j.ctid = p.own RETURNING 1
    ), fired AS (
      INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at, attempt,
                           component_id, host_id, token, version, satisfied, beside)
      SELECT p.flow_id, t.tenant_id, p.wid, t.tgid, t.trname, t.timeout, p.seq, p.seq, t.priority, now() + t.delay, _now,
             l.leased::integer, t.component_id, CASE WHEN l.leased THEN _host_id END,
             CASE WHEN l.leased THEN nextval('wed.fence') ELSE 0 END, p.version, p.satisfied, p.beside
      FROM rest p
      CROSS JOIN LATERAL unnest(CASE WHEN p.turns THEN p.fire[2:] ELSE p.fire END) f(tgid)
      JOIN wed.trigger t ON t.tgid = f.tgid
      CROSS JOIN LATERAL (SELECT _lease AND _host_id IS NOT NULL AND t.component_id IS NOT NULL AND t.delay = '0' AS leased) l
      -- Most rows fire nothing beside: they are left out before the list is taken apart.
      WHERE p.forks
      -- Wake the others: external workers by the papers' channel, one notification a job; hosts by one for
      -- the whole transaction (Postgres drops equal ones). Notifications carry numbers only. A transaction that
      -- notifies keeps all others that do waiting while it commits, so a host that leaves jobs to others tells
      -- them afterwards (tell_hosts).
      RETURNING flow_id, wid, tgid, trname, token, component_id, host_id, CASE
        WHEN component_id IS NULL THEN pg_notify(trname, format('{"wid":%s,"tgid":%s}', wid, tgid))
        WHEN host_id IS NULL AND (_lease OR due > now()) THEN pg_notify('wed_jobs', '') END
    ), excepted AS (
      -- An exception is served like a transition: by whoever is bound to _EXCPT.
      INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at,
                           component_id, version, satisfied, beside)
      SELECT p.flow_id, t.tenant_id, p.wid, t.tgid, t.trname, t.timeout, p.seq, p.seq, t.priority, now(), _now,
             t.component_id, p.version, p.satisfied, p.beside
      FROM rest p JOIN wed.flow f ON f.flow_id = p.flow_id JOIN wed.trigger t ON t.tgid = f.excpt_tgid
      WHERE p.excepts
      RETURNING CASE WHEN component_id IS NULL THEN pg_notify(trname, format('{"wid":%s,"tgid":%s}', wid, tgid))
                     ELSE pg_notify('wed_jobs', '') END
    ), changed AS (
      UPDATE wed.instance i SET status = p.becomes, changed = _now
      FROM rest p WHERE p.changes AND i.flow_id = p.flow_id AND i.wid = p.wid
    ), traced AS (
      INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, tgid, attempt, fuel, elapsed_us,
                             memory_bytes, component_id, from_seq, writer, note)
      SELECT p.flow_id, p.wid, p.seq, p.becomes, p.trw,
             CASE WHEN cardinality(p.fire) = 1 THEN ARRAY[p.next_trname]
                  ELSE ARRAY(SELECT t.trname FROM unnest(p.fire) WITH ORDINALITY f(tgid, at)
                             JOIN wed.trigger t ON t.tgid = f.tgid ORDER BY f.at) END
               || CASE WHEN p.becomes = 'E' AND NOT p.excpt THEN ARRAY['_EXCPT'] END,
             p.state, _now, p.tgid, p.attempt, p.fuel, p.elapsed_us, p.memory_bytes,
             CASE WHEN _trw IS NULL THEN p.component_id END, p.from_seq,
             CASE WHEN p.others > 0 AND p.refusal IS NULL
               THEN wed.keep_beside(_writer, p.flow_id, p.wid, p.own, p.seq, p.version, p.satisfied,
                                    p.others + cardinality(p.fire) + (p.becomes = 'E' AND NOT p.excpt)::integer - 1, p.waiting)
               ELSE _writer END,
             CASE WHEN p.refusal IS NOT NULL THEN wed.refuse_update(p.refusal, p.wid)
                  -- Somebody changed a job's row in the same moment: an update that finds it moved leaves it out.
                  WHEN (SELECT count(*) FROM turned) + (SELECT count(*) FROM ended)
                    <> _ending THEN wed.refuse_update('lost', p.wid)
                  ELSE coalesce(p.forced, _note) END
      FROM p
    )
    -- Not what the update returns: its rows would be kept once more.
    SELECT p.flow_id, p.wid, p.fire[1], p.next_tgname, p.next_trname, p.token, 1, p.next_timeout_ms,
           coalesce(p.payload, p.state), p.next_component, p.version, p.seq FROM p WHERE p.turns
    UNION ALL
    SELECT f.flow_id, f.wid, f.tgid, t.tgname, f.trname, f.token, 1, t.timeout_ms, coalesce(p.payload, p.state), f.component_id, p.version, p.seq
    FROM fired f JOIN wed.trigger t ON t.tgid = f.tgid
    -- One look at p for each that is leased, whatever the planner thinks of their number.
    CROSS JOIN LATERAL (SELECT p.payload, p.state, p.version, p.seq FROM rest p WHERE p.flow_id = f.flow_id AND p.wid = f.wid OFFSET 0) p
    WHERE f.host_id IS NOT NULL;
END $$;

-- New instances.
CREATE FUNCTION wed.gate_insert(_flow_id integer, _rows wed.evaluated[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _bad wed.evaluated;
  _schema text;
BEGIN
  SELECT * INTO _bad FROM unnest(_rows) r
  WHERE r.wid < 1 OR r.fault IS NOT NULL OR (r.fired = '{}' AND NOT r.final) ORDER BY r.wid LIMIT 1;
  IF _bad.wid < 1 THEN
    RAISE EXCEPTION 'the wid of an instance is a positive number, and % is none', _bad.wid USING ERRCODE = '23514',
      HINT = 'Leave it out: the next free one is taken.';
  END IF;
  IF _bad.fault IS NOT NULL THEN
    RAISE EXCEPTION 'the initial state of instance % cannot be evaluated: %', _bad.wid, _bad.fault
      USING ERRCODE = 'WF014', HINT = 'Mend the values, or write the condition so that it holds for them too.';
  ELSIF _bad.wid IS NOT NULL THEN
    RAISE EXCEPTION 'the initial state of instance % satisfies no condition', _bad.wid
      USING ERRCODE = 'WF001', DETAIL = left(_bad.state::jsonb::text, 1000),
        HINT = 'A new instance must fire at least one transition, or be final; see wed_trig.';
  END IF;
  INSERT INTO wed.instance (flow_id, wid, status) SELECT _flow_id, r.wid, 'R' FROM unnest(_rows) r;
  PERFORM wed.settle(_rows, NULL, NULL);
  -- A wid given by hand must not be given again by the sequence.
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = _flow_id;
  PERFORM setval(s.seq, m.wid)
  FROM (SELECT max(r.wid) AS wid FROM unnest(_rows) r) m,
       (SELECT pg_get_serial_sequence(format('%I.wed_flow', _schema), 'wid')::regclass AS seq) s
  WHERE m.wid > coalesce(pg_sequence_last_value(s.seq), 0);
END $$;

-- Who writes some instances outside of a host's commit, ordered by wid: the job that each write ends,
-- shown by the papers' advisory lock (wid, tgid) of this session; null for an event. Of each instance whose
-- writer may not set every attribute, what it may set.
CREATE FUNCTION wed.writer(_flow_id integer, _wids integer[], OUT tgids integer[], OUT allowed jsonb[])
LANGUAGE plpgsql AS $$
DECLARE
  _locked integer[];
  _of integer[];
  _open text[];
  _refusal text;
  _wid integer;
BEGIN
  SELECT array_agg(l.classid::bigint::integer), array_agg(l.objid::bigint::integer) INTO _of, _locked
  FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.pid = pg_backend_pid()
    AND l.mode = 'ExclusiveLock'
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database());
  SELECT open_attributes INTO _open FROM wed.flow WHERE flow_id = _flow_id;
  SELECT array_agg(j.tgid ORDER BY w.at),
         array_agg(CASE WHEN j.tgid IS NULL THEN jsonb_build_object('event', true, 'set', to_jsonb(_open))
                        WHEN g.writes IS NOT NULL THEN jsonb_build_object('transition', g.trname, 'set', to_jsonb(g.writes))
                   END ORDER BY w.at),
         min(j.refusal), min(w.wid) FILTER (WHERE j.refusal IS NOT NULL)
  INTO tgids, allowed, _refusal, _wid
  FROM unnest(_wids) WITH ORDINALITY w(wid, at)
  CROSS JOIN LATERAL (
    SELECT min(q.tgid) FILTER (WHERE q.mine) AS tgid,
           CASE WHEN count(*) = 0 THEN 'WF002'
                WHEN EXISTS (SELECT FROM wed.trace r WHERE r.flow_id = _flow_id AND r.wid = w.wid
                             AND r.seq = max(q.last_seq) AND r.tstmp >= now() AND r.xid = pg_current_xact_id()
                             AND r.trw IS NOT NULL) THEN 'WF006'
                WHEN count(*) FILTER (WHERE q.mine) > 1 THEN 'WF005'
                WHEN bool_or(q.mine AND q.host_id IS NOT NULL) THEN 'WF004'
                WHEN NOT bool_or(q.mine) AND _open = '{}' THEN 'WF003' END AS refusal
    FROM (SELECT *, EXISTS (SELECT FROM ROWS FROM (unnest(_of), unnest(_locked)) AS l(wid, tgid)
                            WHERE l.wid = j.wid AND l.tgid = j.tgid) AS mine
          FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = w.wid) q) j
  LEFT JOIN wed.trigger g ON g.tgid = j.tgid;
  IF _refusal IS NOT NULL THEN
    PERFORM wed.refuse_update(_refusal, _wid);
  END IF;
  IF array_remove(allowed, NULL) = '{}' THEN
    allowed := NULL;
  END IF;
END $$;

-- Changed states, ordered by wid, of writers that may have set what they set.
CREATE FUNCTION wed.gate_update(_rows wed.evaluated[], _tgids integer[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _none bigint[] := array_fill(0::bigint, ARRAY[cardinality(_tgids)]);
  _events integer[];
BEGIN
  IF array_position(_tgids, NULL) IS NULL THEN
    PERFORM wed.settle(_rows, _tgids, _none);
    RETURN;
  END IF;
  -- Events apart: what wrote is not a job's transition.
  _events := ARRAY(SELECT at FROM unnest(_tgids) WITH ORDINALITY t(tgid, at) WHERE tgid IS NULL);
  PERFORM wed.settle(ARRAY(SELECT _rows[at] FROM unnest(_events) at), NULL, NULL, NULL, '_EVENT');
  IF cardinality(_events) < cardinality(_tgids) THEN
    PERFORM wed.settle(ARRAY(SELECT _rows[at] FROM generate_subscripts(_rows, 1) at WHERE at <> ALL (_events)),
                       array_remove(_tgids, NULL), _none);
  END IF;
END $$;

-- Says why an update is refused, what about, and how to go on.
CREATE FUNCTION wed.refuse_update(_code text, _wid integer) RETURNS text
LANGUAGE plpgsql AS $$
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
    ELSE
      -- Its claim was lost, or the flow was changed just now: to be tried again with what is still held.
      RAISE EXCEPTION 'instance % moved on meanwhile', _wid USING ERRCODE = '40001';
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
  PERFORM wed.refuse_write(_bad.wid, _bad.allowed ->> 'transition', _bad.key,
                           ARRAY(SELECT jsonb_array_elements_text(_bad.allowed -> 'set')));
END $$;

CREATE FUNCTION wed.refuse_write(_wid integer, _transition text, _attribute text, _allowed text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'transition % may not set attribute "%"', _transition, _attribute
    USING ERRCODE = 'WF010', DETAIL = format('Instance %s; it may set: %s.', _wid,
      coalesce(nullif(array_to_string(_allowed, ', '), ''), 'nothing')),
    HINT = 'Add the attribute to the trigger''s writes in wed_trig, or do not set it.';
END $$;

CREATE FUNCTION wed.refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'instances are not deleted (instance %)', OLD.wid USING ERRCODE = 'WF009',
    HINT = 'Let the instance reach its final state; its history is kept.';
END $$;

-- An instance's present state, evaluated anew: for a skipped job, an exhausted one, a re-match.
CREATE FUNCTION wed.as_it_stands(_flow_id integer, _wid integer) RETURNS wed.evaluated[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _shape text;
  _rows wed.evaluated[];
BEGIN
  SELECT shape_schema INTO _shape FROM wed.flow WHERE flow_id = _flow_id;
  EXECUTE format('SELECT %1$I.current_%1$s(ARRAY[$1])', _shape) INTO _rows USING _wid;
  RETURN _rows;
END $$;

-- Lets an instance pass the gate as it stands: the named job leaves the pool. Its row is locked first. False
-- when there was nothing to do, since the instance is final or the job is gone.
CREATE FUNCTION wed.pass_as_it_stands(
  _flow_id integer, _wid integer, _tgid integer, _trw text, _forced text, _note text, _host_id integer,
  _fuel bigint DEFAULT NULL, _us bigint DEFAULT NULL, _memory bigint DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _schema text;
  _token bigint;
BEGIN
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = _flow_id;
  EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _schema) USING _wid;
  SELECT token INTO _token FROM wed.job
  WHERE flow_id = _flow_id AND wid = _wid AND (tgid = _tgid OR _tgid IS NULL) ORDER BY tgid LIMIT 1;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM wed.settle(wed.as_it_stands(_flow_id, _wid), ARRAY[_tgid], ARRAY[_token], _host_id, _trw, _forced, _note,
                     ARRAY[_fuel], ARRAY[_us], ARRAY[_memory]);
  RETURN true;
END $$;
