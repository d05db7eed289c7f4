-- The session over which a host keeps its leases: when it is gone, so is the host, before the leases end.
ALTER TABLE wed.host ADD COLUMN session_pid integer;
COMMENT ON COLUMN wed.host.session_pid IS 'Process of the server that serves the session; null until the first lease is kept.';
