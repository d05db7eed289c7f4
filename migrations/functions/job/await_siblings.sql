-- Lets a job whose result is final wait until another one of its instance has left the pool; without any it is due at
-- once. False when all others wait so too.
CREATE OR REPLACE FUNCTION wed.await_siblings(_job wed.job) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _others integer;
  _running integer;
BEGIN
  SELECT count(*), count(*) FILTER (WHERE NOT awaits_siblings) INTO _others, _running
  FROM wed.job WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid <> _job.tgid;
  IF _others > 0 AND _running = 0 THEN RETURN false; END IF;
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1, awaits_siblings = _others > 0,
    put_off = NULL, due = CASE WHEN _others > 0 THEN 'infinity' ELSE clock_timestamp() END
  WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
  PERFORM pg_notify('wed_jobs', '') WHERE _others = 0;
  RETURN true;
END $$;
