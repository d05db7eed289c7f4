-- Rebuilds indexes of wed.job that are ten times as large as their rows need: rows come and go at full rate, and pages
-- that were split stay. Waits for no writer for longer than 50 ms; the next look tries again. Returns how many it
-- rebuilt.
CREATE OR REPLACE FUNCTION wed.rebuild_indexes() RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '50ms' AS $$
DECLARE
  _bytes_of_row CONSTANT integer := 64;
  _bytes_least CONSTANT integer := 1048576;
  _index regclass;
  _rebuilt integer := 0;
BEGIN
  FOR _index IN
    SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = 'wed.job'::regclass
      AND pg_relation_size(c.oid) > greatest(_bytes_least, c.reltuples * _bytes_of_row * 10)
  LOOP
    EXECUTE format('REINDEX INDEX %s', _index);
    _rebuilt := _rebuilt + 1;
  END LOOP;
  RETURN _rebuilt;
EXCEPTION WHEN lock_not_available THEN
  RETURN _rebuilt;
END $$;
