-- The bytes that a flow's table takes on disk, with indexes and long values. Where its tenant has locked it: as the
-- last vacuum found it, since nobody waits for a tenant.
CREATE OR REPLACE FUNCTION wed.table_bytes(_schema text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '20ms' AS $$
DECLARE
  _table regclass := to_regclass(format('%I.wed_flow', _schema));
BEGIN
  RETURN pg_total_relation_size(_table);
EXCEPTION WHEN lock_not_available THEN
  RETURN (SELECT sum(c.relpages::bigint) * 8192 FROM pg_class c
          WHERE c.oid = _table OR c.oid = (SELECT reltoastrelid FROM pg_class WHERE oid = _table)
             OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = _table));
END $$;
