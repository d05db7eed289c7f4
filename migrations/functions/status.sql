-- The installation as its operator sees it: problems with the way to mend them, the queue, figures for monitoring.

-- Returns the state of the installation, for `wed status`: hosts, queue, history, pauses, and what is wrong with how to
-- mend it.
CREATE OR REPLACE FUNCTION wed.installation() RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object(
    'server', current_setting('server_version'),
    'database_bytes', pg_database_size(current_database()),
    'hosts', (SELECT coalesce(jsonb_agg(jsonb_build_object('name', h.name, 'host_id', h.host_id, 'version', h.version,
        'started', wed.rfc3339(h.started),
        'lease_ms', (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000)::bigint,
        'jobs', (SELECT count(*) FROM wed.job j WHERE j.host_id = h.host_id)) ORDER BY h.host_id), '[]')
          FROM wed.host h),
    'queue', wed.queue(),
    'partitions', (SELECT coalesce(jsonb_agg(jsonb_build_object('name', c.relname, 'bytes',
      pg_total_relation_size(c.oid)) ORDER BY c.relname), '[]')
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'wed.trace'::regclass),
    'pauses', (SELECT count(*) FROM wed.pause),
    'problems', (SELECT coalesce(jsonb_agg(jsonb_build_object('code', code, 'text', text, 'hint', hint)), '[]')
      FROM wed.problems()))
$$;

-- Transactions of this database that have written and are open for longer than _age, each with its flow if it runs as
-- a flow's role: feeds of events wait for them, those of other tenants than the flow's do not.
CREATE OR REPLACE FUNCTION wed.open_writers(_age interval)
RETURNS TABLE (pid integer, gid text, role_name name, flow_id integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT w.pid, w.gid, w.role_name, f.flow_id, w.since FROM wed.writing() w
  LEFT JOIN wed.flow f ON f.role_name = w.role_name
  WHERE w.database = current_database() AND w.since < clock_timestamp() - _age
$$;

-- Returns the statement that ends a transaction: of a session, or a prepared one.
CREATE OR REPLACE FUNCTION wed.how_to_end(_pid integer, _gid text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN _gid IS NULL THEN format('SELECT pg_terminate_backend(%s)', _pid)
    ELSE format('ROLLBACK PREPARED %L', _gid) END
$$;

-- Feeds of events that an open transaction holds back.
CREATE OR REPLACE FUNCTION wed.feed_problems() RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'feeds_held', format('%s%s has written and is open since %s s, and feeds of events of %s wait for it',
    CASE WHEN w.gid IS NULL THEN 'a transaction of session ' || w.pid
      ELSE 'prepared transaction ' || quote_literal(w.gid) || ' of ' || w.role_name END,
    ' of flow ' || f.name, (extract(epoch FROM clock_timestamp() - w.since))::bigint,
    coalesce('tenant ' || t.name, 'all tenants')),
    format('End it: %s.', wed.how_to_end(w.pid, w.gid))
      || CASE WHEN q.transaction_seconds IS NOT NULL
        THEN format(' A host ends sessions of this tenant''s flows after %s s.', q.transaction_seconds) ELSE '' END
  FROM wed.open_writers('1 minute') w LEFT JOIN wed.flow f USING (flow_id) LEFT JOIN wed.tenant t USING (tenant_id)
    LEFT JOIN wed.quota q USING (tenant_id)
$$;

-- Returns what is wrong with the installation, and how to mend it.
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
  SELECT * FROM wed.feed_problems()
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
  WHERE j.put_off IS NOT NULL AND j.not_runnable GROUP BY f.name, t.name, j.put_off
  UNION ALL
  SELECT * FROM wed.session_problems()
  UNION ALL
  SELECT * FROM wed.notification_problems(0.25)
  UNION ALL
  SELECT 'unowned', format('%s jobs are leased to hosts that there are not', count(*)),
    'A host of this version frees them; start one.'
  FROM wed.job j WHERE j.host_id > 0 AND NOT EXISTS (SELECT FROM wed.host h
    WHERE h.host_id = j.host_id) HAVING count(*) > 0
  UNION ALL
  SELECT * FROM wed.failing_problems()
  UNION ALL
  SELECT * FROM wed.postponed_problems()
  UNION ALL
  SELECT * FROM wed.order_problems()
  UNION ALL
  SELECT * FROM wed.people_problems()
  UNION ALL
  SELECT * FROM wed.capacity_problems()
  UNION ALL
  SELECT 'host_old', format('host %s (%s) runs version %s, others run %s', h.host_id, h.name, coalesce(h.version,
    'unknown'), n.newest),
    'Start it anew with the program of the host that started last.'
  FROM wed.host h CROSS JOIN (SELECT version AS newest FROM wed.host ORDER BY started DESC, host_id DESC LIMIT 1) n
  WHERE wed.host_runs(h) AND h.version IS DISTINCT FROM n.newest
$$;

-- Webhooks, transitions and schedules that fail again and again.
CREATE OR REPLACE FUNCTION wed.failing_problems() RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'webhook_failing', format('%s messages to %s of tenant %s were not delivered: %s', count(*),
    wed.masked_url(w.url), t.name,
    max(o.last_error)),
    'Let its receiver answer with 2xx, list its place with `wed serve --allow-http`, or remove it with `wed webhook '
    'delete`.'
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
$$;

-- Sessions that are in the way of others: of old transactions, and with a lock for which results of a flow wait. Those
-- before others that wait for a lock are asked for without any table of ours (lock_holders.sql of the store).
CREATE OR REPLACE FUNCTION wed.session_problems() RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'old_transaction', format('session %s (%s) has had a transaction open for %s s', pid, coalesce(usename,
    '?'), extract(epoch FROM now() - xact_start)::bigint),
    format('End it: SELECT pg_terminate_backend(%s). Old row versions pile up meanwhile.', pid)
  FROM pg_stat_activity WHERE datname = current_database() AND xact_start < now() - interval '10 minutes'
    AND backend_type = 'client backend'
  UNION ALL
  SELECT 'old_transaction', format('prepared transaction %L of %s has been open for %s s', gid, owner,
    extract(epoch FROM now() - prepared)::bigint),
    format('End it as its owner or a superuser, in database %s: %s. Old row versions pile up meanwhile.', database,
      wed.how_to_end(NULL, gid))
  FROM pg_prepared_xacts WHERE prepared < now() - interval '10 minutes'
  UNION ALL
  SELECT DISTINCT 'lock_held',
    format('session %s (%s) has held a lock on flow %s of tenant %s for %s s; results wait for it', a.pid,
      coalesce(a.usename, '?'), f.name, t.name, extract(epoch FROM clock_timestamp() - a.xact_start)::bigint),
    format('Let it commit, or end it: SELECT pg_terminate_backend(%s).', a.pid)
  FROM wed.flow f JOIN wed.tenant t USING (tenant_id) JOIN pg_namespace n ON n.nspname = f.schema_name
    JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'wed_flow'
    JOIN pg_locks l ON l.locktype = 'relation' AND l.relation = c.oid AND l.granted AND l.mode <> 'AccessShareLock'
    JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    -- A commit of a host is over long before.
    AND a.xact_start < clock_timestamp() - interval '1 second'
    AND EXISTS (SELECT FROM wed.job j WHERE j.flow_id = f.flow_id
      AND j.put_off IS NOT NULL AND NOT j.not_runnable)
$$;

-- Returns a problem when the queue of notifications is filled to a part (_from) and more, with the session that is
-- likely to hold it: it ends behind the oldest transaction of a session that listens, which only that session itself
-- can identify.
CREATE OR REPLACE FUNCTION wed.notification_problems(_from double precision)
RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'notifications_held', format('the queue of notifications is filled to %s %%; once it is full, commits fail. '
    'A session that listens and keeps a transaction open holds it; the oldest transaction is that of session %s '
    '(%s, database %s), open for %s s', round((pg_notification_queue_usage() * 100)::numeric), a.pid,
    coalesce(a.usename, '?'), a.datname, extract(epoch FROM clock_timestamp() - a.xact_start)::bigint),
    format('End its transaction there, or with SELECT pg_terminate_backend(%s).', a.pid)
  FROM (SELECT * FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND xact_start IS NOT NULL ORDER BY xact_start, pid LIMIT 1) a
  WHERE pg_notification_queue_usage() >= _from
$$;

-- Counts the pending jobs by what becomes of them, and the age of the oldest that could run.
CREATE OR REPLACE FUNCTION wed.queue() RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object(
    'in_flight', count(*) FILTER (WHERE j.state = 'leased'),
    'ready', count(*) FILTER (WHERE j.state = 'ready' AND j.component_id IS NOT NULL),
    'ready_age_s', coalesce(extract(epoch FROM now() - min(j.due) FILTER (
      WHERE j.state = 'ready' AND j.component_id IS NOT NULL))::bigint, 0),
    'people', count(*) FILTER (WHERE j.state = 'ready' AND j.is_persons),
    'external', count(*) FILTER (WHERE j.state = 'ready' AND j.component_id IS NULL AND j.trname <> '_EXCPT'
      AND NOT j.bound AND NOT j.is_persons),
    'no_component', count(*) FILTER (WHERE j.component_id IS NULL AND j.state <> 'paused' AND j.bound),
    'exceptions', count(*) FILTER (WHERE j.trname = '_EXCPT'),
    'paused', count(*) FILTER (WHERE j.state = 'paused'),
    'later', count(*) FILTER (WHERE j.state IN ('delayed', 'blocked', 'awaiting_siblings')))
  FROM (
    SELECT q.due, q.component_id, q.trname,
      CASE WHEN t.suspended_at IS NOT NULL THEN 'paused' ELSE wed.state_of(q) END AS state,
      q.component_id IS NULL AND EXISTS (
        SELECT FROM wed.binding b WHERE b.flow_id = q.flow_id AND b.trname = q.trname) AS bound,
      q.component_id IS NULL AND EXISTS (SELECT FROM wed.work_task k WHERE k.tgid = q.tgid) AS is_persons
    -- What is left of a tenant that was moved is nobody's work here.
    FROM wed.job q JOIN wed.tenant t USING (tenant_id) WHERE t.moving IS DISTINCT FROM 'left') j
$$;

-- Returns a moment as answers write it: RFC 3339 in UTC, with microseconds and Z.
CREATE OR REPLACE FUNCTION wed.rfc3339(_at timestamptz) RETURNS text
LANGUAGE sql STABLE
RETURN to_char(_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');

-- Takes from PUBLIC, in a database of our own, what Postgres lets everybody do by default and no flow needs: locks by
-- number, which are other flows' too; large objects, which belong to no flow and have no bound; messages into the
-- write-ahead log; the source of functions, which conditions are compiled into. The catalog is a superuser's: another
-- role gets a notice of what it cannot take. Called for a restored database; a new one does the same in its migrations.
CREATE OR REPLACE FUNCTION wed.contain() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $contain$
DECLARE
  _function regprocedure;
BEGIN
  IF EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname !~ '^_sqlx_')
     OR EXISTS (SELECT FROM pg_namespace WHERE nspname NOT IN ('public', 'information_schema')
       AND nspname !~ '^(pg_|wed|wf_)') THEN
    RETURN;
  END IF;
  FOR _function IN
    SELECT oid::regprocedure FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace AND (
      proname ~ '^pg_(try_)?advisory_' OR proname ~ '^lo_|^lowrite$|^loread$'
      OR proname IN ('pg_logical_emit_message', 'pg_get_functiondef', 'pg_get_function_sqlbody'))
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', _function);
  END LOOP;
  -- All columns but those that hold a function's body.
  EXECUTE 'REVOKE SELECT ON pg_proc FROM PUBLIC';
  EXECUTE format('GRANT SELECT (%s) ON pg_proc TO PUBLIC', (
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = 'pg_proc'::regclass AND NOT attisdropped AND attname NOT IN ('prosrc', 'prosqlbody', 'probin')
      AND (attnum > 0 OR attname IN ('tableoid'))));
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'a superuser could take more from PUBLIC in this database; see SECURITY.md';
END $contain$;
