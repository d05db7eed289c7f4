-- Sessions and prepared transactions (gid) that others wait for, each with what the first of those waits for, and
-- sessions that have locked a table of ours for a while. Of a queue of sessions that wait for one another it is the one
-- at the head. Reads the server's own tables alone: no lock of ours is in its way.
WITH waiting AS (
  SELECT a.pid, blocker, p.gid, p.owner, coalesce(l.waitstart, a.query_start) AS since,
    coalesce((SELECT format('%s.%s', n.nspname, c.relname)
              FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = l.relation),
             'a row or a transaction') AS of_what
  FROM pg_stat_activity a
    JOIN pg_locks l ON l.pid = a.pid AND NOT l.granted
    CROSS JOIN LATERAL unnest(pg_blocking_pids(a.pid)) AS blocker
    -- A prepared transaction has no session: it blocks as 0, and holds a lock of its own number.
    LEFT JOIN LATERAL (
      SELECT x.gid, x.owner FROM pg_locks h
        JOIN pg_locks own ON own.pid IS NULL AND own.virtualtransaction = h.virtualtransaction
          AND own.locktype = 'transactionid' AND own.granted
        JOIN pg_prepared_xacts x ON x.transaction = own.transactionid
      WHERE blocker = 0 AND h.pid IS NULL AND h.granted AND h.locktype = l.locktype
        AND (h.database, h.relation, h.page, h.tuple, h.transactionid, h.classid, h.objid)
          IS NOT DISTINCT FROM (l.database, l.relation, l.page, l.tuple, l.transactionid, l.classid, l.objid)
      LIMIT 1) p ON true
  WHERE a.datname = current_database() AND a.wait_event_type = 'Lock' AND a.pid <> pg_backend_pid()
), heads AS (
  SELECT blocker, gid, owner, (array_agg(of_what ORDER BY since))[1] AS of_what, count(DISTINCT pid) AS sessions,
    extract(epoch FROM clock_timestamp() - min(since))::float8 AS seconds
  FROM waiting w WHERE NOT EXISTS (SELECT FROM waiting other WHERE other.pid = w.blocker)
  GROUP BY blocker, gid, owner
), lockers AS (
  SELECT l.pid AS blocker, NULL::text AS gid, NULL::name AS owner, min(format('wed.%s', c.relname)) AS of_what, 0::bigint AS sessions,
    extract(epoch FROM clock_timestamp() - min(a.xact_start))::float8 AS seconds
  FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.granted AND l.locktype = 'relation' AND a.datname = current_database() AND l.pid <> pg_backend_pid()
    AND l.mode IN ('ExclusiveLock', 'AccessExclusiveLock') AND c.relnamespace = to_regnamespace('wed')
    AND a.xact_start < clock_timestamp() - interval '1 second'
    AND NOT EXISTS (SELECT FROM heads h WHERE h.blocker = l.pid)
  GROUP BY l.pid
)
SELECT h.blocker AS pid, h.gid, coalesce(a.usename, h.owner, '?')::text AS user_name, coalesce(a.application_name, '') AS application,
  h.of_what, h.sessions, greatest(h.seconds, 0) AS seconds
FROM (TABLE heads UNION ALL TABLE lockers) h LEFT JOIN pg_stat_activity a ON a.pid = h.blocker
ORDER BY h.seconds DESC LIMIT 20
