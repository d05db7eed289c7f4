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
INSERT INTO wed.quota (tenant_id, flows, instances, jobs, components, requests_per_second, trace_bytes, row_bytes, connections)
SELECT tenant_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM wed.tenant;
INSERT INTO wed.usage (tenant_id) SELECT tenant_id FROM wed.tenant;
DO $$ BEGIN EXECUTE format('CREATE SEQUENCE wed.started_%s', (SELECT tenant_id FROM wed.tenant)); END $$;

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
REVOKE ALL ON ALL TABLES IN SCHEMA wed FROM PUBLIC;
