-- The digest of each attached file: a copy of it is whole when it has this digest.
ALTER TABLE wed.work_note ADD COLUMN digest text GENERATED ALWAYS AS (encode(sha256(bytes), 'hex')) STORED;
COMMENT ON COLUMN wed.work_note.digest IS 'SHA-256 of the file, in hexadecimal digits.';
