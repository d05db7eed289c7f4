-- The jobs whose advisory locks (wid, tgid) this session holds.
CREATE OR REPLACE FUNCTION wed.locked_jobs() RETURNS wed.result[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT ROW(l.classid::bigint::integer, l.objid::bigint::integer, NULL, NULL, NULL, NULL, NULL)::wed.result
    FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.pid = pg_backend_pid()
      AND l.mode = 'ExclusiveLock'
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()));
END $$;
