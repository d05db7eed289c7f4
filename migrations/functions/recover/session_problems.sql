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
      AND j.put_off IS NOT NULL AND j.put_off NOT LIKE 'it cannot run: %')
$$;
