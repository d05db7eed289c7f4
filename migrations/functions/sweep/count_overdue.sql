-- Counts the attempts of external workers that hold a job's lock for longer than its timeout, and puts their jobs off.
-- To be committed before they are ended (end_overdue): whoever gets the lock then finds the job not due.
CREATE OR REPLACE FUNCTION wed.count_overdue() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _late record;
  _counted bigint := 0;
BEGIN
  FOR _late IN SELECT * FROM wed.late_workers() LOOP
    WITH counted AS (
      UPDATE wed.job j SET attempt = j.attempt + 1, due = now() + least(t.backoff * (2 ^ least(j.attempt, 30)) + interval '1 second', interval '1 day')
      FROM wed.trigger t
      WHERE j.flow_id = _late.flow_id AND j.wid = _late.wid AND j.tgid = _late.tgid AND j.host_id IS NULL
        AND j.due <= now() AND t.tgid = j.tgid
      RETURNING j.*)
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
    SELECT c.flow_id, c.wid, c.tgid, c.trname, c.attempt, 'timed_out',
           format('the worker held the lock for longer than %s and was ended', c.timeout), _late.usename FROM counted c;
    IF FOUND THEN _counted := _counted + 1; END IF;
  END LOOP;
  RETURN _counted;
END $$;
