-- Makes the partition of a day of which the default partition has rows already, and moves them into it. Postgres makes
-- no partition next to such rows, so the default one is taken off meanwhile: nobody writes history until the end.
CREATE OR REPLACE FUNCTION wed.move_to_partition(_day date) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  _name text := 'trace_' || to_char(_day, 'YYYYMMDD');
BEGIN
  LOCK TABLE wed.trace IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE wed.trace DETACH PARTITION wed.trace_else;
  EXECUTE format('CREATE TABLE wed.%I PARTITION OF wed.trace FOR VALUES FROM (%L) TO (%L)', _name, _day, _day + 1);
  EXECUTE format('REVOKE ALL ON wed.%I FROM PUBLIC', _name);
  EXECUTE format('WITH moved AS (DELETE FROM wed.trace_else WHERE tstmp >= %L AND tstmp < %L RETURNING *)
                  INSERT INTO wed.%I SELECT * FROM moved', _day, _day + 1, _name);
  ALTER TABLE wed.trace ATTACH PARTITION wed.trace_else DEFAULT;
END $$;
