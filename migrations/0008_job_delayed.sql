-- Tells jobs that were due when they were fired from those that wait for their time, so that a claim looks at the
-- tenants that have work now, and not at those whose work is due in an hour.
-- Generated, and not an expression in the indexes' conditions: an index on fired_at would keep a host's commit from
-- updating a job's row in place (HOT).
ALTER TABLE wed.job ADD COLUMN delayed boolean GENERATED ALWAYS AS (due > fired_at) STORED;
COMMENT ON COLUMN wed.job.delayed IS 'Whether it was not due yet when it was fired, or was put off.';

-- One entry for each unclaimed job that was due at once: by tenant, so that tenants with such jobs are found by one
-- probe each.
CREATE INDEX job_immediate ON wed.job (tenant_id)
  WHERE host_id IS NULL AND component_id IS NOT NULL AND NOT delayed;
-- Of the others those come first that are due first.
DROP INDEX wed.job_due;
CREATE INDEX job_due ON wed.job (due)
  WHERE host_id IS NULL AND component_id IS NOT NULL AND delayed;
