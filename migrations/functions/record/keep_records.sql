-- Keeps what is to be kept of the attempts that this transaction deals with. Before their jobs leave the
-- pool: they say which component and state it was, and their tokens whether the host still holds them.
-- Returns the host: it stands as the first argument of what deals with the attempts, and is run before.
-- Items: {"flow", "wid", "tgid", "token", "keep", "deadline", "answers", "digest",
--   "logs": [{"severity", "message", "fields"}]}
CREATE OR REPLACE FUNCTION wed.keep_records(_host_id integer, _records jsonb) RETURNS integer
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
