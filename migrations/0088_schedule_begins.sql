-- Schedules of a definition: SQL knows no next time of a pattern, so hosts find the first one.
ALTER TABLE wed.schedule ADD COLUMN begins boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN wed.schedule.begins IS 'Its first time is to be found, behind next_at; nothing is started at next_at itself.';
