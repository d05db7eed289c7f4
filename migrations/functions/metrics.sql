-- Figures of the installation for monitoring.

-- Figures of the installation for monitoring: a name, a tenant, a label, a number. `host/api/src/figures.rs` describes
-- each, and what its label is.
CREATE OR REPLACE FUNCTION wed.metrics() RETURNS TABLE (name text, tenant text, label text, value double precision)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH queue AS MATERIALIZED (SELECT key, value FROM jsonb_each_text(wed.queue()))
  SELECT 'hosts', NULL, NULL, count(*)::double precision FROM wed.host h WHERE wed.host_runs(h)
  UNION ALL
  SELECT 'jobs', NULL, q.key, q.value::double precision FROM queue q WHERE q.key <> 'ready_age_s'
  UNION ALL
  SELECT 'queue_age', NULL, NULL, q.value::double precision FROM queue q WHERE q.key = 'ready_age_s'
  UNION ALL
  (SELECT 'exceptions', t.name, f.name, count(*) FROM wed.job j JOIN wed.flow f USING (flow_id)
   JOIN wed.tenant t ON t.tenant_id = f.tenant_id WHERE j.trname = '_EXCPT' GROUP BY t.name, f.name
   ORDER BY count(*) DESC, 2, 3 LIMIT 1000)
  UNION ALL
  (SELECT 'webhook_messages', t.name, NULL, count(*) FROM wed.outbox o JOIN wed.tenant t USING (tenant_id)
   GROUP BY t.name ORDER BY count(*) DESC, 2 LIMIT 1000)
  UNION ALL
  (SELECT 'usage', t.name, n.name, (to_jsonb(u) ->> (n.name || '_bytes'))::double precision
   FROM wed.tenant t JOIN wed.usage u USING (tenant_id)
   CROSS JOIN LATERAL (VALUES ('trace'), ('row'), ('attempt'), ('log'), ('recording')) n(name)
   ORDER BY 4 DESC NULLS LAST, 2, 3 LIMIT 1000)
  UNION ALL
  (SELECT 'finished', t.name, NULL, u.finished FROM wed.tenant t JOIN wed.usage u USING (tenant_id)
   ORDER BY u.finished DESC, 2 LIMIT 1000)
  UNION ALL
  SELECT 'circuits_open', NULL, NULL, count(*) FROM wed.circuit
  UNION ALL
  SELECT 'schedule_lateness', NULL, NULL,
    greatest(coalesce(extract(epoch FROM clock_timestamp() - min(s.next_at)), 0), 0)::double precision
  FROM wed.schedule s WHERE NOT s.paused
  UNION ALL
  SELECT 'pauses', NULL, NULL, count(*) FROM wed.pause
  UNION ALL
  SELECT 'lock_waits', NULL, NULL, count(*) FROM pg_stat_activity a
  WHERE a.datname = current_database() AND a.wait_event_type = 'Lock'
  UNION ALL
  SELECT 'sessions', NULL, NULL, count(*) FROM pg_stat_activity a WHERE a.datname = current_database()
  UNION ALL
  SELECT 'sessions_max', NULL, NULL, current_setting('max_connections')::double precision
  UNION ALL
  SELECT 'problems', NULL, p.code, count(*) FROM wed.problems() p GROUP BY p.code
  UNION ALL
  SELECT 'trace_partitions', NULL, NULL, count(*) FROM pg_inherits i WHERE i.inhparent = 'wed.trace'::regclass
  UNION ALL
  SELECT 'capacity', NULL, c.kind, c.used FROM wed.capacity() c
  UNION ALL
  SELECT 'database_size', NULL, NULL, pg_database_size(current_database())
$$;
