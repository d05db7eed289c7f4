-- Weighs what tenants keep, a minute after the last time: the tables of their flows as they lie on disk; of
-- what all share, each one's part of a sample. Returns whether it did.
CREATE OR REPLACE FUNCTION wed.weigh_usage(_after interval DEFAULT '1 minute') RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _trace jsonb;
  _attempts jsonb;
  _logs jsonb;
  _recordings jsonb;
  _others jsonb;
BEGIN
  -- One session at a time; a second one has nothing to do.
  PERFORM FROM wed.weighing WHERE at < clock_timestamp() - _after FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE wed.weighing SET at = clock_timestamp();
  _attempts := wed.weigh_table('wed.attempt');
  _logs := wed.weigh_table('wed.log');
  _recordings := wed.weigh_table('wed.recording');
  _others := wed.weigh_tables(wed.other_tables());
  _trace := wed.weigh_tables(ARRAY(SELECT inhrelid::regclass FROM pg_inherits
                                   WHERE inhparent = 'wed.trace'::regclass));
  UPDATE wed.usage u SET weighed_at = clock_timestamp(),
    trace_bytes = coalesce((_trace ->> u.tenant_id::text)::bigint, 0),
    attempt_bytes = coalesce((_attempts ->> u.tenant_id::text)::bigint, 0),
    log_bytes = coalesce((_logs ->> u.tenant_id::text)::bigint, 0),
    recording_bytes = coalesce((_recordings ->> u.tenant_id::text)::bigint, 0),
    other_bytes = coalesce((_others ->> u.tenant_id::text)::bigint, 0),
    finished = (SELECT coalesce(sum(c.finished), 0)
                FROM wed.flow f CROSS JOIN LATERAL wed.count_finished(f.flow_id) c(finished)
                WHERE f.tenant_id = u.tenant_id),
    orders = wed.count_orders(u.tenant_id, NULL),
    row_bytes = (SELECT coalesce(sum(wed.table_bytes(f.schema_name)), 0)
                 FROM wed.flow f WHERE f.tenant_id = u.tenant_id)
  FROM (SELECT tenant_id FROM wed.usage ORDER BY tenant_id FOR NO KEY UPDATE SKIP LOCKED) free
  WHERE u.tenant_id = free.tenant_id;
  PERFORM wed.stop_running_over();
  RETURN true;
END $$;

-- Stops the jobs of tenants whose running instances have gone a quarter beyond a limit on bytes, and lets those go on
-- that are below again. Starts are refused from the limit on (wed.on_start).
CREATE OR REPLACE FUNCTION wed.stop_running_over() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.usage u SET over = n.over
  FROM (SELECT v.tenant_id, CASE WHEN v.trace_bytes > q.trace_bytes * 1.25 THEN 'trace_bytes'
                                 WHEN v.row_bytes > q.row_bytes * 1.25 THEN 'row_bytes' END AS over
        FROM wed.usage v JOIN wed.quota q USING (tenant_id) ORDER BY v.tenant_id FOR NO KEY UPDATE OF v SKIP LOCKED) n
  WHERE u.tenant_id = n.tenant_id AND u.over IS DISTINCT FROM n.over;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;
