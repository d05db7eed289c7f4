-- Looks after the trace's partitions, one for each day (UTC): makes those of the days to come, drops those that are
-- older than what is kept. Each in a step of its own; what somebody's transaction keeps locked is left to the next
-- round. Returns how many were dropped.
CREATE OR REPLACE FUNCTION wed.roll_trace() RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET client_min_messages = warning
SET lock_timeout = '100ms' AS $$
DECLARE
  -- A transaction that has read the trace keeps its partitions locked; nobody's is open for as long as this.
  _days_ahead CONSTANT integer := 7;
BEGIN
  -- One session at a time; a second one has nothing to do.
  PERFORM FROM wed.retention FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 0; END IF;
  FOR _ahead IN 0 .. _days_ahead LOOP
    BEGIN
      PERFORM wed.make_day(current_date + _ahead);
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      EXIT; -- somebody reads for long
    END;
  END LOOP;
  RETURN wed.drop_old_days((SELECT trace FROM wed.retention));
END $$;
