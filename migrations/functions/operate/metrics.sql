-- Figures of the installation for monitoring: a name, labels, a number.
CREATE OR REPLACE FUNCTION wed.metrics() RETURNS TABLE (name text, tenant text, label text, value double precision)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'hosts', NULL, NULL, count(*)::double precision FROM wed.host h WHERE wed.host_runs(h)
  UNION ALL
  SELECT 'jobs', NULL, q.key, q.value::double precision
  FROM jsonb_each_text(wed.queue()) q WHERE q.key <> 'ready_age_s'
  UNION ALL
  SELECT 'queue_age_seconds', NULL, NULL, (wed.queue() ->> 'ready_age_s')::double precision
  UNION ALL
  SELECT 'exceptions', t.name, f.name, count(*) FROM wed.job j JOIN wed.flow f USING (flow_id)
  JOIN wed.tenant t ON t.tenant_id = f.tenant_id WHERE j.trname = '_EXCPT' GROUP BY t.name, f.name
  UNION ALL
  SELECT 'outbox_messages', t.name, NULL, count(*) FROM wed.outbox o JOIN wed.tenant t USING (tenant_id) GROUP BY t.name
  UNION ALL
  SELECT 'usage', t.name, q.name, q.used FROM wed.tenant t
  CROSS JOIN LATERAL (VALUES ('trace_bytes'), ('row_bytes'), ('finished'), ('attempt_bytes'), ('log_bytes'),
    ('recording_bytes')) n(name)
  JOIN wed.usage u USING (tenant_id)
  CROSS JOIN LATERAL (SELECT n.name, (to_jsonb(u) ->> n.name)::double precision AS used) q
  UNION ALL
  SELECT 'circuits_open', NULL, NULL, count(*) FROM wed.circuit
  UNION ALL
  SELECT 'problems', NULL, p.code, count(*) FROM wed.problems() p GROUP BY p.code
  UNION ALL
  SELECT 'database_bytes', NULL, NULL, pg_database_size(current_database())
$$;
