-- How long records and finished instances are kept, and how much of them tenants have.
ALTER TABLE wed.retention
  ADD COLUMN attempts   interval CHECK (attempts >= '1 hour'),
  ADD COLUMN logs       interval CHECK (logs >= '1 hour'),
  ADD COLUMN recordings interval CHECK (recordings >= '1 hour'),
  ADD COLUMN instances  interval CHECK (instances >= '1 hour');
COMMENT ON COLUMN wed.retention.trace IS 'Whole days of the trace; null: for ever, as in all columns.';
COMMENT ON COLUMN wed.retention.instances IS 'Final instances, from their end, with all that is recorded of them.';

-- What is older is found by time.
CREATE INDEX attempt_time ON wed.attempt USING brin (tstmp);
CREATE INDEX instance_changed ON wed.instance USING brin (changed);

ALTER TABLE wed.quota
  ADD COLUMN finished        bigint CHECK (finished >= 0),
  ADD COLUMN attempt_bytes   bigint CHECK (attempt_bytes >= 0),
  ADD COLUMN log_bytes       bigint CHECK (log_bytes >= 0),
  ADD COLUMN recording_bytes bigint CHECK (recording_bytes >= 0);
COMMENT ON COLUMN wed.quota.finished IS 'final instances that are kept, when one is started';
COMMENT ON COLUMN wed.quota.attempt_bytes IS 'bytes of attempts on record, when an instance is started';
COMMENT ON COLUMN wed.quota.log_bytes IS 'bytes of what transitions logged, when an instance is started';
COMMENT ON COLUMN wed.quota.recording_bytes IS 'bytes of recordings of attempts, when an instance is started';
ALTER TABLE wed.usage
  ADD COLUMN finished        bigint NOT NULL DEFAULT 0,
  ADD COLUMN attempt_bytes   bigint NOT NULL DEFAULT 0,
  ADD COLUMN log_bytes       bigint NOT NULL DEFAULT 0,
  ADD COLUMN recording_bytes bigint NOT NULL DEFAULT 0;
-- A new tenant's; those that there are go on without.
ALTER TABLE wed.quota
  ALTER COLUMN attempt_bytes SET DEFAULT 1073741824,
  ALTER COLUMN log_bytes SET DEFAULT 1073741824,
  ALTER COLUMN recording_bytes SET DEFAULT 1073741824;
