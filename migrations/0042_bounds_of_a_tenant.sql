-- Bounds of what a tenant keeps outside of instances and history, and of what running instances may add.

-- A token's scopes are looked at with every request.
UPDATE wed.token SET scopes = ARRAY(SELECT DISTINCT s FROM unnest(scopes) s ORDER BY 1) WHERE cardinality(scopes) > 1;
ALTER TABLE wed.token ADD CONSTRAINT token_scopes CHECK (cardinality(scopes) BETWEEN 1 AND 30);

-- The flows that a token is for, by name; empty: everything that its scopes allow.
ALTER TABLE wed.token ADD COLUMN flows text[] NOT NULL DEFAULT '{}' CHECK (cardinality(flows) <= 30);

ALTER TABLE wed.quota ADD COLUMN other_bytes bigint DEFAULT 1073741824 CHECK (other_bytes >= 0);
COMMENT ON COLUMN wed.quota.other_bytes IS
  'bytes of attachments, comments, settings, secrets, schedules, versions, users, tokens, messages, audit entries';
-- Tenants without a limit on rows go on without one on the rest.
UPDATE wed.quota SET other_bytes = NULL WHERE row_bytes IS NULL;

ALTER TABLE wed.usage
  ADD COLUMN other_bytes bigint NOT NULL DEFAULT 0,
  ADD COLUMN over        text CHECK (over IN ('trace_bytes', 'row_bytes'));
COMMENT ON COLUMN wed.usage.over IS 'The limit on bytes that instances went far beyond: nobody claims the tenant''s jobs.';

ALTER TABLE wed.schedule ADD CONSTRAINT schedule_state CHECK (pg_column_size(state) <= 65536) NOT VALID;
