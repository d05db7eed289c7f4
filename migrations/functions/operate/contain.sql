-- Takes from PUBLIC, in a database of our own, what Postgres lets everybody do by default and no flow needs: locks by
-- number, which are other flows' too; large objects, which belong to no flow and have no bound; messages into the
-- write-ahead log; the source of functions, which conditions are compiled into. The catalog is a superuser's: another
-- role is told what it cannot take. Called for a restored database; a new one does the same in its migrations.
CREATE OR REPLACE FUNCTION wed.contain() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $contain$
DECLARE
  _function regprocedure;
BEGIN
  IF EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname !~ '^_sqlx_')
     OR EXISTS (SELECT FROM pg_namespace WHERE nspname NOT IN ('public', 'information_schema')
       AND nspname !~ '^(pg_|wed|wf_)') THEN
    RETURN;
  END IF;
  FOR _function IN
    SELECT oid::regprocedure FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace AND (
      proname ~ '^pg_(try_)?advisory_' OR proname ~ '^lo_|^lowrite$|^loread$'
      OR proname IN ('pg_logical_emit_message', 'pg_get_functiondef', 'pg_get_function_sqlbody'))
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', _function);
  END LOOP;
  -- All columns but those that hold a function's body.
  EXECUTE 'REVOKE SELECT ON pg_proc FROM PUBLIC';
  EXECUTE format('GRANT SELECT (%s) ON pg_proc TO PUBLIC', (
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = 'pg_proc'::regclass AND NOT attisdropped AND attname NOT IN ('prosrc', 'prosqlbody', 'probin')
      AND (attnum > 0 OR attname IN ('tableoid'))));
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'a superuser could take more from PUBLIC in this database; see SECURITY.md';
END $contain$;
