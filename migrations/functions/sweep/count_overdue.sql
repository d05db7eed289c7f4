-- Counts the attempts of external workers that are overdue (wed.late_workers), and puts their jobs off. To be committed
-- before they are ended (wed.end_overdue): whoever gets the lock then finds the job not due. A job whose row another
-- session holds is left to the next sweep. A job whose attempts are used up is for nobody any more (wed.end_exhausted).
CREATE OR REPLACE FUNCTION wed.count_overdue() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _late record;
  _counted bigint := 0;
BEGIN
  FOR _late IN SELECT * FROM wed.late_workers() LOOP
    WITH held AS (
      SELECT ctid AS at FROM wed.job
      WHERE flow_id = _late.flow_id AND wid = _late.wid AND tgid = _late.tgid AND host_id IS NULL AND due <= now()
      FOR UPDATE SKIP LOCKED
    ), counted AS (
      UPDATE wed.job j SET attempt = j.attempt + 1, due = CASE WHEN j.attempt + 1 >= t.attempts THEN 'infinity'
          ELSE now() + least(wed.backoff_of(t.backoff, j.attempt + 1) + interval '1 second', interval '1 day') END
      FROM held, wed.trigger t WHERE j.ctid = held.at AND t.tgid = j.tgid
      RETURNING j.*
    ), exhausted AS (
      INSERT INTO wed.exhausted SELECT c.flow_id, c.wid, c.tgid, c.seq,
        format('%s: timed_out after %s attempts', c.trname, c.attempt)
      FROM counted c WHERE c.due = 'infinity' ON CONFLICT DO NOTHING)
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
    SELECT c.flow_id, c.wid, c.tgid, c.trname, c.attempt, 'timed_out',
           format('the worker held the lock for longer than %s and was ended', c.timeout), _late.usename FROM counted c;
    IF FOUND THEN _counted := _counted + 1; END IF;
  END LOOP;
  RETURN _counted;
END $$;
