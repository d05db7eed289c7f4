-- Flows with paused jobs, which the chore `pauses` looks for: a job that was fired or held while its flow was resumed is
-- resumed by it. A job that waits for no time, but for an event, a reservation or siblings, is due at infinity before,
-- during and after a pause, which paused_at alone tells (wed.job_is_paused).
CREATE INDEX job_paused ON wed.job (flow_id)
  WHERE host_id IS NULL AND due >= '9000-01-01 00:00:00+00'::timestamptz
    AND (due < 'infinity'::timestamptz OR paused_at IS NOT NULL);
COMMENT ON COLUMN wed.job.put_off IS
  'Reason why a host could not run it or commit its result: a lock of another session, or what not_runnable marks.';
COMMENT ON COLUMN wed.job.attempt IS 'Attempts begun, by hosts and workers.';
