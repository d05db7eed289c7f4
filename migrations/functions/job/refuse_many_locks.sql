-- Refuses another job lock to a session that holds many: locks are in memory that all sessions of the server share.
CREATE OR REPLACE FUNCTION wed.refuse_many_locks() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _locks_max CONSTANT integer := 1000;
BEGIN
  IF (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) >= _locks_max THEN
    RAISE EXCEPTION 'this session holds the locks of % jobs', _locks_max USING ERRCODE = 'WF017',
      HINT = 'Finish these and commit; then take more.';
  END IF;
END $$;
