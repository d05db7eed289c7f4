-- Replacing the secret of an inbound hook: for a while messages that are signed with the old one are taken, too.
ALTER TABLE wed.hook
  ADD COLUMN old_secret text CHECK (octet_length(old_secret) BETWEEN 16 AND 255),
  ADD COLUMN old_until timestamptz,
  ADD CHECK ((old_secret IS NULL) = (old_until IS NULL));
COMMENT ON COLUMN wed.hook.old_secret IS 'Secret before the last rotation; taken until old_until.';
