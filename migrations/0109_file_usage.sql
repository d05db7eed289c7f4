-- Bytes of files of instances in each folder of hosts, known by its mark: hosts that share a folder count it once, and
-- a tenant's files are the sum over folders (wed.keep_file_bytes).
CREATE TABLE wed.file_usage (
  folder     text NOT NULL,
  tenant_id  integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  bytes      bigint NOT NULL,
  counted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (folder, tenant_id)
);
REVOKE ALL ON wed.file_usage FROM PUBLIC;
COMMENT ON COLUMN wed.usage.file_bytes IS 'Bytes of files of instances, over all folders of hosts.';
