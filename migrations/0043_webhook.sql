-- Webhooks hear of chosen events, have a name of their own, and two secrets while one is replaced; messages that were
-- given up stay as dead letters.
ALTER TABLE wed.webhook
  ADD COLUMN name       text NOT NULL DEFAULT 'wh_' || left(replace(gen_random_uuid()::text, '-', ''), 16),
  ADD COLUMN events     text[] NOT NULL DEFAULT '{instance.exception}' CHECK (cardinality(events) BETWEEN 1 AND 10
    AND events <@ '{instance.started,instance.final,instance.changed,instance.exception,job.waiting}'),
  ADD COLUMN attributes text[] NOT NULL DEFAULT '{}' CHECK (cardinality(attributes) <= 100),
  ADD COLUMN waits_over interval NOT NULL DEFAULT '1 hour' CHECK (waits_over BETWEEN '1 minute' AND '365 days'),
  ADD COLUMN old_secret text,
  ADD COLUMN old_until  timestamptz,
  ADD COLUMN ended_at   timestamptz,
  ADD CONSTRAINT webhook_name UNIQUE (name);
COMMENT ON COLUMN wed.webhook.attributes IS 'instance.changed is told for changes of these only; empty: of all.';
COMMENT ON COLUMN wed.webhook.waits_over IS 'job.waiting is told of jobs that are pending for longer.';
COMMENT ON COLUMN wed.webhook.old_secret IS 'The secret before the last rotation; it signs messages too until old_until.';
COMMENT ON COLUMN wed.webhook.ended_at IS 'Its receiver answered 410: nothing is told to it, until it is set again.';
-- What a commit looks at: webhooks that hear of what commits do.
CREATE INDEX webhook_commits ON wed.webhook (tenant_id)
  WHERE events && '{instance.started,instance.final,instance.changed}' AND ended_at IS NULL;

ALTER TABLE wed.outbox
  ADD COLUMN name    text NOT NULL DEFAULT 'msg_' || replace(gen_random_uuid()::text, '-', ''),
  ADD COLUMN dead_at timestamptz;
COMMENT ON COLUMN wed.outbox.name IS 'The message''s name to its receiver, the same at every attempt.';
COMMENT ON COLUMN wed.outbox.dead_at IS 'When its delivery was given up.';
UPDATE wed.outbox SET dead_at = clock_timestamp() WHERE attempt >= 24;
CREATE INDEX outbox_name ON wed.outbox (name);

-- Jobs of which webhooks were told that they wait, so that each is told once.
CREATE TABLE wed.waiting_told (
  webhook_id integer NOT NULL REFERENCES wed.webhook ON DELETE CASCADE,
  flow_id    integer NOT NULL,
  wid        integer NOT NULL,
  tgid       integer NOT NULL,
  PRIMARY KEY (webhook_id, flow_id, wid, tgid)
);
REVOKE ALL ON wed.waiting_told FROM PUBLIC;
