-- Files of fenced tenants that were taken in here: one tenant comes of each, for it would work twice.
CREATE TABLE wed.taken_move (
  move_id   uuid PRIMARY KEY,
  tenant_id integer NOT NULL UNIQUE REFERENCES wed.tenant ON DELETE CASCADE);
COMMENT ON TABLE wed.taken_move IS 'Moves that ended here, each with the tenant that came of it.';
