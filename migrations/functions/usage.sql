-- Use of tenants: fuel, rows, bytes by samples.

-- Counts anew for tenants that may be near a limit, so that a refused start need not.
CREATE OR REPLACE FUNCTION wed.measure_usage() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _due record;
BEGIN
  FOR _due IN
    SELECT u.tenant_id, coalesce(pg_sequence_last_value(('wed.started_' || u.tenant_id)::regclass), 0) AS top
    FROM wed.usage u JOIN wed.quota q USING (tenant_id)
    WHERE (u.instances + coalesce(pg_sequence_last_value(('wed.started_' || u.tenant_id)::regclass), 0) - u.started
             > q.instances * 0.8
           OR u.jobs + coalesce(pg_sequence_last_value(('wed.started_' || u.tenant_id)::regclass), 0) - u.started
             > q.jobs * 0.8)
      AND u.measured_at < clock_timestamp() - interval '1 second'
    FOR UPDATE OF u SKIP LOCKED
  LOOP
    PERFORM wed.measure(_due.tenant_id, _due.top);
  END LOOP;
END $$;

-- Counts what a tenant uses and keeps it, _started being where its sequence was.
CREATE OR REPLACE FUNCTION wed.measure(_tenant_id integer, _started bigint) RETURNS wed.usage
LANGUAGE sql AS $$
  UPDATE wed.usage u SET instances = m.instances, jobs = m.jobs, started = _started, measured_at = clock_timestamp()
  FROM wed.count_usage(_tenant_id) m
  WHERE u.tenant_id = _tenant_id RETURNING u.*
$$;

-- Weighs what tenants keep, a minute after the last time: the tables of their flows as they lie on disk; of
-- what all share, each one's part of a sample. Returns whether it did.
CREATE OR REPLACE FUNCTION wed.weigh_usage(_after interval DEFAULT '1 minute') RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _trace jsonb;
  _attempts jsonb;
  _logs jsonb;
  _recordings jsonb;
  _others jsonb;
BEGIN
  -- One session at a time; a second one has nothing to do.
  PERFORM FROM wed.weighing WHERE at < clock_timestamp() - _after FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE wed.weighing SET at = clock_timestamp();
  _attempts := wed.weigh_table('wed.attempt');
  _logs := wed.weigh_table('wed.log');
  _recordings := wed.weigh_table('wed.recording');
  _others := wed.weigh_tables(wed.other_tables());
  _trace := wed.weigh_tables(ARRAY(SELECT inhrelid::regclass FROM pg_inherits
                                   WHERE inhparent = 'wed.trace'::regclass));
  UPDATE wed.usage u SET weighed_at = clock_timestamp(),
    trace_bytes = coalesce((_trace ->> u.tenant_id::text)::bigint, 0),
    attempt_bytes = coalesce((_attempts ->> u.tenant_id::text)::bigint, 0),
    log_bytes = coalesce((_logs ->> u.tenant_id::text)::bigint, 0),
    recording_bytes = coalesce((_recordings ->> u.tenant_id::text)::bigint, 0),
    other_bytes = coalesce((_others ->> u.tenant_id::text)::bigint, 0),
    finished = (SELECT coalesce(sum(c.finished), 0)
                FROM wed.flow f CROSS JOIN LATERAL wed.count_finished(f.flow_id) c(finished)
                WHERE f.tenant_id = u.tenant_id),
    orders = wed.count_orders(u.tenant_id, NULL),
    row_bytes = (SELECT coalesce(sum(wed.table_bytes(f.schema_name)), 0)
                 FROM wed.flow f WHERE f.tenant_id = u.tenant_id)
  FROM (SELECT tenant_id FROM wed.usage ORDER BY tenant_id FOR NO KEY UPDATE SKIP LOCKED) free
  WHERE u.tenant_id = free.tenant_id;
  PERFORM wed.stop_running_over();
  RETURN true;
END $$;

-- Stops the jobs of tenants whose running instances have gone a quarter beyond a limit on bytes, and resumes those
-- of tenants that are below it again. Starts are refused from the limit on (wed.on_start).
CREATE OR REPLACE FUNCTION wed.stop_running_over() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.usage u SET over = n.over
  FROM (SELECT v.tenant_id, CASE WHEN v.trace_bytes > q.trace_bytes * 1.25 THEN 'trace_bytes'
                                 WHEN v.row_bytes > q.row_bytes * 1.25 THEN 'row_bytes'
                                 WHEN v.file_bytes > q.storage_bytes * 1.25 THEN 'storage_bytes' END AS over
        FROM wed.usage v JOIN wed.quota q USING (tenant_id) ORDER BY v.tenant_id FOR NO KEY UPDATE OF v SKIP LOCKED) n
  WHERE u.tenant_id = n.tenant_id AND u.over IS DISTINCT FROM n.over;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;

-- Keeps how many bytes of files the instances of flows have in a folder of hosts, known by its mark: flows by the names
-- of their folders in it (shape_schema). Flows that are not named have none there. A folder that no host has counted for
-- an hour is gone with its host. A tenant has the sum over folders.
CREATE OR REPLACE FUNCTION wed.keep_file_bytes(_folder text, _flows text[], _bytes bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM wed.file_usage WHERE folder = _folder OR counted_at < clock_timestamp() - interval '1 hour';
  INSERT INTO wed.file_usage (folder, tenant_id, bytes)
  SELECT _folder, f.tenant_id, sum(r.bytes) FROM wed.flow f
  JOIN ROWS FROM (unnest(_flows), unnest(_bytes)) r(shape_schema, bytes) USING (shape_schema)
  WHERE r.bytes > 0 GROUP BY f.tenant_id
  ON CONFLICT (folder, tenant_id) DO UPDATE SET bytes = excluded.bytes, counted_at = excluded.counted_at;
  UPDATE wed.usage u SET file_bytes = n.bytes
  FROM (
    SELECT v.tenant_id, (SELECT coalesce(sum(k.bytes), 0)::bigint FROM wed.file_usage k
      WHERE k.tenant_id = v.tenant_id) AS bytes
    FROM wed.usage v ORDER BY v.tenant_id FOR NO KEY UPDATE SKIP LOCKED) n
  WHERE u.tenant_id = n.tenant_id AND u.file_bytes <> n.bytes;
END $$;

-- Weighs a table that all tenants share: the bytes that it takes on disk, by tenant, in the proportion of what they
-- have in some hundred pages of it. A row's tenant follows from its column tenant_id, or else from flow_id. Long
-- values are counted by what their row says of them, and not read.
CREATE OR REPLACE FUNCTION wed.weigh_table(_table regclass) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _pages bigint := pg_relation_size(_table) / 8192;
  _columns name[] := ARRAY(SELECT attname FROM pg_attribute
                           WHERE attrelid = _table AND attnum > 0 AND NOT attisdropped);
  _bytes text := (SELECT string_agg(format('coalesce(pg_column_size(p.%I), 0)', c), ' + ') FROM unnest(_columns) c);
  _weights jsonb;
BEGIN
  IF _pages = 0 THEN RETURN '{}'; END IF;
  EXECUTE format($q$
    SELECT jsonb_object_agg(tenant, bytes) FROM (
      SELECT %s::text AS tenant, sum(%s * s.bytes / s.whole)::bigint AS bytes
      FROM (SELECT p.%5$I, sum(28 + %s) AS bytes, sum(sum(28 + %3$s)) OVER () AS whole
            FROM %s p TABLESAMPLE SYSTEM (%6$s) WHERE p.%5$I IS NOT NULL GROUP BY p.%5$I) s %7$s
      GROUP BY 1) w $q$,
    CASE WHEN 'tenant_id' = ANY (_columns) THEN 's.tenant_id' ELSE 'f.tenant_id' END,
    pg_total_relation_size(_table), _bytes, _table,
    CASE WHEN 'tenant_id' = ANY (_columns) THEN 'tenant_id' ELSE 'flow_id' END, least(100, 30000.0 / _pages),
    CASE WHEN 'tenant_id' = ANY (_columns) THEN '' ELSE 'JOIN wed.flow f USING (flow_id)' END) INTO _weights;
  RETURN coalesce(_weights, '{}');
END $$;

-- Returns the bytes that a flow's table takes on disk, with indexes and long values. Where its tenant has locked it: as
-- the last vacuum found it, since nobody waits for a tenant.
CREATE OR REPLACE FUNCTION wed.table_bytes(_schema text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '20ms' AS $$
DECLARE
  _table regclass := to_regclass(format('%I.wed_flow', _schema));
BEGIN
  RETURN pg_total_relation_size(_table);
EXCEPTION WHEN lock_not_available THEN
  RETURN (SELECT sum(c.relpages::bigint) * 8192 FROM pg_class c
          WHERE c.oid = _table OR c.oid = (SELECT reltoastrelid FROM pg_class WHERE oid = _table)
             OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = _table));
END $$;

-- Bytes that a tenant keeps outside of instances, their history and components: weighed with the rest
-- (wed.weigh_usage), and refused above the limit `other_bytes`.

-- Adds up the weights of tables, by tenant.
CREATE OR REPLACE FUNCTION wed.weigh_tables(_tables regclass[]) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(jsonb_object_agg(tenant, bytes), '{}')
  FROM (SELECT w.key AS tenant, sum(w.value::bigint) AS bytes
        FROM unnest(_tables) t(name), jsonb_each_text(wed.weigh_table(t.name)) w GROUP BY w.key) s
$$;

-- Returns the tables that count as other bytes.
CREATE OR REPLACE FUNCTION wed.other_tables() RETURNS regclass[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY['wed.work_note', 'wed.setting', 'wed.secret', 'wed.schedule', 'wed.flow_version', 'wed.user',
    'wed.token', 'wed.idempotency', 'wed.outbox', 'wed.audit']::regclass[]
$$;

-- Refuses what a tenant adds while it is above its limit. The argument names the column from which a row's tenant
-- follows.
CREATE OR REPLACE FUNCTION wed.refuse_other_bytes() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tenant_id integer;
  _used bigint;
  _allowed bigint;
BEGIN
  IF TG_ARGV[0] = 'tenant_id' THEN
    _tenant_id := NEW.tenant_id;
  ELSE
    _tenant_id := (SELECT tenant_id FROM wed.flow WHERE flow_id = NEW.flow_id);
  END IF;
  SELECT u.other_bytes, q.other_bytes INTO _used, _allowed
  FROM wed.usage u JOIN wed.quota q USING (tenant_id) WHERE u.tenant_id = _tenant_id;
  IF _used > _allowed THEN PERFORM wed.refuse_quota('other_bytes', _used, _allowed); END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.work_note
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('flow_id');
CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.setting
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('flow_id');
CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.secret
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('flow_id');
CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.schedule
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('flow_id');
CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.flow_version
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('flow_id');
CREATE OR REPLACE TRIGGER other_bytes BEFORE INSERT ON wed.user
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_other_bytes('tenant_id');

-- Returns the fuel of the last sixty seconds: this minute's, and of the one before the part that is not over yet.
CREATE OR REPLACE FUNCTION wed.fuel_used(_usage wed.usage) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT CASE (_usage).minute
    WHEN m.now THEN (_usage).fuel + ((_usage).fuel_before * m.rest)::bigint
    WHEN m.now - interval '1 minute' THEN ((_usage).fuel * m.rest)::bigint ELSE 0 END
  FROM (SELECT date_trunc('minute', clock_timestamp()) AS now,
               1 - extract(second FROM clock_timestamp())::float8 / 60 AS rest) m
$$;

-- Adds the fuel that a host's transitions used since its last report, by tenant. Answers which tenants' fired jobs no
-- host keeps: those that rest now, and those whose jobs in flight are limited, so that each is claimed.
CREATE OR REPLACE FUNCTION wed.tell_fuel(_tenants integer[], _fuel bigint[], OUT resting integer[],
  OUT limited integer[])
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  _minute timestamptz := date_trunc('minute', clock_timestamp());
BEGIN
  -- In one order, so that hosts do not wait for each other in a circle.
  PERFORM FROM wed.usage u WHERE u.tenant_id = ANY (_tenants) ORDER BY u.tenant_id FOR NO KEY UPDATE;
  UPDATE wed.usage u SET minute = _minute,
    fuel = CASE WHEN u.minute = _minute THEN u.fuel ELSE 0 END + r.fuel,
    fuel_before = CASE u.minute WHEN _minute THEN u.fuel_before WHEN _minute - interval '1 minute' THEN u.fuel
      ELSE 0 END
  FROM ROWS FROM (unnest(_tenants), unnest(_fuel)) AS r(tenant_id, fuel) WHERE u.tenant_id = r.tenant_id;
  UPDATE wed.usage u SET resting = NOT u.resting
  FROM (SELECT v.tenant_id FROM wed.usage v JOIN wed.quota q USING (tenant_id)
        WHERE (q.fuel_per_minute IS NOT NULL OR v.resting)
          AND v.resting <> coalesce(wed.fuel_used(v) >= q.fuel_per_minute, false)
        ORDER BY v.tenant_id FOR NO KEY UPDATE OF v SKIP LOCKED) c
  WHERE u.tenant_id = c.tenant_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  resting := ARRAY(SELECT u.tenant_id FROM wed.usage u WHERE u.resting OR u.over IS NOT NULL);
  limited := ARRAY(SELECT q.tenant_id FROM wed.quota q WHERE q.concurrency IS NOT NULL);
END $$;
