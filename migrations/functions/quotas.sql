-- Quotas of tenants: what is counted, when it is refused (decision 0019).

-- Returns a tenant's limits in order, with what is used of those that can be counted.
CREATE OR REPLACE FUNCTION wed.quotas(_tenant_id integer) RETURNS TABLE (name text, unit text, used bigint,
  allowed bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _usage wed.usage := wed.measure(_tenant_id,
    coalesce(pg_sequence_last_value(('wed.started_' || _tenant_id)::regclass), 0));
BEGIN
  RETURN QUERY
    SELECT a.attname::text, col_description(a.attrelid, a.attnum), CASE a.attname
             WHEN 'flows' THEN (SELECT count(*) FROM wed.flow f WHERE f.tenant_id = _tenant_id)
             WHEN 'components' THEN (SELECT count(*) FROM wed.component c WHERE c.tenant_id = _tenant_id)
             WHEN 'instances' THEN _usage.instances
             WHEN 'jobs' THEN _usage.jobs
             WHEN 'fuel_per_minute' THEN wed.fuel_used(_usage)
             WHEN 'concurrency' THEN (SELECT count(*) FROM wed.job j WHERE j.tenant_id = _tenant_id
               AND j.host_id > 0)
             WHEN 'trace_bytes' THEN _usage.trace_bytes
             WHEN 'row_bytes' THEN _usage.row_bytes
             WHEN 'other_bytes' THEN _usage.other_bytes
             WHEN 'storage_bytes' THEN wed.component_bytes(_tenant_id) + _usage.file_bytes
             WHEN 'finished' THEN _usage.finished
             WHEN 'attempt_bytes' THEN _usage.attempt_bytes
             WHEN 'log_bytes' THEN _usage.log_bytes
             WHEN 'recording_bytes' THEN _usage.recording_bytes
             WHEN 'resources' THEN (SELECT count(*) FROM wed.resource r WHERE r.tenant_id = _tenant_id)
             WHEN 'schedules' THEN (SELECT count(*) FROM wed.schedule s JOIN wed.flow f USING (flow_id)
               WHERE f.tenant_id = _tenant_id)
             WHEN 'orders' THEN wed.count_orders(_tenant_id, NULL) END,
           (to_jsonb(q) ->> a.attname)::bigint
    FROM wed.quota q, pg_attribute a
    WHERE q.tenant_id = _tenant_id AND a.attrelid = 'wed.quota'::regclass AND a.attnum > 1 AND NOT a.attisdropped
    ORDER BY a.attnum;
END $$;

-- Adds up the bytes of a tenant's components. Their rows say how long they are, so none is read.
CREATE OR REPLACE FUNCTION wed.component_bytes(_tenant_id integer) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(sum(octet_length(bytes)), 0)::bigint FROM wed.component WHERE tenant_id = _tenant_id
$$;

-- Refuses for a limit: its name, what is used, what is allowed.
CREATE OR REPLACE FUNCTION wed.refuse_quota(_limit text, _used bigint, _allowed bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the tenant''s quota of % is used up: % of % are used', _limit, _used, _allowed
    USING ERRCODE = 'WF020', DETAIL = json_build_object('limit', _limit, 'used', _used, 'allowed', _allowed)::text,
      HINT = 'Make room, or ask the operator of this installation for more.';
END $$;

-- New instances, whoever starts them, are counted and held against the tenant's limits. Starts of the same instant may
-- go over a limit by their number. It is part of a tenant's transaction, which may stay open, so it writes nothing that
-- others share.
CREATE OR REPLACE FUNCTION wed.on_start() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  _new bigint;
  _top bigint;
  _quota wed.quota;
  _usage wed.usage;
BEGIN
  SELECT q.* INTO _quota FROM (SELECT flow_id FROM new_rows LIMIT 1) i
  JOIN wed.flow f USING (flow_id) JOIN wed.quota q USING (tenant_id);
  IF num_nonnulls(_quota.instances, _quota.jobs, _quota.trace_bytes, _quota.row_bytes, _quota.finished,
    _quota.attempt_bytes,
                  _quota.log_bytes, _quota.recording_bytes, _quota.storage_bytes) = 0 THEN
    RETURN NULL;
  END IF;
  SELECT * INTO _usage FROM wed.usage WHERE tenant_id = _quota.tenant_id;
  IF _usage.trace_bytes > _quota.trace_bytes THEN
    PERFORM wed.refuse_quota('trace_bytes', _usage.trace_bytes, _quota.trace_bytes);
  ELSIF _usage.row_bytes > _quota.row_bytes THEN
    PERFORM wed.refuse_quota('row_bytes', _usage.row_bytes, _quota.row_bytes);
  END IF;
  PERFORM wed.refuse_quota(k.name, k.used, k.allowed)
  FROM (VALUES ('finished', _usage.finished, _quota.finished), ('attempt_bytes', _usage.attempt_bytes,
    _quota.attempt_bytes),
               ('log_bytes', _usage.log_bytes, _quota.log_bytes),
               ('recording_bytes', _usage.recording_bytes, _quota.recording_bytes),
               ('storage_bytes', _usage.file_bytes, _quota.storage_bytes)) k(name, used, allowed)
  WHERE k.used > k.allowed;
  SELECT count(*), max(nextval('wed.started_' || _quota.tenant_id)) INTO _new, _top FROM new_rows;
  IF _usage.instances + _top - _usage.started <= _quota.instances IS NOT FALSE
     AND _usage.jobs + _top - _usage.started <= _quota.jobs IS NOT FALSE THEN
    RETURN NULL;
  END IF;
  -- A limit is near, if nothing has ended meanwhile: count.
  IF _usage.measured_at < clock_timestamp() - interval '1 second' THEN
    SELECT m.instances, m.jobs INTO _usage.instances, _usage.jobs FROM wed.count_usage(_quota.tenant_id) m;
    _usage.started := _top - _new;
  END IF;
  IF (_usage.instances + _top - _usage.started > _quota.instances
      OR _usage.jobs + _top - _usage.started > _quota.jobs)
     AND pg_sequence_last_value(('wed.started_' || _quota.tenant_id)::regclass) = _top THEN
    -- What is refused now was not started: its numbers go back, unless others took some since. The next
    -- measurement rights what is left.
    PERFORM setval(('wed.started_' || _quota.tenant_id)::regclass, greatest(_top - _new, 1), _top > _new);
  END IF;
  IF _usage.instances + _top - _usage.started > _quota.instances THEN
    PERFORM wed.refuse_quota('instances', _usage.instances + _top - _usage.started - _new, _quota.instances);
  ELSIF _usage.jobs + _top - _usage.started > _quota.jobs THEN
    PERFORM wed.refuse_quota('jobs', _usage.jobs + _top - _usage.started - _new, _quota.jobs);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER quota AFTER INSERT ON wed.instance REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION wed.on_start();

CREATE OR REPLACE FUNCTION wed.on_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    EXECUTE format('DROP SEQUENCE IF EXISTS wed.started_%s', OLD.tenant_id);
  ELSE
    INSERT INTO wed.quota (tenant_id) VALUES (NEW.tenant_id);
    INSERT INTO wed.usage (tenant_id) VALUES (NEW.tenant_id);
    EXECUTE format('CREATE SEQUENCE wed.started_%s', NEW.tenant_id);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER quota AFTER INSERT OR DELETE ON wed.tenant FOR EACH ROW EXECUTE FUNCTION wed.on_tenant();

-- New flows and components, whoever makes them. The row of the tenant serialises two makers.
CREATE OR REPLACE FUNCTION wed.on_thing() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  _suspended timestamptz;
  _used bigint;
  _allowed bigint;
BEGIN
  SELECT t.suspended_at, CASE TG_TABLE_NAME WHEN 'flow' THEN q.flows ELSE q.components END INTO _suspended, _allowed
  FROM wed.tenant t JOIN wed.quota q USING (tenant_id) WHERE t.tenant_id = NEW.tenant_id FOR NO KEY UPDATE OF t;
  IF TG_TABLE_NAME = 'flow' AND _suspended IS NOT NULL THEN
    -- It would bring a role that may log in.
    RAISE EXCEPTION 'the tenant is suspended' USING ERRCODE = 'WF021', HINT = 'The operator resumes it.';
  END IF;
  IF _allowed IS NOT NULL THEN
    EXECUTE format('SELECT count(*) FROM wed.%I WHERE tenant_id = $1', TG_TABLE_NAME) INTO _used USING NEW.tenant_id;
    IF _used >= _allowed THEN
      PERFORM wed.refuse_quota(TG_TABLE_NAME || 's', _used, _allowed);
    END IF;
  END IF;
  IF TG_TABLE_NAME = 'component' THEN PERFORM wed.refuse_storage(NEW.tenant_id, octet_length(NEW.bytes)); END IF;
  RETURN NEW;
END $$;

-- Refuses a component that exceeds what a tenant's components and files of instances may take together.
CREATE OR REPLACE FUNCTION wed.refuse_storage(_tenant_id integer, _new_bytes bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _used bigint;
  _allowed bigint;
BEGIN
  SELECT wed.component_bytes(_tenant_id) + u.file_bytes, q.storage_bytes INTO _used, _allowed
  FROM wed.quota q JOIN wed.usage u USING (tenant_id) WHERE q.tenant_id = _tenant_id AND q.storage_bytes IS NOT NULL;
  IF _used + _new_bytes > _allowed THEN PERFORM wed.refuse_quota('storage_bytes', _used, _allowed); END IF;
END $$;

CREATE OR REPLACE TRIGGER quota BEFORE INSERT ON wed.flow FOR EACH ROW EXECUTE FUNCTION wed.on_thing();

CREATE OR REPLACE TRIGGER quota BEFORE INSERT ON wed.component FOR EACH ROW EXECUTE FUNCTION wed.on_thing();

-- Sets the limit on connections of the roles of a tenant's flows, which Postgres itself enforces.
CREATE OR REPLACE FUNCTION wed.on_connections() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  _role text;
BEGIN
  FOR _role IN SELECT role_name FROM wed.flow WHERE tenant_id = NEW.tenant_id ORDER BY flow_id LOOP
    EXECUTE format('ALTER ROLE %I CONNECTION LIMIT %s', _role, coalesce(NEW.connections, -1));
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER connections AFTER UPDATE ON wed.quota FOR EACH ROW
  WHEN (OLD.connections IS DISTINCT FROM NEW.connections) EXECUTE FUNCTION wed.on_connections();

-- Counts a flow's final instances that are kept: those there are, less those that have pending jobs. (An estimate of
-- the planner's where its table was analyzed with more than 100 000 rows.)
CREATE OR REPLACE FUNCTION wed.count_finished(_flow_id integer) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET lock_timeout = '20ms' AS $$
DECLARE
  _table regclass := (SELECT to_regclass(format('%I.wed_flow', schema_name)) FROM wed.flow WHERE flow_id = _flow_id);
  _rows bigint := (SELECT reltuples::bigint FROM pg_class WHERE oid = _table);
BEGIN
  IF _rows <= 100000 THEN
    BEGIN
      EXECUTE format('SELECT count(*) FROM %s', _table) INTO _rows;
    EXCEPTION WHEN lock_not_available THEN
      NULL; -- its tenant has locked it: nobody waits for that
    END;
  END IF;
  RETURN greatest(_rows - (SELECT count(DISTINCT wid) FROM wed.job WHERE flow_id = _flow_id), 0);
END $$;

-- Counts a tenant's instances that are not final, each of which has a pending job, and its jobs.
CREATE OR REPLACE FUNCTION wed.count_usage(_tenant_id integer, OUT instances bigint, OUT jobs bigint)
LANGUAGE sql STABLE AS $$
  SELECT count(*), coalesce(sum(jobs), 0)::bigint
  FROM (SELECT count(*) AS jobs FROM wed.flow f JOIN wed.job j USING (flow_id)
        WHERE f.tenant_id = _tenant_id GROUP BY j.flow_id, j.wid) i
$$;
