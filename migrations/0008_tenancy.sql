-- Tenants: users, tokens, suspension, quotas, the audit log. Rules that every door must keep are here;
-- who may do what over HTTP is decided by the crate tenancy.

ALTER TABLE wed.tenant
  ADD COLUMN description text NOT NULL DEFAULT '',
  -- The longest life of a token, in days.
  ADD COLUMN token_days integer NOT NULL DEFAULT 366 CHECK (token_days BETWEEN 1 AND 3660);

-- What a tenant may use: the one place of these limits. Null: as much as it likes. Defaults are a new
-- tenant's; the tenant `default`, the operator's own, begins without limits.
CREATE TABLE wed.quota (
  tenant_id           integer PRIMARY KEY REFERENCES wed.tenant ON DELETE CASCADE,
  flows               bigint DEFAULT 200 CHECK (flows >= 0),
  instances           bigint DEFAULT 100000 CHECK (instances >= 0),
  jobs                bigint DEFAULT 500000 CHECK (jobs >= 0),
  components          bigint DEFAULT 500 CHECK (components >= 0),
  requests_per_second bigint DEFAULT 100 CHECK (requests_per_second BETWEEN 1 AND 1000000),
  fuel_per_minute     bigint CHECK (fuel_per_minute >= 0),
  concurrency         bigint CHECK (concurrency >= 0),
  trace_bytes         bigint DEFAULT 10737418240 CHECK (trace_bytes >= 0),
  row_bytes           bigint DEFAULT 10737418240 CHECK (row_bytes >= 0),
  connections         bigint DEFAULT 20 CHECK (connections BETWEEN 0 AND 10000)
);
COMMENT ON COLUMN wed.quota.flows IS 'flows';
COMMENT ON COLUMN wed.quota.instances IS 'instances that are not final';
COMMENT ON COLUMN wed.quota.jobs IS 'pending jobs, when an instance is started';
COMMENT ON COLUMN wed.quota.components IS 'versions of components';
COMMENT ON COLUMN wed.quota.requests_per_second IS 'requests to the API in a second';
COMMENT ON COLUMN wed.quota.fuel_per_minute IS 'fuel of transitions in a minute; what is over it waits';
COMMENT ON COLUMN wed.quota.concurrency IS 'jobs in the hands of hosts at once; what is over it waits';
COMMENT ON COLUMN wed.quota.connections IS 'sessions of each flow''s role at once';
COMMENT ON COLUMN wed.quota.trace_bytes IS 'bytes of history, when an instance is started';
COMMENT ON COLUMN wed.quota.row_bytes IS 'bytes of the states of instances, when one is started';

-- What a tenant was found to use. Commits do not keep it: starts are counted by a sequence of the tenant,
-- which nobody waits for, and what has ended is found by counting pending jobs anew, when a limit is near.
CREATE TABLE wed.usage (
  tenant_id   integer PRIMARY KEY REFERENCES wed.tenant ON DELETE CASCADE,
  instances   bigint NOT NULL DEFAULT 0,
  jobs        bigint NOT NULL DEFAULT 0,
  started     bigint NOT NULL DEFAULT 0,
  measured_at timestamptz NOT NULL DEFAULT '-infinity',
  minute      timestamptz NOT NULL DEFAULT '-infinity',
  fuel        bigint NOT NULL DEFAULT 0,
  fuel_before bigint NOT NULL DEFAULT 0,
  resting     boolean NOT NULL DEFAULT false,
  trace_bytes bigint NOT NULL DEFAULT 0,
  row_bytes   bigint NOT NULL DEFAULT 0,
  weighed_at  timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
CREATE INDEX usage_resting ON wed.usage (tenant_id) WHERE resting;
COMMENT ON COLUMN wed.usage.fuel IS 'What hosts have told of this minute; fuel_before of the one before.';
COMMENT ON COLUMN wed.usage.resting IS 'Its fuel is used up: nobody claims its jobs.';
COMMENT ON COLUMN wed.usage.started IS 'Where the sequence was when the others were counted.';

-- When that was weighed last.
CREATE TABLE wed.weighing (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  at       timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO wed.weighing DEFAULT VALUES;

CREATE FUNCTION wed.on_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER quota AFTER INSERT OR DELETE ON wed.tenant FOR EACH ROW EXECUTE FUNCTION wed.on_tenant();
INSERT INTO wed.quota (tenant_id, flows, instances, jobs, components, requests_per_second, trace_bytes, row_bytes, connections)
SELECT tenant_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM wed.tenant;
INSERT INTO wed.usage (tenant_id) SELECT tenant_id FROM wed.tenant;
DO $$ BEGIN EXECUTE format('CREATE SEQUENCE wed.started_%s', (SELECT tenant_id FROM wed.tenant)); END $$;

-- The roles of a tenant's flows are limited by Postgres itself.
CREATE FUNCTION wed.on_connections() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  _role text;
BEGIN
  FOR _role IN SELECT role_name FROM wed.flow WHERE tenant_id = NEW.tenant_id ORDER BY flow_id LOOP
    EXECUTE format('ALTER ROLE %I CONNECTION LIMIT %s', _role, coalesce(NEW.connections, -1));
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER connections AFTER UPDATE ON wed.quota FOR EACH ROW
  WHEN (OLD.connections IS DISTINCT FROM NEW.connections) EXECUTE FUNCTION wed.on_connections();

-- Refuses for a limit: its name, what is used, what is allowed.
CREATE FUNCTION wed.refuse_quota(_limit text, _used bigint, _allowed bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the tenant''s quota of % is used up: % of % are used', _limit, _used, _allowed
    USING ERRCODE = 'WF020', DETAIL = json_build_object('limit', _limit, 'used', _used, 'allowed', _allowed)::text,
      HINT = 'Make room, or ask the operator of this installation for more.';
END $$;

-- Counts what a tenant uses, _started being where its sequence was. Every instance that is not final has a
-- pending job.
CREATE FUNCTION wed.measure(_tenant_id integer, _started bigint) RETURNS wed.usage
LANGUAGE sql AS $$
  UPDATE wed.usage u SET instances = m.instances, jobs = m.jobs, started = _started, measured_at = clock_timestamp()
  FROM (SELECT count(*) AS instances, coalesce(sum(jobs), 0)::bigint AS jobs
        FROM (SELECT count(*) AS jobs FROM wed.flow f JOIN wed.job j USING (flow_id)
              WHERE f.tenant_id = _tenant_id GROUP BY j.flow_id, j.wid) i) m
  WHERE u.tenant_id = _tenant_id RETURNING u.*
$$;

-- The fuel of the last sixty seconds: this minute's, and of the one before the part that is not over yet.
CREATE FUNCTION wed.fuel_used(_usage wed.usage) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT CASE (_usage).minute
    WHEN m.now THEN (_usage).fuel + ((_usage).fuel_before * m.rest)::bigint
    WHEN m.now - interval '1 minute' THEN ((_usage).fuel * m.rest)::bigint ELSE 0 END
  FROM (SELECT date_trunc('minute', clock_timestamp()) AS now,
               1 - extract(second FROM clock_timestamp())::float8 / 60 AS rest) m
$$;

-- What a host's transitions used since it told last, by tenant. Answers which tenants' fired jobs no host
-- keeps: those that rest now, and those whose jobs in hand are limited, so that each is claimed.
CREATE FUNCTION wed.tell_fuel(_tenants integer[], _fuel bigint[], OUT resting integer[], OUT limited integer[])
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  _minute timestamptz := date_trunc('minute', clock_timestamp());
BEGIN
  -- In one order, so that hosts do not wait for each other in a circle.
  PERFORM FROM wed.usage u WHERE u.tenant_id = ANY (_tenants) ORDER BY u.tenant_id FOR NO KEY UPDATE;
  UPDATE wed.usage u SET minute = _minute,
    fuel = CASE WHEN u.minute = _minute THEN u.fuel ELSE 0 END + r.fuel,
    fuel_before = CASE u.minute WHEN _minute THEN u.fuel_before WHEN _minute - interval '1 minute' THEN u.fuel ELSE 0 END
  FROM ROWS FROM (unnest(_tenants), unnest(_fuel)) AS r(tenant_id, fuel) WHERE u.tenant_id = r.tenant_id;
  UPDATE wed.usage u SET resting = NOT u.resting
  FROM (SELECT v.tenant_id FROM wed.usage v JOIN wed.quota q USING (tenant_id)
        WHERE (q.fuel_per_minute IS NOT NULL OR v.resting)
          AND v.resting <> coalesce(wed.fuel_used(v) >= q.fuel_per_minute, false)
        ORDER BY v.tenant_id FOR NO KEY UPDATE OF v SKIP LOCKED) c
  WHERE u.tenant_id = c.tenant_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  resting := ARRAY(SELECT u.tenant_id FROM wed.usage u WHERE u.resting);
  limited := ARRAY(SELECT q.tenant_id FROM wed.quota q WHERE q.concurrency IS NOT NULL);
END $$;

-- New instances, whoever starts them, are counted and held against the tenant's limits. Starts of the same
-- instant may go over a limit by their number.
CREATE FUNCTION wed.on_start() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  _new bigint;
  _top bigint;
  _quota wed.quota;
  _usage wed.usage;
BEGIN
  SELECT q.* INTO _quota FROM (SELECT flow_id FROM new_rows LIMIT 1) i
  JOIN wed.flow f USING (flow_id) JOIN wed.quota q USING (tenant_id);
  IF _quota.instances IS NULL AND _quota.jobs IS NULL AND _quota.trace_bytes IS NULL AND _quota.row_bytes IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT * INTO _usage FROM wed.usage WHERE tenant_id = _quota.tenant_id;
  IF _usage.trace_bytes > _quota.trace_bytes THEN
    PERFORM wed.refuse_quota('trace_bytes', _usage.trace_bytes, _quota.trace_bytes);
  ELSIF _usage.row_bytes > _quota.row_bytes THEN
    PERFORM wed.refuse_quota('row_bytes', _usage.row_bytes, _quota.row_bytes);
  END IF;
  SELECT count(*), max(nextval('wed.started_' || _quota.tenant_id)) INTO _new, _top FROM new_rows;
  IF _usage.instances + _top - _usage.started <= _quota.instances IS NOT FALSE
     AND _usage.jobs + _top - _usage.started <= _quota.jobs IS NOT FALSE THEN
    RETURN NULL;
  END IF;
  -- A limit is near, if nothing has ended meanwhile: count.
  IF _usage.measured_at < clock_timestamp() - interval '1 second' THEN
    _usage := wed.measure(_quota.tenant_id, _top - _new);
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
CREATE TRIGGER quota AFTER INSERT ON wed.instance REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION wed.on_start();

-- Counts anew for tenants that may be near a limit, so that a refused start need not.
CREATE FUNCTION wed.measure_usage() RETURNS void
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

-- Weighs what tenants keep, a minute after the last time: the tables of their flows as they lie on disk; of
-- the trace, which all share, each one's part of a sample of every partition. Returns whether it did.
CREATE FUNCTION wed.weigh_usage(_after interval DEFAULT '1 minute') RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _part record;
  _trace jsonb := '{}';
BEGIN
  -- One at a time; who comes second has nothing to do.
  PERFORM FROM wed.weighing WHERE at < clock_timestamp() - _after FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE wed.weighing SET at = clock_timestamp();
  FOR _part IN
    SELECT c.oid::regclass AS name, pg_total_relation_size(c.oid) AS bytes, pg_relation_size(c.oid) / 8192 AS pages
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'wed.trace'::regclass
  LOOP
    CONTINUE WHEN _part.pages = 0;
    -- Some hundred pages of each.
    EXECUTE format($q$
      SELECT jsonb_object_agg(tenant, bytes) FROM (
        SELECT tenant, sum(bytes)::bigint AS bytes FROM (
          SELECT f.tenant_id::text AS tenant, %s * sum(s.bytes) / max(s.whole) AS bytes
          FROM (SELECT p.flow_id, sum(pg_column_size(p.*)) AS bytes, sum(sum(pg_column_size(p.*))) OVER () AS whole
                FROM %s p TABLESAMPLE SYSTEM (%s) GROUP BY p.flow_id) s JOIN wed.flow f USING (flow_id)
          GROUP BY f.tenant_id
          UNION ALL SELECT key, value::bigint FROM jsonb_each_text($1)) one GROUP BY tenant) added $q$,
      _part.bytes, _part.name, least(100, 30000.0 / _part.pages)) INTO _trace USING coalesce(_trace, '{}');
  END LOOP;
  UPDATE wed.usage u SET trace_bytes = coalesce((_trace ->> u.tenant_id::text)::bigint, 0), weighed_at = clock_timestamp(),
    row_bytes = (SELECT coalesce(sum(pg_total_relation_size(to_regclass(format('%I.wed_flow', f.schema_name)))), 0)
                 FROM wed.flow f WHERE f.tenant_id = u.tenant_id);
  RETURN true;
END $$;

-- New flows and components, whoever makes them. The row of the tenant keeps two makers apart.
CREATE FUNCTION wed.on_thing() RETURNS trigger LANGUAGE plpgsql AS $$
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
  RETURN NEW;
END $$;
CREATE TRIGGER quota BEFORE INSERT ON wed.flow FOR EACH ROW EXECUTE FUNCTION wed.on_thing();
CREATE TRIGGER quota BEFORE INSERT ON wed.component FOR EACH ROW EXECUTE FUNCTION wed.on_thing();

-- A tenant's limits in order, with what is used of those that can be counted.
CREATE FUNCTION wed.quotas(_tenant_id integer) RETURNS TABLE (name text, unit text, used bigint, allowed bigint)
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
             WHEN 'concurrency' THEN (SELECT count(*) FROM wed.job j WHERE j.tenant_id = _tenant_id AND j.host_id IS NOT NULL)
             WHEN 'trace_bytes' THEN _usage.trace_bytes
             WHEN 'row_bytes' THEN _usage.row_bytes END,
           (to_jsonb(q) ->> a.attname)::bigint
    FROM wed.quota q, pg_attribute a
    WHERE q.tenant_id = _tenant_id AND a.attrelid = 'wed.quota'::regclass AND a.attnum > 1 AND NOT a.attisdropped
    ORDER BY a.attnum;
END $$;

CREATE TABLE wed.user (
  user_id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id  integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  name       text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9._@-]{0,62}$'),
  role       text NOT NULL CHECK (role IN ('admin', 'developer', 'operator', 'participant', 'viewer')),
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);

-- Only the hash of a token is kept. Its secret is 256 random bits, so that a plain SHA-256 is enough:
-- there is nothing to guess, and a slow hash would only slow every request down.
CREATE TABLE wed.token (
  token_id   integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id  integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  user_id    integer NOT NULL REFERENCES wed.user ON DELETE CASCADE,
  name       text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  prefix     text NOT NULL,
  hash       bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  scopes     text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  last_used  timestamptz,
  UNIQUE (tenant_id, prefix)
);
CREATE INDEX token_user ON wed.token (user_id, name);
COMMENT ON COLUMN wed.token.prefix IS 'The first characters, to know a token again by.';
COMMENT ON COLUMN wed.token.last_used IS 'To within some minutes, so that a request need not write.';

-- Answers that a client may ask for again under the same key.
CREATE TABLE wed.idempotency (
  tenant_id   integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  user_name   text NOT NULL,
  key         text NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 255),
  fingerprint bytea NOT NULL,
  answer      jsonb,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_name, key)
);
CREATE INDEX idempotency_age ON wed.idempotency (created_at);

-- Who did what, when. A tenant's number is never given again, so that what is kept of a deleted tenant
-- is nobody else's.
CREATE TABLE wed.audit (
  audit_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  tenant_id   integer,
  tenant_name text,
  actor       text NOT NULL,
  action      text NOT NULL,
  target      text NOT NULL,
  detail      jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_tenant ON wed.audit (tenant_id, audit_id);

-- Appends to the audit log, in the transaction of what is done.
CREATE FUNCTION wed.note(_actor text, _tenant text, _action text, _target text, _detail jsonb) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.audit (tenant_id, tenant_name, actor, action, target, detail)
  VALUES ((SELECT tenant_id FROM wed.tenant WHERE name = _tenant), _tenant, _actor, _action, _target,
          coalesce(_detail, '{}'))
$$;
-- The same about something of a flow.
CREATE FUNCTION wed.note_flow(_actor text, _flow_id integer, _action text, _part text, _detail jsonb) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.audit (tenant_id, tenant_name, actor, action, target, detail)
  SELECT t.tenant_id, t.name, _actor, _action, concat_ws('/', f.name, _part), coalesce(_detail, '{}')
  FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE f.flow_id = _flow_id
$$;

-- Nothing of the audit log is changed, and nothing removed but by wed.forget_audit.
CREATE FUNCTION wed.keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  _stack text;
BEGIN
  GET DIAGNOSTICS _stack = PG_CONTEXT;
  IF TG_OP = 'DELETE' AND _stack ~ 'function wed\.forget_audit\(' THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'the audit log is only ever appended to' USING ERRCODE = 'WF022',
    HINT = 'Old entries are removed by wed.forget_audit(interval), which keeps 30 days at the least.';
END $$;
CREATE TRIGGER append_only AFTER UPDATE OR DELETE OR TRUNCATE ON wed.audit
  FOR EACH STATEMENT EXECUTE FUNCTION wed.keep_audit();

-- Removes what is older than the given time; never what is younger than 30 days. Itself on record.
CREATE FUNCTION wed.forget_audit(_actor text, _older interval) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _forgotten bigint;
BEGIN
  IF _older IS NULL OR _older < interval '30 days' THEN
    RAISE EXCEPTION 'the audit log is kept for 30 days at the least' USING ERRCODE = 'WF022',
      HINT = 'Give a longer time.';
  END IF;
  DELETE FROM wed.audit WHERE at < clock_timestamp() - _older;
  GET DIAGNOSTICS _forgotten = ROW_COUNT;
  PERFORM wed.note(_actor, NULL, 'audit.forget', _older::text, jsonb_build_object('entries', _forgotten));
  RETURN _forgotten;
END $$;

-- Suspends a tenant, or resumes it: its flows' roles may not log in, and their sessions end; hosts claim
-- none of its jobs, and give back those that its running ones fire, because the flows' versions change.
CREATE FUNCTION wed.suspend_tenant(_tenant_id integer, _suspend boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  UPDATE wed.tenant SET suspended_at = CASE WHEN _suspend THEN coalesce(suspended_at, now()) END
  WHERE tenant_id = _tenant_id;
  FOR _flow IN SELECT * FROM wed.flow WHERE tenant_id = _tenant_id ORDER BY flow_id LOOP
    PERFORM wed.compile(_flow.flow_id);
    EXECUTE format('ALTER ROLE %I %s', _flow.role_name, CASE WHEN _suspend THEN 'NOLOGIN' ELSE 'LOGIN' END);
    IF _suspend THEN
      PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = _flow.role_name;
    END IF;
  END LOOP;
  IF NOT _suspend THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;

-- Removes a suspended tenant with everything of it; the audit log keeps what was done.
CREATE FUNCTION wed.drop_tenant(_tenant_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow_id integer;
BEGIN
  FOR _flow_id IN SELECT flow_id FROM wed.flow WHERE tenant_id = _tenant_id ORDER BY flow_id LOOP
    PERFORM wed.drop_flow(_flow_id);
  END LOOP;
  DELETE FROM wed.tenant WHERE tenant_id = _tenant_id;
END $$;

-- Makes a token. At most two of one name are live: the present one, and the one it is being replaced by.
CREATE FUNCTION wed.create_token(
  _tenant_id integer, _user text, _name text, _prefix text, _hash bytea, _scopes text[], _days integer,
  _live integer) RETURNS timestamptz
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _user_id integer;
  _most integer;
  _expires timestamptz := clock_timestamp() + _days * interval '1 day';
BEGIN
  -- The lock keeps two makers of one name apart.
  SELECT u.user_id, t.token_days INTO _user_id, _most FROM wed.user u JOIN wed.tenant t USING (tenant_id)
  WHERE u.tenant_id = _tenant_id AND u.name = _user FOR NO KEY UPDATE OF u;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF _days NOT BETWEEN 1 AND _most THEN
    RAISE EXCEPTION 'a token of this tenant lives for 1 to % days, not for %', _most, _days
      USING ERRCODE = 'WF023', HINT = 'Ask for fewer days.';
  END IF;
  IF (SELECT count(*) FROM wed.token WHERE user_id = _user_id AND name = _name AND revoked_at IS NULL
      AND expires_at > clock_timestamp()) >= _live THEN
    RAISE EXCEPTION 'user "%" has % named "%" already', _user,
        CASE _live WHEN 1 THEN 'a live token' ELSE 'two live tokens' END, _name
      USING ERRCODE = 'WF023', HINT = CASE _live WHEN 1 THEN 'Rotate it, or choose another name.'
        ELSE 'Revoke the older one first, or wait until it expires.' END;
  END IF;
  INSERT INTO wed.token (tenant_id, user_id, name, prefix, hash, scopes, expires_at)
  VALUES (_tenant_id, _user_id, _name, _prefix, _hash, _scopes, _expires);
  RETURN _expires;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA wed FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA wed FROM PUBLIC;
