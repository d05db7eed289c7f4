-- Removes rows of keys that nobody wants. Looks at pages by chance, so that each tenant's rows are met as often as it
-- has many, until few are found or the time is up. Returns how many it removed.
CREATE OR REPLACE FUNCTION wed.remove_unused_locks(_until timestamptz) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _pages_of_look CONSTANT integer := 100;
  _few CONSTANT integer := 500;
  _pages bigint := pg_relation_size('wed.resource_lock') / current_setting('block_size')::integer;
  _found bigint;
  _removed bigint := 0;
BEGIN
  LOOP
    DELETE FROM wed.resource_lock WHERE ctid = ANY (ARRAY(
      SELECT l.ctid FROM wed.resource_lock l
        TABLESAMPLE SYSTEM (least(100, 100.0 * _pages_of_look / greatest(_pages, 1)))
      WHERE l.used_at < now() - interval '1 minute'
        AND NOT EXISTS (SELECT FROM wed.reservation v
                        WHERE v.tenant_id = l.tenant_id AND v.resource = l.resource AND v.key = l.key)
      FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS _found = ROW_COUNT;
    _removed := _removed + _found;
    EXIT WHEN _found < _few OR clock_timestamp() > _until;
  END LOOP;
  RETURN _removed;
END $$;
