-- A task for each element of a list: an item each at the same time, whose answers are collected.
ALTER TABLE wed.work_task
  ADD COLUMN for_each text,
  ADD COLUMN collect text,
  ADD COLUMN complete integer CHECK (complete > 0);
COMMENT ON COLUMN wed.work_task.for_each IS 'Attribute with a list: for each element there is an item.';
COMMENT ON COLUMN wed.work_task.collect IS 'Attribute, a document, that gets the answers by element.';
COMMENT ON COLUMN wed.work_task.complete IS 'Answers after which the task is done; null: all.';
ALTER TABLE wed.work_item
  ADD COLUMN part integer NOT NULL DEFAULT 0,
  ADD COLUMN element jsonb;
COMMENT ON COLUMN wed.work_item.part IS 'Number of the element that it is for, from 1; 0: the task has no list.';
DROP INDEX wed.work_item_open;
CREATE UNIQUE INDEX work_item_open ON wed.work_item (flow_id, wid, tgid, part) WHERE ended_at IS NULL;
-- The counts of what people have done.
CREATE INDEX work_item_done ON wed.work_item (holder) WHERE state IN ('SUCCEEDED', 'FAILED') AND holder IS NOT NULL;
