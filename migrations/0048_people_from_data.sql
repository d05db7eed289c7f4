-- Tasks for whom the data says: attributes that name people, and tasks whose performer does it too, or must not.
ALTER TABLE wed.work_task
  ADD COLUMN assignee text,
  ADD COLUMN candidates text,
  ADD COLUMN same_as text,
  ADD COLUMN not_by text;
COMMENT ON COLUMN wed.work_task.assignee IS 'Attribute that names the one person who does it.';
COMMENT ON COLUMN wed.work_task.candidates IS
  'Attribute that names people and roles to whom it is offered, and nobody else.';
COMMENT ON COLUMN wed.work_task.same_as IS 'Task of the instance whose last performer does this one.';
COMMENT ON COLUMN wed.work_task.not_by IS 'Task of the instance whose performers do not do this one.';
ALTER TABLE wed.work_item
  ADD COLUMN only_people integer[],
  ADD COLUMN not_people integer[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN wed.work_item.only_people IS 'To whom alone it is offered; null: to its role.';
COMMENT ON COLUMN wed.work_item.not_people IS 'Who may not hold it.';
