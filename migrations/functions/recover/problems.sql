-- What is wrong with the installation, and how to mend it.
CREATE OR REPLACE FUNCTION wed.problems() RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'no_host', 'no host is running', 'Start one with `wed serve`.'
  WHERE NOT EXISTS (SELECT FROM wed.host h WHERE wed.host_runs(h))
  UNION ALL
  SELECT 'host_lost', format('host %s (%s) has not renewed its lease for %s s', host_id, name,
    (extract(epoch FROM clock_timestamp() - expires_at))::bigint),
      'Another host frees its jobs within seconds; start one if none runs.'
  FROM wed.host WHERE expires_at <= clock_timestamp()
  UNION ALL
  SELECT 'host_lost', format('host %s (%s) is gone; its leases end within %s s', host_id, name,
    ceil(extract(epoch FROM expires_at - clock_timestamp()))::bigint),
      'Another host frees its jobs then; start one if none runs.'
  FROM wed.host h WHERE expires_at > clock_timestamp() AND NOT wed.host_runs(h)
  UNION ALL
  SELECT 'queue_old', format('the oldest job that could run is due since %s s', q.age),
    'Start more hosts, or see which tenant or component is slow with `wed job list`.'
  FROM (SELECT extract(epoch FROM now() - min(due))::bigint AS age FROM wed.job WHERE host_id IS NULL
    AND component_id IS NOT NULL AND due <= now()) q
  WHERE q.age > 60 AND EXISTS (SELECT FROM wed.host h WHERE wed.host_runs(h))
  UNION ALL
  SELECT 'no_component', format('flow %s of tenant %s: component %s of transition %s was not uploaded, and jobs '
    'wait for it', f.name, t.name, b.component_name, b.trname),
    'Upload it with `wed component push`.'
  FROM wed.binding b JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id)
  WHERE NOT EXISTS (SELECT FROM wed.component c WHERE c.tenant_id = f.tenant_id AND c.name = b.component_name)
    AND EXISTS (SELECT FROM wed.job j WHERE j.flow_id = b.flow_id AND j.trname = b.trname)
  UNION ALL
  SELECT 'history_misplaced', 'rows of the trace are in its default partition, which no retention drops',
    'Run a host: it moves them into the partitions of their days.'
  -- Older rows there are those of instances that have not ended (wed.drop_old_days).
  WHERE EXISTS (SELECT FROM wed.trace_else WHERE tstmp >= current_date)
  UNION ALL
  SELECT 'not_runnable', format('flow %s of tenant %s, %s waiting: %s', f.name, t.name, count(*), j.put_off),
    'Push a component that fits, or mend the flow; it is looked at again within 15 s.'
  FROM wed.job j JOIN wed.flow f USING (flow_id) JOIN wed.tenant t ON t.tenant_id = f.tenant_id
  WHERE j.put_off LIKE 'it cannot run: %' GROUP BY f.name, t.name, j.put_off
  UNION ALL
  SELECT * FROM wed.session_problems()
  UNION ALL
  SELECT 'unowned', format('%s jobs are leased to hosts that there are not', count(*)),
    'A host of this version frees them; start one.'
  FROM wed.job j WHERE j.host_id IS NOT NULL AND NOT EXISTS (SELECT FROM wed.host h
    WHERE h.host_id = j.host_id) HAVING count(*) > 0
  UNION ALL
  SELECT 'webhook_failing', format('%s messages to %s of tenant %s were not delivered: %s', count(*),
    wed.masked_url(w.url), t.name,
    max(o.last_error)),
    'Let its receiver answer with 2xx, list its place with `wed serve --allow-http`, or remove it with `wed webhook '
    'remove`.'
  FROM wed.outbox o JOIN wed.webhook w USING (webhook_id) JOIN wed.tenant t ON t.tenant_id = w.tenant_id
  WHERE o.attempt >= 3 GROUP BY w.url, t.name
  UNION ALL
  SELECT 'circuit_open', format('transition %s of component %s of tenant %s keeps failing on host %s', k.trname,
    c.name, t.name, k.host_id),
    'Its attempts are made a few at a time. See `wed job logs`, and push a mended version.'
  FROM wed.circuit k JOIN wed.component c USING (component_id) JOIN wed.tenant t ON t.tenant_id = c.tenant_id
  UNION ALL
  SELECT 'schedule_failing', format('%s of flow %s of tenant %s started nothing the last time: %s',
    CASE count(*) WHEN 1 THEN 'schedule ' || min(s.name) ELSE format('%s schedules (%s, ...)', count(*), min(s.name)) END,
    f.name, t.name, s.last_error),
    'Mend its values or the flow; `wed flow schedule list` shows when it runs next.'
  FROM wed.schedule s JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id)
  WHERE s.last_error IS NOT NULL GROUP BY t.name, f.name, s.last_error
  UNION ALL
  SELECT * FROM wed.postponed_problems()
  UNION ALL
  SELECT * FROM wed.order_problems()
  UNION ALL
  SELECT 'host_old', format('host %s (%s) runs version %s, others run %s', h.host_id, h.name, coalesce(h.version,
    'unknown'), n.newest),
    'Start it anew with the program of the host that started last.'
  FROM wed.host h CROSS JOIN (SELECT version AS newest FROM wed.host ORDER BY started DESC, host_id DESC LIMIT 1) n
  WHERE wed.host_runs(h) AND h.version IS DISTINCT FROM n.newest
$$;
