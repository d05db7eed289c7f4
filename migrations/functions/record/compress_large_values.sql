-- Has large values compressed by lz4, where the server has it: looking whether 100 kB can be made smaller takes a
-- twentieth of the usual time. For a database that was restored; a new one is made so.
CREATE OR REPLACE FUNCTION wed.compress_large_values() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression') THEN
    ALTER TABLE wed.trace ALTER COLUMN state SET COMPRESSION lz4;
    ALTER TABLE wed.job ALTER COLUMN payload SET COMPRESSION lz4;
    ALTER TABLE wed.log ALTER COLUMN message SET COMPRESSION lz4;
  END IF;
END $$;
