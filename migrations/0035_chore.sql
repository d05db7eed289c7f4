-- Chores: what hosts do for all tenants. A kind of chore has two functions, wed.due_KIND and wed.do_KIND; each due
-- thing of it is done in a block of its own, and what fails is put off.

-- Due things of one kind in one flow, done in one transaction. Things are instances, work items or schedules.
CREATE TYPE wed.chore AS (
  tenant_id integer,
  flow_id   integer,   -- 0: the tenant itself
  things    bigint[],  -- 0: the flow itself
  tgids     integer[]
);

-- Things that could not be done, and when they are tried again.
CREATE TABLE wed.postponed (
  kind      text NOT NULL,
  tenant_id integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  flow_id   integer NOT NULL,
  thing     bigint NOT NULL,
  tgid      integer NOT NULL,
  failures  integer NOT NULL DEFAULT 1,
  since     timestamptz NOT NULL DEFAULT clock_timestamp(),
  until     timestamptz NOT NULL,
  reason    text,
  PRIMARY KEY (kind, flow_id, thing, tgid, tenant_id)
);
COMMENT ON COLUMN wed.postponed.failures IS 'Tries in a row that failed; the pause doubles with each.';
COMMENT ON COLUMN wed.postponed.reason IS 'Why it failed; null: a session is at it, as it may be.';

-- Unclaimed jobs whose condition a commit made false (wed.update_siblings) or the clock (wed.do_clock): to be skipped.
CREATE TABLE wed.stale (
  flow_id integer NOT NULL,
  wid     integer NOT NULL,
  tgid    integer NOT NULL,
  since   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (flow_id, wid, tgid)
);
REVOKE ALL ON wed.postponed, wed.stale FROM PUBLIC;
INSERT INTO wed.stale (flow_id, wid, tgid)
SELECT DISTINCT flow_id, wid, tgid FROM wed.job WHERE last_seq > seq AND host_id IS NULL AND trname <> '_EXCPT';

-- Webhooks take turns, and of each those messages that are due longest.
CREATE INDEX outbox_turn ON wed.outbox (webhook_id, due);
DROP INDEX wed.outbox_webhook;

ALTER TABLE wed.quota ADD COLUMN schedules bigint DEFAULT 1000 CHECK (schedules >= 0);
COMMENT ON COLUMN wed.quota.schedules IS 'schedules';
UPDATE wed.quota q SET schedules = NULL FROM wed.tenant t WHERE t.tenant_id = q.tenant_id AND t.name = 'default';
