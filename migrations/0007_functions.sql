-- The functions of this database: SHA-256 of all files below migrations/functions that were applied last.
CREATE TABLE wed.function_source (
  only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  digest     text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
REVOKE ALL ON wed.function_source FROM PUBLIC;
