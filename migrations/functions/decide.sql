-- What becomes of instances with new states: Algorithm 1 of the papers over a set of instances. Nothing here writes.

-- Decides what becomes of instances with new states, and writes nothing: what fires, what the instance becomes, whether
-- a rule forbids it. Algorithm 1 of the papers, for a set of instances at a time, inside the transaction that writes
-- their states. _results says which job ends with which state, row by row; null or shorter: none does. _trw names what
-- wrote when it was no transition, _forced why the instance must become an exception; _lease: a host has room for what
-- is fired.
--
-- It is free of races: an UPDATE holds the rows of its instances before it comes here, and under Read Committed each
-- statement takes a fresh snapshot, so of two transactions on one instance the second sees all that the first did.
-- Under stricter isolation the second fails.
--
-- An instance is final when its final condition holds and nothing is pending; an exception when it must, when one is
-- being served, or when nothing is left to do; else regular. One without jobs is final, or new.
CREATE OR REPLACE FUNCTION wed.decide(
  _rows wed.evaluated[], _results wed.result[], _trw text, _forced text, _lease boolean) RETURNS wed.passing[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT ROW(k.turns, q.own IS NOT NULL AND NOT k.turns, cardinality(f.fire) > k.turns::integer, b.excepts,
      b.becomes <> coalesce(q.was, 'R'), q.waiting, n.constrained, q.others,
      q.others + cardinality(f.fire) + b.excepts::integer - 1,
      r.flow_id, r.version, r.wid, coalesce(q.last_seq, 0) + 1, q.from_seq, r.tgid, greatest(q.attempt, 1),
      CASE WHEN _trw IS NULL THEN q.component_id END, q.own, b.becomes,
      n.tgid, n.component_id, n.priority, n.timeout_ms, n.timeout, r.fuel, r.elapsed_us, r.memory_bytes, n.trname,
      n.tgname,
      coalesce(_trw, q.trname),
      CASE WHEN r.tgid IS NOT NULL AND (q.own IS NULL OR r.of_wid <> r.wid) THEN 'lost'
           WHEN q.was IS NULL AND coalesce(_trw, 'new') <> 'new' THEN 'WF002'
           WHEN q.others > 0 AND r.final AND o.forced IS NULL AND (_trw IS NULL OR _trw = '_EVENT') THEN 'WF007'
           WHEN r.kept <> '{}' AND r.version IS DISTINCT FROM q.version THEN 'again' END,
      o.forced, f.fire, CASE WHEN r.kept IS NOT NULL OR q.others > 0 OR s.satisfied = '{-1}' THEN s.satisfied END,
      r.payload,
      r.state)::wed.passing
    FROM ROWS FROM (unnest(_rows), unnest(_results)) AS r(
      flow_id, version, wid, state, payload, fired, kept, final, fault,
      of_wid, tgid, token, fuel, elapsed_us, memory_bytes, literals)
    -- Nearly always the job that ends is its instance's only one. Looked for from the index's end: of a row whose old
    -- versions must be kept, the newest is there. (Not by equality, which Postgres takes for any order.)
    LEFT JOIN LATERAL (
      SELECT ROW(j.ctid, j.trname, j.attempt, j.seq, j.component_id, j.last_seq, j.version, j.satisfied, 0, false,
        false,
                 '{}', j.trname = '_EXCPT')::wed.pool AS pool
      FROM wed.job j
      WHERE j.flow_id = r.flow_id AND j.wid >= r.wid AND j.wid <= r.wid AND j.tgid = r.tgid AND j.token = r.token
        AND j.beside = 0
      ORDER BY j.wid DESC LIMIT 1) a ON true
    CROSS JOIN LATERAL (
      SELECT (p.pool).*, (CASE (p.pool).served WHEN true THEN 'E' WHEN false THEN 'R' END)::"char" AS was
      FROM (SELECT coalesce(a.pool, wed.pool_of(r.flow_id, r.wid, r.tgid, r.token)) AS pool OFFSET 0) p OFFSET 0) q
    -- A compensation's state fires nothing (wed.undo_next). One that is skipped undoes nothing.
    CROSS JOIN LATERAL (
      SELECT coalesce(_forced, r.fault, CASE
        WHEN q.satisfied = '{-1}' AND _trw IS DISTINCT FROM '_SKIP' THEN 'undone by ' || q.trname END) AS forced) o
    CROSS JOIN LATERAL (
      -- Nor does an event's, or a re-match, while a compensation is pending.
      SELECT CASE WHEN q.own IS NULL AND q.satisfied = '{-1}' THEN q.satisfied
        WHEN r.kept IS NULL OR r.kept = '{}' THEN r.fired
        ELSE r.fired || ARRAY(SELECT x FROM unnest(q.satisfied) x WHERE (x >> 32)::integer = ANY (r.kept)) END
          AS satisfied) s
    CROSS JOIN LATERAL (
      SELECT CASE
        WHEN r.final OR o.forced IS NOT NULL OR s.satisfied = '{-1}' THEN '{}'
        WHEN r.kept IS NULL AND q.others = 0 THEN r.fired::integer[]
        ELSE ARRAY(SELECT (x & 4294967295)::integer FROM unnest(s.satisfied) x
                   WHERE (x & 4294967295)::integer <> ALL (q.pending) ORDER BY 1) END AS fire OFFSET 0) f
    CROSS JOIN LATERAL (
      SELECT v.becomes, v.becomes = 'E' AND NOT q.excpt AS excepts
      FROM (SELECT (CASE WHEN r.final AND o.forced IS NULL AND q.others = 0 THEN 'F'
                         WHEN o.forced IS NOT NULL OR q.excpt OR (q.others = 0 AND f.fire = '{}') THEN 'E'
                         ELSE 'R' END)::"char" AS becomes) v) b
    LEFT JOIN LATERAL (SELECT * FROM wed.trigger t WHERE t.tgid = f.fire[1] OFFSET 0) n ON true
    CROSS JOIN LATERAL (
      SELECT (_lease AND q.own IS NOT NULL AND n.component_id IS NOT NULL AND n.delay = '0'
              AND (NOT n.constrained OR _trw IS NULL)) IS TRUE AS turns) k);
END $$;

-- What the pool says of an instance's jobs, taken together; the job of _tgid and _token is the one that ends.
CREATE OR REPLACE FUNCTION wed.pool_of(_flow_id integer, _wid integer, _tgid integer, _token bigint) RETURNS wed.pool
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _pool wed.pool;
BEGIN
  SELECT max(j.ctid) FILTER (WHERE j.mine), max(j.trname) FILTER (WHERE j.mine), max(j.attempt) FILTER (WHERE j.mine),
         max(j.seq) FILTER (WHERE j.mine), max(j.component_id) FILTER (WHERE j.mine), max(j.last_seq), max(j.version),
         max(j.satisfied), count(*) FILTER (WHERE NOT j.mine),
         coalesce(bool_or(j.trname = '_EXCPT' AND NOT j.mine), false),
         coalesce(bool_or(j.awaits_siblings AND NOT j.mine), false),
         coalesce(array_agg(j.tgid) FILTER (WHERE NOT j.mine), '{}'), bool_or(j.trname = '_EXCPT')
  INTO _pool
  FROM (SELECT *, ctid, (tgid = _tgid AND token = _token) IS TRUE AS mine FROM wed.job
        WHERE flow_id = _flow_id AND wid = _wid OFFSET 0) j;
  RETURN _pool;
END $$;

-- An instance's present state, evaluated anew: for a skipped job, an exhausted one, a re-match.
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

-- The result of one job, for wed.pass_gate.
CREATE OR REPLACE FUNCTION wed.result_of(
  _wid integer, _tgid integer, _token bigint, _fuel bigint DEFAULT NULL, _us bigint DEFAULT NULL,
    _memory bigint DEFAULT NULL)
RETURNS wed.result[]
LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY[ROW(_wid, _tgid, _token, _fuel, _us, _memory, NULL)::wed.result]
$$;
