-- Weighs what tenants keep, a minute after the last time: the tables of their flows as they lie on disk; of
-- what all share, each one's part of a sample. Returns whether it did.
CREATE OR REPLACE FUNCTION wed.weigh_usage(_after interval DEFAULT '1 minute') RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _part regclass;
  _trace jsonb := '{}';
  _attempts jsonb;
  _logs jsonb;
  _recordings jsonb;
BEGIN
  -- One session at a time; a second one has nothing to do.
  PERFORM FROM wed.weighing WHERE at < clock_timestamp() - _after FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE wed.weighing SET at = clock_timestamp();
  _attempts := wed.weigh_table('wed.attempt');
  _logs := wed.weigh_table('wed.log');
  _recordings := wed.weigh_table('wed.recording');
  FOR _part IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'wed.trace'::regclass LOOP
    SELECT coalesce(jsonb_object_agg(tenant, bytes), '{}') INTO _trace FROM (
      SELECT key AS tenant, sum(value::bigint) AS bytes
      FROM (SELECT * FROM jsonb_each_text(_trace) UNION ALL SELECT * FROM jsonb_each_text(wed.weigh_table(_part))) b
        GROUP BY key) s;
  END LOOP;
  UPDATE wed.usage u SET weighed_at = clock_timestamp(),
    trace_bytes = coalesce((_trace ->> u.tenant_id::text)::bigint, 0),
    attempt_bytes = coalesce((_attempts ->> u.tenant_id::text)::bigint, 0),
    log_bytes = coalesce((_logs ->> u.tenant_id::text)::bigint, 0),
    recording_bytes = coalesce((_recordings ->> u.tenant_id::text)::bigint, 0),
    finished = (SELECT coalesce(sum(c.finished), 0)
                FROM wed.flow f CROSS JOIN LATERAL wed.count_finished(f.flow_id) c(finished)
                WHERE f.tenant_id = u.tenant_id),
    orders = wed.count_orders(u.tenant_id, NULL),
    row_bytes = (SELECT coalesce(sum(wed.table_bytes(f.schema_name)), 0)
                 FROM wed.flow f WHERE f.tenant_id = u.tenant_id)
  FROM (SELECT tenant_id FROM wed.usage ORDER BY tenant_id FOR NO KEY UPDATE SKIP LOCKED) free
  WHERE u.tenant_id = free.tenant_id;
  RETURN true;
END $$;
