-- Whether who writes is no host: a host's batch takes its states through the gate itself (wed.write_results); only a
-- session of the owner is believed to be one. Every writer may call it, with whatever search_path. The condition of a
-- trigger is read from its text by every statement, so it is short.
DO $$ BEGIN
  EXECUTE format($f$CREATE OR REPLACE FUNCTION wed.is_by_hand() RETURNS boolean LANGUAGE plpgsql STABLE AS $b$
BEGIN
  RETURN session_user OPERATOR(pg_catalog.<>) %L::pg_catalog.name
    OR (pg_catalog.current_setting('wed.commit', true) OPERATOR(pg_catalog.=) 'batch') IS NOT TRUE;
END $b$ $f$, (SELECT r.rolname FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.nspname = 'wed'));
END $$;
