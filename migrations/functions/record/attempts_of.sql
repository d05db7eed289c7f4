-- The attempts that hosts made at an instance's transitions, in order: those that were committed, by the
-- trace row that they wrote, and those that changed nothing, by their number. Of an attempt without a
-- record that changed nothing (its host died) the component is the version that was the newest then (exact
-- is false), and the state the last one before that fired a transition of that name.
CREATE OR REPLACE FUNCTION wed.attempts_of(_flow_id integer, _wid integer)
RETURNS TABLE (
  seq integer, attempt_id bigint, tgid integer, trigger text, trname text, attempt integer, outcome text,
  message text, fuel bigint, elapsed_us bigint, memory_bytes bigint, writer text, tstmp timestamptz,
  timeout_ms bigint, component_id integer, component text, version integer, exact boolean, from_seq integer,
  recorded boolean, deadline bigint, answers jsonb, digest text, xid xid8)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH made AS (
    SELECT t.seq, NULL::bigint AS attempt_id, t.tgid, t.trw AS trname, t.attempt, 'returned' AS outcome,
           NULL::text AS message, t.fuel, t.elapsed_us, t.memory_bytes, t.writer, t.tstmp, t.xid,
           t.component_id, t.from_seq
    FROM wed.trace t
    WHERE t.flow_id = _flow_id AND t.wid = _wid AND t.tgid IS NOT NULL AND t.trw !~ '^_(ABORT|SKIP|EVENT|REMATCH)$'
      AND t.writer LIKE 'host:%'
    UNION ALL
    SELECT NULL, a.attempt_id, a.tgid, a.trname, a.attempt, a.outcome, a.message, a.fuel, a.elapsed_us,
           a.memory_bytes, a.writer, a.tstmp, a.xid, NULL, NULL
    FROM wed.attempt a WHERE a.flow_id = _flow_id AND a.wid = _wid
  )
  SELECT m.seq, m.attempt_id, m.tgid, coalesce(nullif(g.tgname, ''), m.tgid::text), m.trname, m.attempt, m.outcome,
         m.message, m.fuel, m.elapsed_us, m.memory_bytes, m.writer, m.tstmp, g.timeout_ms, c.component_id, c.name,
         c.version, coalesce(m.component_id, r.component_id) IS NOT NULL, coalesce(m.from_seq, r.from_seq, f.seq),
         r.xid IS NOT NULL, r.deadline, r.answers, r.digest, m.xid
  FROM made m
  LEFT JOIN wed.trigger g ON g.tgid = m.tgid
  LEFT JOIN wed.recording r ON r.flow_id = _flow_id AND r.wid = _wid AND r.xid = m.xid AND r.tgid = m.tgid
  LEFT JOIN LATERAL (
    SELECT max(t.seq) AS seq FROM wed.trace t
    WHERE t.flow_id = _flow_id AND t.wid = _wid AND m.trname = ANY (t.trf) AND t.tstmp <= m.tstmp
      AND t.seq < coalesce(m.seq, 2147483647)) f ON true
  LEFT JOIN LATERAL (
    SELECT c.component_id FROM wed.binding b
    JOIN wed.flow w ON w.flow_id = b.flow_id
    JOIN wed.component c ON c.tenant_id = w.tenant_id AND c.name = b.component_name AND c.created_at <= m.tstmp
    WHERE b.flow_id = _flow_id AND b.trname = m.trname
    ORDER BY c.version DESC LIMIT 1) n ON true
  LEFT JOIN wed.component c ON c.component_id = coalesce(m.component_id, r.component_id, n.component_id)
  ORDER BY m.tstmp, m.seq, m.attempt_id
$$;
