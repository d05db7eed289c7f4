-- Pauses do not count towards deadlines.
ALTER TABLE wed.job ADD COLUMN paused_at timestamptz, ADD COLUMN paused_for interval;
COMMENT ON COLUMN wed.job.paused_at IS 'Beginning of the present pause; null: not paused, or fired while it was.';
COMMENT ON COLUMN wed.job.paused_for IS 'Total time of the job''s ended pauses; null: none.';
