-- Leases of workers over HTTP: job.host_id is 0, and each lease has an end of its own (wed.lease_to_worker).
ALTER TABLE wed.job
  ADD COLUMN worker     text,
  ADD COLUMN lease_ends timestamptz,
  ADD COLUMN progress   jsonb;
COMMENT ON COLUMN wed.job.worker IS 'The worker over HTTP that has the job, or had it last.';
COMMENT ON COLUMN wed.job.lease_ends IS 'When the lease of that worker ends.';
COMMENT ON COLUMN wed.job.progress IS 'What a worker said of its progress; the next attempt gets it.';
-- Jobs that no component performs. Of columns that other indexes have: a column more would make each commit of a host
-- write all indexes.
CREATE INDEX job_external ON wed.job (flow_id, priority DESC, due) WHERE host_id IS NULL AND component_id IS NULL;
