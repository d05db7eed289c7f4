-- Drops partitions of the trace that are older than _kept (null: none), with attempts, logs and recordings of that
-- time. Jobs whose payload lies in one get a copy of their own before. Returns how many were dropped.
CREATE OR REPLACE FUNCTION wed.drop_old_days(_kept interval) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '100ms' AS $$
DECLARE
  _old record;
  _dropped integer := 0;
BEGIN
  IF _kept IS NULL THEN RETURN 0; END IF;
  -- Of days that have no partition, since no host ran.
  DELETE FROM wed.trace_else t WHERE t.tstmp < date_trunc('day', now()) - _kept
    AND NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = t.flow_id AND j.wid = t.wid AND j.seq = t.seq
      AND j.payload IS NULL);
  FOR _old IN
    SELECT c.relname, to_date(substr(c.relname, 7), 'YYYYMMDD') AS day
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'wed.trace'::regclass AND c.relname ~ '^trace_[0-9]{8}$'
      AND to_date(substr(c.relname, 7), 'YYYYMMDD') + 1 <= now() - _kept
    ORDER BY 2
  LOOP
    EXECUTE format('UPDATE wed.job j SET payload = r.state FROM wed.%I r
                    WHERE j.payload IS NULL AND r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq = j.seq
                      AND j.fired_at >= %L AND j.fired_at < %L', _old.relname, _old.day, _old.day + 1);
    EXECUTE format('DROP TABLE wed.%I', _old.relname);
    -- What was logged and recorded until then goes with it: it cannot be replayed any more.
    DELETE FROM wed.attempt WHERE tstmp < _old.day + 1;
    DELETE FROM wed.log WHERE tstmp < _old.day + 1;
    DELETE FROM wed.recording WHERE tstmp < _old.day + 1;
    _dropped := _dropped + 1;
  END LOOP;
  RETURN _dropped;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  RETURN 0; -- somebody reads for long; the next round tries again
END $$;
