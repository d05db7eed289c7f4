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
CREATE OR REPLACE FUNCTION wed.gather(
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
  -- A compensation's state fires nothing (wed.undo_next).
  CROSS JOIN LATERAL (
    SELECT coalesce(_forced, r.fault, CASE WHEN q.satisfied = '{-1}' THEN 'undone by ' || q.trname END) AS forced) o
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
