-- The mark of this installation, by which a person's machine knows the server again at whatever address. A backup
-- takes it along.
CREATE TABLE wed.installation (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  mark     uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO wed.installation DEFAULT VALUES;
REVOKE ALL ON wed.installation FROM PUBLIC;
-- Sizes are those of the present state, and looked at when they are asked for.
ALTER TABLE wed.work_item DROP COLUMN data_bytes;
-- Whether a rule of the process names the task's failure; else who is in charge decides what becomes of it.
ALTER TABLE wed.work_task ADD COLUMN failure_expected boolean NOT NULL DEFAULT true;
UPDATE wed.work_task w SET failure_expected = false FROM wed.work_plan p, jsonb_array_elements(p.plan -> 'tasks') t
WHERE p.flow_id = w.flow_id AND t ->> 'task' = w.task AND t ->> 'failure_expected' = 'false';
