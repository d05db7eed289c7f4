-- Ends external workers whose overrun is on record (count_overdue); when a job's attempts are used up, its instance is
-- an exception.
CREATE OR REPLACE FUNCTION wed.end_overdue() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _late record;
  _job wed.job;
  _ended bigint := 0;
BEGIN
  FOR _late IN SELECT * FROM wed.late_workers() w WHERE w.due > now() LOOP
    CONTINUE WHEN NOT pg_terminate_backend(_late.pid, 2000);
    _ended := _ended + 1;
    -- What kept others from the job until now (count_overdue).
    UPDATE wed.job SET due = due - interval '1 second'
    WHERE flow_id = _late.flow_id AND wid = _late.wid AND tgid = _late.tgid AND due = _late.due;
    SELECT j.* INTO _job FROM wed.job j JOIN wed.trigger t USING (tgid)
    WHERE j.flow_id = _late.flow_id AND j.wid = _late.wid AND j.tgid = _late.tgid AND j.host_id IS NULL AND j.attempt >= t.attempts;
    CONTINUE WHEN NOT FOUND;
    PERFORM wed.pass_as_it_stands(_job.flow_id, _job.wid, _job.tgid, '_ABORT',
      format('%s: timed_out after %s attempts', _job.trname, _job.attempt), NULL, NULL);
  END LOOP;
  RETURN _ended;
END $$;
