-- The system schema: tenants, flows, components, compiled triggers, instances, jobs, trace, hosts.
-- Everything here is private to the role that owns it; a flow's own role sees the views and tables
-- of its flow's schema (0003_flow.sql) and nothing else.

CREATE SCHEMA wed;
REVOKE ALL ON SCHEMA wed FROM PUBLIC;
COMMENT ON SCHEMA wed IS 'Wedflow''s own tables and functions. Private.';

-- The role that conditions are checked and evaluated as. It owns the empty shape tables that
-- conditions are checked against, and has no other right.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'wed_predicate') THEN
    CREATE ROLE wed_predicate NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL; -- another database of this cluster was migrated at the same time
END $$;
DO $$
BEGIN
  -- Needed to hand objects over to it; a superuser has it anyway.
  EXECUTE format('GRANT wed_predicate TO %I', current_user);
EXCEPTION WHEN OTHERS THEN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN RAISE; END IF;
END $$;

-- In a database of our own, nobody but the owner creates anything. One that holds other things too is
-- left as it is.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname !~ '^_sqlx_')
     AND NOT EXISTS (SELECT FROM pg_namespace WHERE nspname NOT IN ('public', 'wed', 'information_schema') AND nspname !~ '^pg_') THEN
    EXECUTE format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    REVOKE ALL ON SCHEMA public FROM PUBLIC;
  END IF;
EXCEPTION WHEN insufficient_privilege OR invalid_schema_name THEN
  RAISE NOTICE 'could not take CREATE and TEMPORARY from PUBLIC in this database; ask its owner to';
END $$;

CREATE TABLE wed.tenant (
  tenant_id  integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  created_at timestamptz NOT NULL DEFAULT now(),
  suspended_at timestamptz
);
CREATE INDEX tenant_suspended ON wed.tenant (tenant_id) WHERE suspended_at IS NOT NULL;
INSERT INTO wed.tenant (name) VALUES ('default');

-- tgid is unique in the database, not only in its flow: the papers' advisory lock is taken on
-- (wid, tgid), two 32-bit numbers, and must not be shared by two flows.
CREATE SEQUENCE wed.tgid_seq AS integer;
-- Fencing tokens: each claim of a job gets one that was never used before. A session takes some at once: which is the
-- greater says nothing, only whether they are the same.
CREATE SEQUENCE wed.fence CACHE 100;

CREATE TABLE wed.flow (
  flow_id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id       integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  name            text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  description     text NOT NULL DEFAULT '',
  -- Opaque, so that the catalogs that every session may read do not tell a flow's name.
  schema_name     text NOT NULL UNIQUE,
  shape_schema    text NOT NULL UNIQUE,
  role_name       text NOT NULL UNIQUE,
  role_password   text NOT NULL,
  excpt_tgid      integer NOT NULL,
  open_attributes text[] NOT NULL DEFAULT '{}',
  version         integer NOT NULL DEFAULT 1,
  created_at      timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);
COMMENT ON COLUMN wed.flow.version IS 'Raised by every change of attributes, triggers or bindings.';

CREATE TABLE wed.component (
  component_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id    integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  name         text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  version      integer NOT NULL,
  digest       text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
  bytes        bytea NOT NULL,
  manifest     jsonb NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  -- Of the versions of a name, the one activated last is in use: a new one by its upload.
  activated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (tenant_id, name, version)
);
ALTER TABLE wed.component ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Which component of the tenant performs a transition of a flow. A transition without a row is left
-- to external workers.
CREATE TABLE wed.binding (
  flow_id        integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  trname         text NOT NULL,
  component_name text NOT NULL,
  PRIMARY KEY (flow_id, trname)
);

-- wed_trig as the gate uses it: checked, and with its component resolved.
CREATE TABLE wed.trigger (
  tgid         integer PRIMARY KEY,
  flow_id      integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  tenant_id    integer NOT NULL,
  tgname       text,
  trname       text,
  cfinal       boolean NOT NULL,
  enabled      boolean NOT NULL,
  predicate    text,
  reads        text[] NOT NULL DEFAULT '{}',
  timely       boolean NOT NULL DEFAULT false,
  condition_group integer NOT NULL DEFAULT 0,
  timeout      interval NOT NULL,
  timeout_ms   bigint GENERATED ALWAYS AS ((extract(epoch FROM timeout) * 1000)::bigint) STORED,
  attempts     integer NOT NULL,
  backoff      interval NOT NULL,
  delay        interval NOT NULL,
  priority     integer NOT NULL,
  recheck      boolean NOT NULL,
  writes       text[],
  component_id integer REFERENCES wed.component,
  weight       integer NOT NULL DEFAULT 0
);
CREATE INDEX trigger_flow ON wed.trigger (flow_id);
COMMENT ON COLUMN wed.trigger.timely IS 'Its condition may change with time alone.';
COMMENT ON COLUMN wed.trigger.weight IS 'The megabytes that its condition may take on the largest row.';
COMMENT ON COLUMN wed.trigger.condition_group IS 'Conditions that read the same attributes; 0 is always evaluated (0003).';

-- Status only; the state itself is the row of wed_flow. Updated only when the status changes.
CREATE TABLE wed.instance (
  flow_id integer NOT NULL,
  wid     integer NOT NULL,
  status  "char" NOT NULL CHECK (status IN ('R', 'F', 'E')),
  started timestamptz NOT NULL DEFAULT now(),
  changed timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (flow_id, wid)
) WITH (fillfactor = 80);

-- The payload of a job is the state that fired it, which is row seq of its instance's trace; it is
-- copied into the job only when that row's partition is dropped (0005).
-- Columns of one length first, then those that may be null, then the rest: an update looks at what is indexed, in the
-- old row and in the new one, and what stands behind a text is found by walking there.
CREATE TABLE wed.job (
  flow_id      integer,
  tenant_id    integer,
  wid          integer,
  tgid         integer,
  seq          integer,
  last_seq     integer,
  priority     integer,
  attempt      integer DEFAULT 0,
  beside       integer,
  due          timestamptz,
  fired_at     timestamptz,
  token        bigint DEFAULT 0,
  timeout      interval,
  component_id integer,
  host_id      integer,
  version      integer,
  trname       text,
  waits_for    text,
  satisfied    bigint[],
  payload      text,
  -- NOT NULL in one: each of them by itself takes the row apart anew, as far as its column.
  CONSTRAINT complete CHECK (num_nulls(flow_id, tenant_id, wid, tgid, seq, last_seq, priority, attempt, beside, due, fired_at,
                                       token, timeout, trname) = 0)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
COMMENT ON COLUMN wed.job.seq IS 'The trace row of the state that fired it.';
COMMENT ON COLUMN wed.job.last_seq IS 'The newest trace row of its instance; the same in all its jobs.';
COMMENT ON COLUMN wed.job.fired_at IS 'The time of trace row seq, which tells its partition.';
COMMENT ON COLUMN wed.job.attempt IS 'Attempts begun by hosts.';
COMMENT ON COLUMN wed.job.token IS 'Fencing token of the present claim; 0 when unclaimed.';
COMMENT ON COLUMN wed.job.beside IS 'How many other jobs its instance has; where none, the gate looks for none.';
COMMENT ON COLUMN wed.job.waits_for IS 'Why an unclaimed job waits, where it is not for its time.';
COMMENT ON COLUMN wed.job.satisfied IS 'Which conditions held in the newest state, by group (0003); kept for flows that evaluate by group.';
COMMENT ON COLUMN wed.job.version IS 'The flow''s version that satisfied was found with.';
-- Not unique, and without tgid: a host's commit turns the finished job's row into the fired one's, and
-- that is an update within the page (HOT) only while no indexed column changes. The gate, which holds
-- the instance's row, sees to it that a trigger is pending once.
CREATE INDEX job_instance ON wed.job (flow_id, wid);
-- What a host looks for: nobody's jobs that a component can do, each tenant's by themselves, and when the
-- next one is due. Jobs that are fired already leased never enter them. Of what became due together, a flow's stay
-- together: a batch of few flows costs less.
CREATE INDEX job_ready ON wed.job (tenant_id, priority DESC, due, flow_id)
  WHERE host_id IS NULL AND component_id IS NOT NULL;
CREATE INDEX job_due ON wed.job (due)
  WHERE host_id IS NULL AND component_id IS NOT NULL;

-- What a host holds, for its leaving and its housekeeping.
CREATE INDEX job_host ON wed.job (host_id) WHERE host_id IS NOT NULL;

-- Flows that were removed, of which there is still something in the tables below (0003).
CREATE TABLE wed.residue (flow_id integer PRIMARY KEY);

-- A partition for each day; dropped whole when they are older than what is to be kept (0005).
CREATE TABLE wed.trace (
  flow_id      integer NOT NULL,
  wid          integer NOT NULL,
  seq          integer NOT NULL,
  status       "char" NOT NULL,
  trw          text,
  trf          text[] NOT NULL,
  state        text NOT NULL,
  tstmp        timestamptz NOT NULL,
  tgid         integer,
  attempt      integer,
  fuel         bigint,
  elapsed_us   bigint,
  memory_bytes bigint,
  component_id integer,
  from_seq     integer,
  xid          xid8 NOT NULL DEFAULT pg_current_xact_id(),
  writer       text NOT NULL,
  note         text
) PARTITION BY RANGE (tstmp);
-- Not unique: uniqueness could only be had within a partition, and the gate gives the numbers.
CREATE INDEX trace_instance ON wed.trace (flow_id, wid, seq);
COMMENT ON COLUMN wed.trace.from_seq IS 'The trace row whose state was the payload of the transition.';
COMMENT ON COLUMN wed.trace.component_id IS 'The version of the component that performed it.';
-- Looking whether 100 kB can be made smaller takes 1.3 ms the usual way, and a twentieth of that by lz4; a server may
-- have been built without it. Partitions take it over.
DO $$ BEGIN
  IF (SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression') THEN
    ALTER TABLE wed.trace ALTER COLUMN state SET COMPRESSION lz4;
    ALTER TABLE wed.job ALTER COLUMN payload SET COMPRESSION lz4;
  END IF;
END $$;
CREATE TABLE wed.trace_else PARTITION OF wed.trace DEFAULT;

-- How long history is kept; null is for ever.
CREATE TABLE wed.retention (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  trace    interval CHECK (trace >= '1 day')
);
INSERT INTO wed.retention DEFAULT VALUES;

-- Attempts that did not change the state: failed, timed out, trapped, skipped, …
CREATE TABLE wed.attempt (
  attempt_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  flow_id      integer NOT NULL,
  wid          integer NOT NULL,
  tgid         integer NOT NULL,
  trname       text NOT NULL,
  attempt      integer NOT NULL,
  outcome      text NOT NULL,
  message      text NOT NULL,
  fuel         bigint,
  elapsed_us   bigint,
  memory_bytes bigint,
  writer       text NOT NULL,
  tstmp        timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX attempt_instance ON wed.attempt (flow_id, wid);

-- What guests logged, kept with the attempt that said it.
CREATE TABLE wed.log (
  log_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  flow_id  integer NOT NULL,
  wid      integer NOT NULL,
  tgid     integer NOT NULL,
  attempt  integer NOT NULL,
  severity text NOT NULL,
  message  text NOT NULL,
  fields   jsonb NOT NULL DEFAULT '{}',
  tstmp    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX log_instance ON wed.log (flow_id, wid);
-- As for states, above: a line may have 64 kB.
DO $$ BEGIN
  IF (SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression') THEN
    ALTER TABLE wed.log ALTER COLUMN message SET COMPRESSION lz4;
  END IF;
END $$;

-- One row per running host process. All leases of a host end when its row expires, so that keeping
-- them costs one update per heartbeat, not one per job.
CREATE TABLE wed.host (
  host_id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text NOT NULL,
  started    timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  beside_old boolean NOT NULL DEFAULT false
);
COMMENT ON COLUMN wed.host.beside_old IS 'Whether some transaction has been open for long, so that Postgres keeps old versions of rows (0005).';

-- An instance's new state with what its conditions say of it (made by the flow's match function).
CREATE TYPE wed.evaluated AS (
  flow_id integer,
  version integer,   -- of the flow, where it evaluates by group
  wid     integer,
  state   text,      -- a JSON object
  payload text,      -- what a host is sent of it, where that is not all of it
  fired   bigint[],  -- satisfied triggers: the group's number above 32 bits of tgid
  kept    integer[], -- groups that were not evaluated: nothing they read has changed
  final   boolean,
  fault   text       -- which condition could not be evaluated, and why
);

-- What the pool says of an instance's jobs, taken together; own is the one that ends.
CREATE TYPE wed.pool AS (
  own tid, trname text, attempt integer, from_seq integer, component_id integer, last_seq integer, version integer,
  satisfied bigint[], others integer, excpt boolean, waiting boolean, pending integer[], served boolean);

-- Of a host's batch, what is cut up or looked through for each flow. A variable of plpgsql that is an array itself is put
-- together anew for whatever reads all of it.
CREATE TYPE wed.batch AS (wids integer[], tgids integer[], assigned text[], lit text[]);

-- The states of a flow's instances, of a batch that is of several.
CREATE TYPE wed.part AS (rows wed.evaluated[]);

-- An instance on its way through the gate: what the pool says of it, and what is decided.
CREATE TYPE wed.passing AS (
  flow_id integer, version integer, wid integer, state text, payload text,
  satisfied bigint[], -- evaluated and kept
  forced   text,      -- why the instance must become an exception, if it must
  tgid     integer,   -- the trigger of the job that ends
  trw      text,      -- what wrote; null for a new instance
  attempt  integer, fuel bigint, elapsed_us bigint, memory_bytes bigint,
  own      tid,       -- the row of the job that ends
  from_seq integer, component_id integer,
  seq      integer,   -- of the trace row to write
  others   integer,   -- jobs that stay pending
  excpt    boolean,   -- an _EXCPT job is among them
  waiting  boolean,   -- one among them waits for the others to end
  fire     integer[], -- triggers to fire: satisfied and not pending
  was      "char",    -- status before; null for a new instance
  becomes  "char",
  refusal  text       -- the code of the rule that forbids it
);

-- A job as a host is given it.
CREATE TYPE wed.claimed AS (
  flow_id integer, wid integer, tgid integer, tgname text, trname text, token bigint, attempt integer,
  timeout_ms bigint, payload text, component_id integer, version integer, seq integer);
