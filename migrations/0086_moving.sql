-- Tenants on their way from one installation to another.
ALTER TABLE wed.tenant
  ADD COLUMN moving   text CHECK (moving IN ('leaving', 'left', 'arriving')),
  ADD COLUMN move_id  uuid,
  ADD COLUMN moved_to text,
  ADD CONSTRAINT tenant_move CHECK ((moving IS NULL) = (move_id IS NULL));
COMMENT ON COLUMN wed.tenant.moving IS
  'leaving: fenced, and may come back; left: it lives elsewhere; arriving: copied here, and not begun. Null: at home.';
COMMENT ON COLUMN wed.tenant.move_id IS 'The move, the same at both ends.';
COMMENT ON COLUMN wed.tenant.moved_to IS 'Where it lives now: a database''s address without its password, or a file.';
