-- Containment: what keeps hostile values from holding a backend, and rows from growing without bound.
-- statement_timeout is not enough: Postgres looks at it between rows, not within an expression.

-- Functions through which conditions and SET clauses pass values whose size decides how long a
-- computation takes. They are called in the database of every flow, by its own role and by
-- wed_predicate; being in PL/pgSQL, each call is also a moment at which a timeout is seen.
CREATE SCHEMA wed_bounded;
GRANT USAGE ON SCHEMA wed_bounded TO PUBLIC;
COMMENT ON SCHEMA wed_bounded IS 'Wedflow''s own: refuses values that would take too long to compute with.';

-- In a database of our own, what Postgres lets everybody do by default and no flow needs is taken from
-- PUBLIC: locks by number, which are other flows' too; large objects, which belong to no flow and have no
-- bound; messages into the write-ahead log; the source of functions, which conditions are compiled into.
-- It needs a superuser, as the catalog is one's. What is left is told in SECURITY.md.
DO $contain$
DECLARE
  _function regprocedure;
BEGIN
  IF EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname !~ '^_sqlx_')
     OR EXISTS (SELECT FROM pg_namespace WHERE nspname NOT IN ('public', 'information_schema') AND nspname !~ '^(pg_|wed)') THEN
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
