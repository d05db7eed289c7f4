-- Lets an exception, whose row is held, pass the gate unchanged, traced as _RETRY.
CREATE OR REPLACE FUNCTION wed.retry_exception(_flow_id integer, _wid integer, _actor text, _reason text) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _rows wed.evaluated[] := wed.as_it_stands(_flow_id, _wid);
  _job wed.job;
  _fired text[];
BEGIN
  SELECT * INTO STRICT _job FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND trname = '_EXCPT' FOR UPDATE;
  IF _rows[1].fault IS NOT NULL THEN
    RAISE EXCEPTION 'instance % cannot be evaluated: %', _wid, _rows[1].fault USING ERRCODE = 'WF042',
      HINT = 'Set a state for which every condition can be evaluated, or mend the condition; then retry.';
  ELSIF _rows[1].fired = '{}' AND NOT _rows[1].final
        AND NOT EXISTS (SELECT FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND trname <> '_EXCPT') THEN
    RAISE EXCEPTION 'the state of instance % satisfies no condition', _wid USING ERRCODE = 'WF042',
      HINT = 'Set another state, go back to an earlier step, or change the flow; then retry.';
  END IF;
  PERFORM wed.pass_gate(_rows, wed.result_of(_wid, _job.tgid, _job.token), NULL, '_RETRY', NULL,
    wed.reasoned(_actor, _reason));
  SELECT trf INTO _fired FROM wed.trace
  WHERE flow_id = _flow_id AND wid = _wid AND seq = _job.last_seq + 1 AND tstmp >= now();
  RETURN coalesce(_fired, '{}');
END $$;
