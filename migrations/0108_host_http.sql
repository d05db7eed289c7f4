-- Places that a host's operator lets it speak HTTP to, for what is said when a webhook is set: host and port, with a
-- tenant before them where they are that tenant's alone.
ALTER TABLE wed.host ADD COLUMN http text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN wed.host.http IS 'Places of `--allow-http`, as its operator wrote them.';
