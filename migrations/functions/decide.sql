-- Decides about instances with new states: Algorithm 1 of the papers over a set of instances. Nothing here writes.
--
-- wed.decide pairs each new state with the job that ends with it, by flow and wid, and takes three steps:
--   1. wed.decide_outcome   what the instance becomes, and which triggers fire
--   2. wed.decide_next_job  whether the finished job's row becomes the first fired one's
--   3. wed.find_refusal     the rule that forbids it, if any
-- Each is a plain query over rows with named fields, which Postgres inlines: together they are one statement.

-- Decides what becomes of instances with new states, inside the transaction that writes them. _finished are the jobs
-- that end; _forced says why the instances must become exceptions; _lease: a host has room for the jobs that fire.
--
-- It is free of races: an UPDATE holds the rows of its instances before it comes here, and under Read Committed each
-- statement takes a fresh snapshot, so of two transactions on one instance the second sees all that the first did.
-- Under stricter isolation the second fails.
CREATE OR REPLACE FUNCTION wed.decide(
  _rows wed.evaluated[], _finished wed.finished[], _cause wed.cause, _forced text, _lease boolean)
  RETURNS wed.decision[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT ROW(e, f, p, o, n, wed.find_refusal(e, f, p, o, _cause),
               CASE WHEN _cause = 'transition' THEN p.trname ELSE _cause::text END)::wed.decision
    FROM unnest(_rows) e
    -- FULL: a job that ends without a new state is refused.
    FULL JOIN unnest(_finished) f ON f.flow_id = e.flow_id AND f.wid = e.wid
    CROSS JOIN LATERAL wed.read_pool(e.flow_id, e.wid, f.tgid, f.token) p
    CROSS JOIN LATERAL wed.decide_outcome(e, p, _cause, _forced) o
    CROSS JOIN LATERAL wed.decide_next_job(o.fire, p.row_id IS NOT NULL, _cause, _lease) n);
END $$;

-- Step 1. An instance is final when its final condition holds and nothing is pending; an exception when it must be,
-- when one is being served, or when nothing is left to do; else regular. Final or forced, it fires nothing; nor while a
-- compensation is pending. Conditions that were not evaluated (kept) have the value that they had. Waits end that hold
-- no longer, and all of them where nothing else keeps the final state away; the clock makes known only what it fires.
-- An event that makes the final state ends people's work too, and jobs that nobody has and whose condition no longer
-- holds (decision 0101).
CREATE OR REPLACE FUNCTION wed.decide_outcome(_row wed.evaluated, _pool wed.pool, _cause wed.cause, _forced text)
  RETURNS SETOF wed.outcome
LANGUAGE sql STABLE AS $$
  SELECT b.becomes, b.becomes <> coalesce(_pool.status, 'R') AS changes, f.forced, x.fires_exception, f.fire,
    CASE WHEN _row.kept IS NOT NULL OR _pool.others > 0 THEN f.satisfied END AS satisfied,
    w.stay + cardinality(f.fire) + x.fires_exception::integer - 1 AS siblings,
    coalesce(_pool.last_seq, 0) + 1 AS seq, w.ends
  FROM (
    SELECT s.forced, s.satisfied, CASE
      WHEN _row.final OR s.forced IS NOT NULL OR _pool.is_compensation AND _pool.row_id IS NULL THEN '{}'
      WHEN _row.kept IS NULL AND _pool.others = 0 THEN _row.fired::integer[]
      ELSE ARRAY(SELECT (x & 4294967295)::integer FROM unnest(s.satisfied) x
                 WHERE (x & 4294967295)::integer <> ALL (_pool.pending) ORDER BY 1) END AS fire
    FROM (
      SELECT coalesce(_forced, _row.fault, CASE
          WHEN _pool.is_compensation AND _cause <> '_SKIP' THEN 'undone by ' || _pool.trname END) AS forced,
        CASE WHEN _row.kept IS NULL OR _row.kept = '{}' THEN _row.fired
          ELSE _row.fired || ARRAY(SELECT x FROM unnest(_pool.satisfied) x WHERE (x >> 32)::integer = ANY (_row.kept))
          END AS satisfied OFFSET 0) s
    OFFSET 0) f
  CROSS JOIN LATERAL (
    SELECT e.ends, _pool.others - cardinality(e.ends) AS stay
    FROM (SELECT CASE
        WHEN _cause = '_EVENT' AND _row.final AND f.forced IS NULL AND _pool.others > cardinality(_pool.waits)
          AND wed.event_ends_jobs(_row.flow_id, _row.wid, _pool.waits, f.satisfied) THEN _pool.pending
        WHEN _pool.waits = '{}' OR _cause = '_CLOCK' THEN '{}'
        WHEN _row.final AND f.forced IS NULL AND _pool.others = cardinality(_pool.waits) THEN _pool.waits
        ELSE ARRAY(SELECT t FROM unnest(_pool.waits) t
                   WHERE NOT EXISTS (SELECT FROM unnest(f.satisfied) x WHERE (x & 4294967295) = t))
        END::integer[] AS ends OFFSET 0) e OFFSET 0) w
  CROSS JOIN LATERAL (
    SELECT (CASE
      WHEN _row.final AND f.forced IS NULL AND w.stay = 0 THEN 'F'
      WHEN f.forced IS NOT NULL OR _pool.has_exception OR (w.stay = 0 AND f.fire = '{}') THEN 'E'
      ELSE 'R' END)::"char" AS becomes) b
  CROSS JOIN LATERAL (SELECT b.becomes = 'E' AND NOT _pool.has_exception AS fires_exception) x
$$;

-- Tells whether an event that makes the final state ends an instance's jobs (but for waits, which end anyway): nobody
-- has them, and they are people's work, or their condition no longer holds, so that they would be skipped. What a worker
-- has locked is somebody's. Locks nothing, since a preview asks too: wed.end_waits takes what is to go.
CREATE OR REPLACE FUNCTION wed.event_ends_jobs(_flow_id integer, _wid integer, _waits integer[], _satisfied bigint[])
  RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT coalesce(bool_and(j.host_id IS NULL AND (
        EXISTS (SELECT FROM wed.work_task k WHERE k.tgid = j.tgid)
        OR j.trname <> '_EXCPT' AND NOT j.is_compensation
          AND (SELECT t.recheck FROM wed.trigger t WHERE t.tgid = j.tgid)
          AND NOT EXISTS (SELECT FROM unnest(_satisfied) x WHERE (x & 4294967295) = j.tgid))
      AND (j.component_id IS NOT NULL OR NOT wed.is_job_locked(j.wid, j.tgid))), false)
    FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid <> ALL (_waits));
END $$;

-- Step 2. The row of the job that ends becomes that of the first fired one, leased to the same host, where a host runs
-- it, at once, and has room.
CREATE OR REPLACE FUNCTION wed.decide_next_job(_fire integer[], _job_ends boolean, _cause wed.cause, _lease boolean)
  RETURNS SETOF wed.next_job
LANGUAGE sql STABLE AS $$
  SELECT k.reuses_row, CASE WHEN k.reuses_row THEN _fire[2:] ELSE _fire END AS fire,
    t.tgid, t.tgname, t.trname, t.component_id, t.priority, t.timeout_ms, t.timeout, t.constrained
  FROM (SELECT) one
  LEFT JOIN LATERAL (SELECT * FROM wed.trigger WHERE tgid = _fire[1] OFFSET 0) t ON true
  CROSS JOIN LATERAL (
    SELECT (_lease AND _job_ends AND t.component_id IS NOT NULL AND t.delay = '0'
            AND (NOT t.constrained OR _cause = 'transition')) IS TRUE AS reuses_row) k
$$;

-- Step 3. Returns the code of the rule that forbids a new state; null: none. 40001: the job's claim was lost, or the
-- flow was changed just now; the writer tries again with the jobs that it still has.
CREATE OR REPLACE FUNCTION wed.find_refusal(
  _row wed.evaluated, _finished wed.finished, _pool wed.pool, _outcome wed.outcome, _cause wed.cause) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN _finished.tgid IS NOT NULL AND _pool.row_id IS NULL THEN '40001'
    WHEN _pool.status IS NULL AND _cause <> 'transition' THEN 'WF002'
    -- Each argument that is an expression is named once, or this is a call for each result. No condition of an event's
    -- state is kept, so that it has fired all that hold.
    WHEN _pool.others > cardinality(_pool.waits) AND _row.final AND _outcome.forced IS NULL
      AND (_cause = 'transition' OR _cause = '_EVENT'
        AND NOT wed.event_ends_jobs(_row.flow_id, _row.wid, _pool.waits, _row.fired)) THEN 'WF007'
    WHEN _row.kept <> '{}' AND _row.version IS DISTINCT FROM _pool.version THEN '40001' END
$$;

-- Reads the pool for an instance of which the job of _tgid and _token ends. Nearly always that is its only job. Looked
-- for from the index's end: of a row whose old versions must be kept, the newest is there. (Not by equality, which
-- Postgres takes for any order.)
CREATE OR REPLACE FUNCTION wed.read_pool(_flow_id integer, _wid integer, _tgid integer, _token bigint)
  RETURNS SETOF wed.pool
LANGUAGE sql STABLE AS $$
  SELECT (p.pool).*
  FROM (
    SELECT coalesce(a.pool, wed.summarize_pool(_flow_id, _wid, _tgid, _token)) AS pool
    FROM (SELECT) one
    LEFT JOIN LATERAL (
      SELECT ROW(j.ctid, j.trname, j.attempt, j.seq, j.component_id, 0, '{}', false, false, j.is_compensation,
                 CASE WHEN j.trname = '_EXCPT' THEN 'E' ELSE 'R' END, j.last_seq, j.version, j.satisfied,
                 '{}')::wed.pool
        AS pool
      FROM wed.job j
      WHERE j.flow_id = _flow_id AND j.wid >= _wid AND j.wid <= _wid AND j.tgid = _tgid AND j.token = _token
        AND j.beside = 0
      ORDER BY j.wid DESC LIMIT 1) a ON true
    OFFSET 0) p
  OFFSET 0
$$;

-- Reads the pool for an instance that may have several jobs.
CREATE OR REPLACE FUNCTION wed.summarize_pool(_flow_id integer, _wid integer, _tgid integer, _token bigint)
  RETURNS wed.pool
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _pool wed.pool;
BEGIN
  SELECT max(j.ctid) FILTER (WHERE j.ends) AS row_id, max(j.trname) FILTER (WHERE j.ends) AS trname,
    max(j.attempt) FILTER (WHERE j.ends) AS attempt, max(j.seq) FILTER (WHERE j.ends) AS from_seq,
    max(j.component_id) FILTER (WHERE j.ends) AS component_id,
    count(*) FILTER (WHERE NOT j.ends) AS others,
    coalesce(array_agg(j.tgid) FILTER (WHERE NOT j.ends), '{}') AS pending,
    coalesce(bool_or(j.trname = '_EXCPT' AND NOT j.ends), false) AS has_exception,
    coalesce(bool_or(j.awaits_siblings AND NOT j.ends), false) AS has_waiting,
    coalesce(bool_or(j.is_compensation), false) AS is_compensation,
    CASE bool_or(j.trname = '_EXCPT') WHEN true THEN 'E' WHEN false THEN 'R' END AS status,
    max(j.last_seq) AS last_seq, max(j.version) AS version, max(j.satisfied) AS satisfied,
    coalesce(array_agg(j.tgid) FILTER (WHERE NOT j.ends AND j.waits), '{}') AS waits
  INTO _pool
  FROM (SELECT *, ctid, (tgid = _tgid AND token = _token) IS TRUE AS ends,
          is_wait AND host_id IS NULL AND due > clock_timestamp() AS waits FROM wed.job
        WHERE flow_id = _flow_id AND wid = _wid OFFSET 0) j;
  RETURN _pool;
END $$;

-- Returns an instance's present state, evaluated anew: for a skipped job, an exhausted one, a re-match.
CREATE OR REPLACE FUNCTION wed.as_it_stands(_flow_id integer, _wid integer) RETURNS wed.evaluated[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _shape text;
  _rows wed.evaluated[];
BEGIN
  SELECT shape_schema INTO _shape FROM wed.flow WHERE flow_id = _flow_id;
  EXECUTE format('SELECT %1$I.current_%1$s(ARRAY[$1])', _shape) INTO _rows USING _wid;
  RETURN _rows;
END $$;

-- Returns the one job that ends, for wed.pass_gate.
CREATE OR REPLACE FUNCTION wed.finished_job(
  _flow_id integer, _wid integer, _tgid integer, _token bigint, _fuel bigint DEFAULT NULL, _us bigint DEFAULT NULL,
  _memory bigint DEFAULT NULL) RETURNS wed.finished[]
LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY[ROW(_flow_id, _wid, _tgid, _token, _fuel, _us, _memory)::wed.finished]
$$;
