-- Retention of history: partitions of the trace by day, records, finished instances.

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

-- Makes the partition of a day. It is attached, which keeps no writer waiting; rows that came before it move into it.
CREATE OR REPLACE FUNCTION wed.make_day(_day date) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  _name text := 'trace_' || to_char(_day, 'YYYYMMDD');
BEGIN
  IF to_regclass('wed.' || _name) IS NOT NULL THEN
    RETURN;
  ELSIF EXISTS (SELECT FROM wed.trace_else WHERE tstmp >= _day AND tstmp < _day + 1) THEN
    PERFORM wed.move_to_partition(_day);
    RETURN;
  END IF;
  EXECUTE format('CREATE TABLE wed.%I (LIKE wed.trace INCLUDING ALL)', _name);
  EXECUTE format('REVOKE ALL ON wed.%I FROM PUBLIC', _name);
  EXECUTE format('ALTER TABLE wed.trace ATTACH PARTITION wed.%I FOR VALUES FROM (%L) TO (%L)', _name, _day, _day + 1);
END $$;

-- Makes the partition of a day of which the default partition has rows already, and moves them into it. Postgres makes
-- no partition next to such rows, so the default one is taken off meanwhile: nobody writes history until the end.
CREATE OR REPLACE FUNCTION wed.move_to_partition(_day date) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  _name text := 'trace_' || to_char(_day, 'YYYYMMDD');
BEGIN
  LOCK TABLE wed.trace IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE wed.trace DETACH PARTITION wed.trace_else;
  EXECUTE format('CREATE TABLE wed.%I PARTITION OF wed.trace FOR VALUES FROM (%L) TO (%L)', _name, _day, _day + 1);
  EXECUTE format('REVOKE ALL ON wed.%I FROM PUBLIC', _name);
  EXECUTE format('WITH moved AS (DELETE FROM wed.trace_else WHERE tstmp >= %L AND tstmp < %L RETURNING *)
                  INSERT INTO wed.%I SELECT * FROM moved', _day, _day + 1, _name);
  ALTER TABLE wed.trace ATTACH PARTITION wed.trace_else DEFAULT;
END $$;

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

-- Removes attempts, logs, recordings and receipts that are older than they are kept, at most _limit of each. Answers
-- how many.
CREATE OR REPLACE FUNCTION wed.expire_records(_limit integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _kind record;
  _removed bigint := 0;
  _count bigint;
BEGIN
  FOR _kind IN
    SELECT k.name, k.keep FROM wed.retention r
    CROSS JOIN LATERAL (VALUES ('attempt', r.attempts), ('log', r.logs), ('recording', r.recordings)) k(name, keep)
    WHERE k.keep IS NOT NULL
  LOOP
    EXECUTE format('DELETE FROM wed.%1$I WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM wed.%1$I WHERE tstmp < now() - $1 LIMIT $2 FOR UPDATE SKIP LOCKED))', _kind.name)
      USING _kind.keep, _limit;
    GET DIAGNOSTICS _count = ROW_COUNT;
    _removed := _removed + _count;
  END LOOP;
  RETURN _removed + wed.expire_receipts(_limit);
END $$;

-- Chore `expired`: final instances that ended longer ago than they are kept are removed, with all that is recorded of
-- them.

CREATE OR REPLACE FUNCTION wed.due_expired()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, f.flow_id, 0::bigint, 0, o.since
  FROM (SELECT i.flow_id, min(i.changed) AS since FROM wed.instance i
        WHERE i.status = 'F' AND i.changed < now() - (SELECT instances FROM wed.retention) GROUP BY i.flow_id) o
  JOIN wed.flow f USING (flow_id)
$$;

-- Removes at most 500 instances of a flow, and leaves those that another session holds.
CREATE OR REPLACE FUNCTION wed.do_expired(_tenant_id integer, _flow_id integer, _thing bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _wids integer[];
BEGIN
  _wids := ARRAY(
    SELECT i.wid FROM wed.instance i WHERE i.flow_id = _flow_id AND i.status = 'F'
      AND i.changed < now() - (SELECT instances FROM wed.retention) LIMIT 500 FOR UPDATE SKIP LOCKED);
  _wids := wed.remove_instances(_flow_id, _wids);
  IF _wids = '{}' THEN RETURN NULL; END IF;
  RETURN to_jsonb(cardinality(_wids));
END $$;

-- Has large values compressed by lz4, where the server has it: looking whether 100 kB can be made smaller takes a
-- twentieth of the usual time. For a database that was restored; a new one is made so.
CREATE OR REPLACE FUNCTION wed.compress_large_values() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression') THEN
    ALTER TABLE wed.trace ALTER COLUMN state SET COMPRESSION lz4;
    ALTER TABLE wed.job ALTER COLUMN payload SET COMPRESSION lz4;
    ALTER TABLE wed.log ALTER COLUMN message SET COMPRESSION lz4;
  END IF;
END $$;
