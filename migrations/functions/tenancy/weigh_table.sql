-- Weighs a table that all tenants share: the bytes that it takes on disk, by tenant, in the proportion of what they
-- have in some hundred pages of it. Rows are of a tenant by a column tenant_id, or else by flow_id. Long values are counted
-- by what their row says of them, and not read.
CREATE OR REPLACE FUNCTION wed.weigh_table(_table regclass) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _pages bigint := pg_relation_size(_table) / 8192;
  _columns name[] := ARRAY(SELECT attname FROM pg_attribute
                           WHERE attrelid = _table AND attnum > 0 AND NOT attisdropped);
  _bytes text := (SELECT string_agg(format('coalesce(pg_column_size(p.%I), 0)', c), ' + ') FROM unnest(_columns) c);
  _weights jsonb;
BEGIN
  IF _pages = 0 THEN RETURN '{}'; END IF;
  EXECUTE format($q$
    SELECT jsonb_object_agg(tenant, bytes) FROM (
      SELECT %s::text AS tenant, sum(%s * s.bytes / s.whole)::bigint AS bytes
      FROM (SELECT p.%5$I, sum(28 + %s) AS bytes, sum(sum(28 + %3$s)) OVER () AS whole
            FROM %s p TABLESAMPLE SYSTEM (%6$s) WHERE p.%5$I IS NOT NULL GROUP BY p.%5$I) s %7$s
      GROUP BY 1) w $q$,
    CASE WHEN 'tenant_id' = ANY (_columns) THEN 's.tenant_id' ELSE 'f.tenant_id' END,
    pg_total_relation_size(_table), _bytes, _table,
    CASE WHEN 'tenant_id' = ANY (_columns) THEN 'tenant_id' ELSE 'flow_id' END, least(100, 30000.0 / _pages),
    CASE WHEN 'tenant_id' = ANY (_columns) THEN '' ELSE 'JOIN wed.flow f USING (flow_id)' END) INTO _weights;
  RETURN coalesce(_weights, '{}');
END $$;
