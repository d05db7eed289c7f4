-- Jobs whose locks external workers hold that have held one for longer than its timeout: one overrun ends a worker, so
-- it counts for all its jobs.
CREATE OR REPLACE FUNCTION wed.late_workers()
RETURNS TABLE (pid integer, usename name, flow_id integer, wid integer, tgid integer, due timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT h.pid, h.usename, h.flow_id, h.wid, h.tgid, h.due
  FROM (
    SELECT l.pid, a.usename, j.flow_id, j.wid, j.tgid, j.due,
           bool_or(coalesce(a.xact_start, a.state_change) < clock_timestamp() - j.timeout) OVER (PARTITION BY l.pid)
             AS late
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    JOIN wed.job j ON j.wid = l.classid::bigint AND j.tgid = l.objid::bigint
    -- Numbers of locks are everybody's: only sessions of the flow's own role are its workers.
    JOIN wed.flow f ON f.flow_id = j.flow_id AND f.role_name = a.usename
    WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND j.host_id IS NULL
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND a.pid <> pg_backend_pid()) h
  WHERE h.late
$$;
