-- What is wrong with the installation, and how to mend it.
CREATE OR REPLACE FUNCTION wed.problems() RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'no_host', 'no host is running', 'Start one with `wed serve`.'
  WHERE NOT EXISTS (SELECT FROM wed.host WHERE expires_at > clock_timestamp())
  UNION ALL
  SELECT 'host_lost', format('host %s (%s) has not renewed its lease for %s s', host_id, name,
    (extract(epoch FROM clock_timestamp() - expires_at))::bigint), 'Another host frees its jobs within seconds; start one if none runs.'
  FROM wed.host WHERE expires_at <= clock_timestamp()
  UNION ALL
  SELECT 'queue_old', format('the oldest job that could run is due since %s s', q.age), 'Start more hosts, or see which tenant or component is slow with `wed job list`.'
  FROM (SELECT extract(epoch FROM now() - min(due))::bigint AS age FROM wed.job WHERE host_id IS NULL AND component_id IS NOT NULL AND due <= now()) q
  WHERE q.age > 60 AND EXISTS (SELECT FROM wed.host WHERE expires_at > clock_timestamp())
  UNION ALL
  SELECT 'no_component', format('flow %s of tenant %s: component %s of transition %s was not uploaded', f.name, t.name, b.component_name, b.trname),
    'Upload it with `wed component push`.'
  FROM wed.binding b JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id)
  WHERE NOT EXISTS (SELECT FROM wed.component c WHERE c.tenant_id = f.tenant_id AND c.name = b.component_name)
  UNION ALL
  SELECT 'history_misplaced', 'rows of the trace are in its default partition, which no retention drops', 'Run a host: it moves them into the partitions of their days.'
  WHERE EXISTS (SELECT FROM wed.trace_else)
  UNION ALL
  SELECT 'old_transaction', format('session %s (%s) has had a transaction open for %s s', pid, coalesce(usename, '?'), extract(epoch FROM now() - xact_start)::bigint),
    format('End it: SELECT pg_terminate_backend(%s). Old row versions pile up meanwhile.', pid)
  FROM pg_stat_activity WHERE datname = current_database() AND xact_start < now() - interval '10 minutes' AND backend_type = 'client backend'
  UNION ALL
  SELECT 'lock_waited', format('session %s waits for a lock of session %s', a.pid, pg_blocking_pids(a.pid)), 'End the session that holds it, if it is not at work.'
  FROM pg_stat_activity a WHERE a.datname = current_database() AND a.wait_event_type = 'Lock' AND a.query_start < now() - interval '5 seconds'
  UNION ALL
  SELECT 'unowned', format('%s jobs are leased to hosts that there are not', count(*)), 'A host of this version frees them; start one.'
  FROM wed.job j WHERE j.host_id IS NOT NULL AND NOT EXISTS (SELECT FROM wed.host h WHERE h.host_id = j.host_id) HAVING count(*) > 0
$$;
