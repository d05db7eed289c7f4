-- Holds the row of the database's grants until the transaction ends: Postgres refuses a second transaction that changes
-- it ("tuple concurrently updated") instead of letting it wait.
CREATE OR REPLACE FUNCTION wed.hold_database_grants() RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT pg_advisory_xact_lock(hashtextextended('wed.hold_database_grants', 0))
$$;
