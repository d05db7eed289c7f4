-- Operators: what is paused, what went back, which definitions a flow had, when instances are started by the clock.

-- Present pauses: of a tenant, a flow, a trigger or an instance. A paused job is due PAUSE_SHIFT (8000 years) later
-- than it would be, so that no index and no claim needs to know (wed.keep_paused).
CREATE TABLE wed.pause (
  pause_id  integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  flow_id   integer REFERENCES wed.flow ON DELETE CASCADE,
  tgid      integer REFERENCES wed.trigger ON DELETE CASCADE,
  wid       integer,
  actor     text NOT NULL,
  reason    text NOT NULL,
  paused_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(tgid, wid) <= 1 AND (flow_id IS NOT NULL OR num_nonnulls(tgid, wid) = 0)),
  UNIQUE NULLS NOT DISTINCT (tenant_id, flow_id, tgid, wid)
);
CREATE INDEX pause_flow ON wed.pause (flow_id) WHERE flow_id IS NOT NULL;

-- Exceptions that nobody was told of yet; only exceptions are in the index.
ALTER TABLE wed.instance ADD COLUMN announced_at timestamptz;
COMMENT ON COLUMN wed.instance.announced_at IS 'When its present exception was announced to operators.';
CREATE INDEX instance_unannounced ON wed.instance (flow_id, wid)
  WHERE status = 'E' AND (announced_at IS NULL OR announced_at < changed);

-- Definitions that flows had, newest last; who applied them.
CREATE TABLE wed.flow_version (
  flow_id    integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  version    integer NOT NULL,
  definition jsonb NOT NULL,
  actor      text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (flow_id, version)
);

-- Cron schedules that start instances. The hosts compute the next time; the database says what time it is.
CREATE TABLE wed.schedule (
  schedule_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  flow_id     integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  name        text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  cron        text NOT NULL CHECK (octet_length(cron) <= 200),
  zone        text NOT NULL DEFAULT 'UTC',
  state       jsonb NOT NULL DEFAULT '{}',
  missed      text NOT NULL DEFAULT 'one' CHECK (missed IN ('skip', 'one', 'all')),
  overlap     text NOT NULL DEFAULT 'start' CHECK (overlap IN ('start', 'skip')),
  paused      boolean NOT NULL DEFAULT false,
  next_at     timestamptz,
  last_at     timestamptz,
  last_wid    integer,
  last_error  text,
  actor       text NOT NULL,
  UNIQUE (flow_id, name)
);
CREATE INDEX schedule_next ON wed.schedule (next_at) WHERE NOT paused AND next_at IS NOT NULL;
COMMENT ON COLUMN wed.schedule.missed IS 'Occurrences that passed while no host ran: skip them, start one instance, or one for each.';
COMMENT ON COLUMN wed.schedule.overlap IS 'While the instance started last is neither final nor an exception: start another, or skip.';
REVOKE ALL ON wed.pause, wed.flow_version, wed.schedule FROM PUBLIC;

ALTER TABLE wed.host ADD COLUMN version text;
COMMENT ON COLUMN wed.host.version IS 'The version of its program.';
