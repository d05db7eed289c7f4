-- The session that renews a host's leases: it ends with the host, before the leases do.
ALTER TABLE wed.host ADD COLUMN session_pid integer;
COMMENT ON COLUMN wed.host.session_pid IS 'Server process of the session; null until it first renews the leases.';
