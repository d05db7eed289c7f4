-- Weighs a table with a column flow_id that all tenants share: the bytes that it takes on disk, by tenant, in the
-- proportion of what they have in some hundred pages of it.
CREATE OR REPLACE FUNCTION wed.weigh_table(_table regclass) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _pages bigint := pg_relation_size(_table) / 8192;
  _weights jsonb;
BEGIN
  IF _pages = 0 THEN RETURN '{}'; END IF;
  EXECUTE format($q$
    SELECT jsonb_object_agg(tenant, bytes) FROM (
      SELECT f.tenant_id::text AS tenant, sum(%s * s.bytes / s.whole)::bigint AS bytes
      FROM (SELECT p.flow_id, sum(pg_column_size(p.*)) AS bytes, sum(sum(pg_column_size(p.*))) OVER () AS whole
            FROM %s p TABLESAMPLE SYSTEM (%s) GROUP BY p.flow_id) s JOIN wed.flow f USING (flow_id)
      GROUP BY f.tenant_id) w $q$,
    pg_total_relation_size(_table), _table, least(100, 30000.0 / _pages)) INTO _weights;
  RETURN coalesce(_weights, '{}');
END $$;
