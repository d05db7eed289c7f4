-- Drops partitions of the trace that are older than _kept (null: none), with attempts, logs and recordings of that
-- time. Rows of instances that have not ended move to the default partition: they go back by them, and their jobs'
-- payloads lie there. Returns how many partitions were dropped.
CREATE OR REPLACE FUNCTION wed.drop_old_days(_kept interval) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '100ms' AS $$
DECLARE
  _old record;
  _table text;
  _dropped integer := 0;
BEGIN
  IF _kept IS NULL THEN RETURN 0; END IF;
  -- Of days that have no partition, since no host ran, and of instances that have ended since they were moved there.
  DELETE FROM wed.trace_else t WHERE t.tstmp < date_trunc('day', now()) - _kept
    AND NOT EXISTS (SELECT FROM wed.instance i WHERE i.flow_id = t.flow_id AND i.wid = t.wid AND i.status <> 'F');
  FOR _old IN
    SELECT c.relname, to_date(substr(c.relname, 7), 'YYYYMMDD') AS day
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'wed.trace'::regclass AND c.relname ~ '^trace_[0-9]{8}$'
      AND to_date(substr(c.relname, 7), 'YYYYMMDD') + 1 <= now() - _kept
    ORDER BY 2
  LOOP
    EXECUTE format('ALTER TABLE wed.trace DETACH PARTITION wed.%I', _old.relname);
    EXECUTE format('INSERT INTO wed.trace SELECT r.* FROM wed.%I r
                    JOIN wed.instance i ON i.flow_id = r.flow_id AND i.wid = r.wid AND i.status <> ''F''',
                   _old.relname);
    EXECUTE format('DROP TABLE wed.%I', _old.relname);
    -- What was logged and recorded until then goes with it: it cannot be replayed any more.
    FOREACH _table IN ARRAY ARRAY['attempt', 'log', 'recording'] LOOP
      EXECUTE format('DELETE FROM wed.%I t WHERE t.tstmp < $1 AND NOT EXISTS (
        SELECT FROM wed.instance i WHERE i.flow_id = t.flow_id AND i.wid = t.wid AND i.status <> ''F'')', _table)
        USING (_old.day + 1)::timestamptz;
    END LOOP;
    _dropped := _dropped + 1;
  END LOOP;
  RETURN _dropped;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  RETURN 0; -- somebody reads for long; the next round tries again
END $$;
