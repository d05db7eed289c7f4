-- The trace's partitions, one for each day (UTC): makes those of today and the next two days, and drops
-- those that are older than what is kept. Before a partition goes, jobs whose payload lies in it get a
-- copy of their own. Returns how many were dropped.
CREATE OR REPLACE FUNCTION wed.roll_trace() RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '2s'
SET client_min_messages = warning AS $$
DECLARE
  _day date;
  _old record;
  _dropped integer := 0;
BEGIN
  -- One at a time; who comes second has nothing to do.
  PERFORM FROM wed.retention FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 0; END IF;
  FOR _day IN SELECT current_date + n FROM generate_series(0, 2) n LOOP
    CONTINUE WHEN to_regclass(format('wed.trace_%s', to_char(_day, 'YYYYMMDD'))) IS NOT NULL;
    -- Rows that came before their partition move into it.
    IF EXISTS (SELECT FROM wed.trace_else WHERE tstmp >= _day AND tstmp < _day + 1) THEN
      PERFORM wed.move_to_partition(_day);
      CONTINUE;
    END IF;
    EXECUTE format('CREATE TABLE wed.trace_%1$s PARTITION OF wed.trace FOR VALUES FROM (%2$L) TO (%3$L)',
                   to_char(_day, 'YYYYMMDD'), _day, _day + 1);
    EXECUTE format('REVOKE ALL ON wed.trace_%s FROM PUBLIC', to_char(_day, 'YYYYMMDD'));
  END LOOP;
  -- Of days that have no partition, since no host ran.
  DELETE FROM wed.trace_else t WHERE t.tstmp < date_trunc('day', now()) - (SELECT trace FROM wed.retention)
    AND NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = t.flow_id AND j.wid = t.wid AND j.seq = t.seq AND j.payload IS NULL);
  FOR _old IN
    SELECT c.relname, to_date(substr(c.relname, 7), 'YYYYMMDD') AS day
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'wed.trace'::regclass AND c.relname ~ '^trace_[0-9]{8}$'
      AND to_date(substr(c.relname, 7), 'YYYYMMDD') + 1 <= now() - (SELECT trace FROM wed.retention)
    ORDER BY 2
  LOOP
    EXECUTE format('UPDATE wed.job j SET payload = r.state FROM wed.%I r
                    WHERE j.payload IS NULL AND r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq = j.seq
                      AND j.fired_at >= %L AND j.fired_at < %L', _old.relname, _old.day, _old.day + 1);
    EXECUTE format('DROP TABLE wed.%I', _old.relname);
    -- What was logged and recorded until then goes with it: it cannot be replayed any more.
    DELETE FROM wed.log WHERE tstmp < _old.day + 1;
    DELETE FROM wed.recording WHERE tstmp < _old.day + 1;
    _dropped := _dropped + 1;
  END LOOP;
  RETURN _dropped;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  RETURN 0; -- somebody reads for long; the next round tries again
END $$;
