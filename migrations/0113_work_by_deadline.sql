-- A worklist by deadline reads the first of a role, as one by arrival or priority does.
CREATE INDEX work_item_deadline ON wed.work_item (role_id, deadline_at, item_id)
  WHERE state = 'READY' AND policy = 1;
