-- Weighs what tenants keep, a minute after the last time: the tables of their flows as they lie on disk; of
-- the trace, which all share, each one's part of a sample of every partition. Returns whether it did.
CREATE OR REPLACE FUNCTION wed.weigh_usage(_after interval DEFAULT '1 minute') RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _part record;
  _trace jsonb := '{}';
BEGIN
  -- One at a time; who comes second has nothing to do.
  PERFORM FROM wed.weighing WHERE at < clock_timestamp() - _after FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE wed.weighing SET at = clock_timestamp();
  FOR _part IN
    SELECT c.oid::regclass AS name, pg_total_relation_size(c.oid) AS bytes, pg_relation_size(c.oid) / 8192 AS pages
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'wed.trace'::regclass
  LOOP
    CONTINUE WHEN _part.pages = 0;
    -- Some hundred pages of each.
    EXECUTE format($q$
      SELECT jsonb_object_agg(tenant, bytes) FROM (
        SELECT tenant, sum(bytes)::bigint AS bytes FROM (
          SELECT f.tenant_id::text AS tenant, %s * sum(s.bytes) / max(s.whole) AS bytes
          FROM (SELECT p.flow_id, sum(pg_column_size(p.*)) AS bytes, sum(sum(pg_column_size(p.*))) OVER () AS whole
                FROM %s p TABLESAMPLE SYSTEM (%s) GROUP BY p.flow_id) s JOIN wed.flow f USING (flow_id)
          GROUP BY f.tenant_id
          UNION ALL SELECT key, value::bigint FROM jsonb_each_text($1)) one GROUP BY tenant) added $q$,
      _part.bytes, _part.name, least(100, 30000.0 / _part.pages)) INTO _trace USING coalesce(_trace, '{}');
  END LOOP;
  UPDATE wed.usage u SET trace_bytes = coalesce((_trace ->> u.tenant_id::text)::bigint, 0), weighed_at = clock_timestamp(),
    row_bytes = (SELECT coalesce(sum(pg_total_relation_size(to_regclass(format('%I.wed_flow', f.schema_name)))), 0)
                 FROM wed.flow f WHERE f.tenant_id = u.tenant_id);
  RETURN true;
END $$;
