-- Brings the other jobs of an instance up to its newest trace row, and lets those that waited for a job to leave
-- the pool try again. A function, because a statement's plan would read all jobs for it where the pool was
-- empty when the plan was made. Rows that carry the new number already are the statement's own. Returns _writer.
CREATE OR REPLACE FUNCTION wed.keep_beside(
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
