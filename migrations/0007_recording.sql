-- What is kept of an attempt so that it can be run again byte for byte: what its host answered it, and
-- which component and which state it was. Written, with what the guest logged, in the transaction that
-- commits the attempt or records its failure; an attempt that asked its host for nothing, logged nothing
-- and was committed leaves nothing here.

-- The transaction that dealt with an attempt says which row of the trace, of the failed attempts, of the
-- log and of the recordings belong together: one transaction deals with one attempt of an instance.
ALTER TABLE wed.attempt ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();
ALTER TABLE wed.log ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();

CREATE TABLE wed.recording (
  flow_id      integer NOT NULL,
  wid          integer NOT NULL,
  xid          xid8 NOT NULL DEFAULT pg_current_xact_id(),
  tgid         integer NOT NULL,
  attempt      integer NOT NULL,
  component_id integer NOT NULL,
  from_seq     integer NOT NULL,
  deadline     bigint NOT NULL,
  answers      jsonb,
  digest       text,
  tstmp        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (flow_id, wid, xid)
);
-- What `wed.roll_trace` takes away with the days of the trace that it drops is found by time.
CREATE INDEX recording_time ON wed.recording USING brin (tstmp);
CREATE INDEX log_time ON wed.log USING brin (tstmp);
COMMENT ON COLUMN wed.recording.from_seq IS 'The trace row whose state was the payload.';
COMMENT ON COLUMN wed.recording.deadline IS 'As the guest was told: microseconds since 1970.';
COMMENT ON COLUMN wed.recording.answers IS 'What the host answered, in order; null when it was too much to keep.';
COMMENT ON COLUMN wed.recording.digest IS 'SHA-256 of what the guest answered.';

-- Keeps what is to be kept of the attempts that this transaction deals with. Before their jobs leave the
-- pool: they say which component and state it was, and their tokens whether the host still holds them.
-- Returns the host: it stands as the first argument of what deals with the attempts, and is run before.
-- Items: {"flow", "wid", "tgid", "token", "keep", "deadline", "answers", "digest",
--   "logs": [{"severity", "message", "fields"}]}
CREATE FUNCTION wed.keep_records(_host_id integer, _records jsonb) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO wed.recording (flow_id, wid, tgid, attempt, component_id, from_seq, deadline, answers, digest)
  SELECT j.flow_id, j.wid, j.tgid, j.attempt, j.component_id, j.seq, r.deadline, nullif(r.answers, 'null'), r.digest
  FROM jsonb_to_recordset(_records) AS r(flow integer, wid integer, tgid integer, token bigint, keep boolean,
    deadline bigint, answers jsonb, digest text)
  JOIN wed.job j ON j.flow_id = r.flow AND j.wid = r.wid AND j.tgid = r.tgid
    AND j.host_id = _host_id AND j.token = r.token
  WHERE r.keep;
  INSERT INTO wed.log (flow_id, wid, tgid, attempt, severity, message, fields)
  SELECT j.flow_id, j.wid, j.tgid, j.attempt, l.severity, l.message, l.fields
  FROM jsonb_to_recordset(_records) AS r(flow integer, wid integer, tgid integer, token bigint, logs jsonb)
  JOIN wed.job j ON j.flow_id = r.flow AND j.wid = r.wid AND j.tgid = r.tgid
    AND j.host_id = _host_id AND j.token = r.token
  CROSS JOIN LATERAL jsonb_array_elements(r.logs) WITH ORDINALITY e(line, at)
  CROSS JOIN LATERAL jsonb_to_record(e.line) AS l(severity text, message text, fields jsonb)
  ORDER BY j.flow_id, j.wid, e.at;
  RETURN _host_id;
END $$;

-- The attempts that hosts made at an instance's transitions, in order: those that were committed, by the
-- trace row that they wrote, and those that changed nothing, by their number. Of an attempt without a
-- record that changed nothing (its host died) the component is the version that was the newest then (exact
-- is false), and the state the last one before that fired a transition of that name.
CREATE FUNCTION wed.attempts_of(_flow_id integer, _wid integer)
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

REVOKE ALL ON FUNCTION wed.keep_records, wed.attempts_of FROM PUBLIC;
REVOKE ALL ON TABLE wed.recording FROM PUBLIC;
