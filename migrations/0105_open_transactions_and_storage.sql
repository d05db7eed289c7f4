-- Bounds of a tenant: how long a transaction of its flows' roles may be open, and how many bytes it keeps as components
-- and files of instances.
ALTER TABLE wed.quota
  ADD COLUMN transaction_seconds bigint DEFAULT 3600 CHECK (transaction_seconds >= 10),
  ADD COLUMN storage_bytes       bigint DEFAULT 4294967296 CHECK (storage_bytes >= 0);
COMMENT ON COLUMN wed.quota.transaction_seconds IS 'seconds for which a transaction of a flow''s role may be open';
COMMENT ON COLUMN wed.quota.storage_bytes IS 'bytes of components and of files of instances';
UPDATE wed.quota q SET transaction_seconds = NULL FROM wed.tenant t WHERE t.tenant_id = q.tenant_id AND t.name = 'default';

ALTER TABLE wed.usage ADD COLUMN file_bytes bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN wed.usage.file_bytes IS 'Bytes of files of instances, as a host found them last in its folder.';

-- Tenants without a limit on rows go on without one; those who keep much may keep twice as much.
UPDATE wed.quota q SET storage_bytes = CASE WHEN q.row_bytes IS NOT NULL THEN greatest(q.storage_bytes, 2 * (
  SELECT coalesce(sum(octet_length(c.bytes)), 0) FROM wed.component c WHERE c.tenant_id = q.tenant_id)) END;
ALTER TABLE wed.usage DROP CONSTRAINT usage_over_check,
  ADD CONSTRAINT usage_over_check CHECK (over IN ('trace_bytes', 'row_bytes', 'storage_bytes'));
