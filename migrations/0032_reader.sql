-- The role that owns what flows' roles read of shared tables (wed.own_views). It can read these tables and nothing
-- else, so that a lock that a flow's role takes on a view ends there: Postgres asks for the owner's right to lock what
-- is below.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'wed_reader') THEN
    CREATE ROLE wed_reader NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL; -- another database of this cluster was migrated at the same time
END $$;
DO $$
BEGIN
  -- Needed to hand objects over to it; a superuser has it anyway.
  EXECUTE format('GRANT wed_reader TO %I', current_user);
EXCEPTION WHEN OTHERS THEN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN RAISE; END IF;
END $$;
