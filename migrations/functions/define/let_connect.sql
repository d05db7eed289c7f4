-- Lets a flow's role connect, where not everybody may. All such grants are in one row of pg_database, which two
-- transactions must not change at once: one waits for the other.
CREATE OR REPLACE FUNCTION wed.let_connect(_role text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF has_database_privilege(_role, current_database(), 'CONNECT') THEN RETURN; END IF;
  PERFORM wed.hold_database_grants();
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), _role);
END $$;
