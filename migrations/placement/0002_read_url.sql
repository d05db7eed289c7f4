-- A replica of each cluster that lists, traces and searches are read from.
ALTER TABLE placement.cluster ADD COLUMN read_url text;
COMMENT ON COLUMN placement.cluster.read_url IS 'Address of a replica to read from, with its password; null: none.';
