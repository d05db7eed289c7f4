-- The session that holds the lock for which one of some sessions ($1) waits longest, in the columns of
-- lock_holders.sql. Reads the server's own tables alone.
SELECT blocker AS pid, p.gid, coalesce(b.usename, p.owner, '?')::text AS user_name, coalesce(b.application_name, '') AS application,
  coalesce((SELECT format('%s.%s', n.nspname, c.relname)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = l.relation),
           'a row or a transaction') AS of_what,
  1::bigint AS sessions,
  extract(epoch FROM clock_timestamp() - coalesce(l.waitstart, a.query_start))::float8 AS seconds
FROM pg_stat_activity a
  JOIN pg_locks l ON l.pid = a.pid AND NOT l.granted
  CROSS JOIN LATERAL unnest(pg_blocking_pids(a.pid)) AS blocker
  LEFT JOIN pg_stat_activity b ON b.pid = blocker
  LEFT JOIN LATERAL (
    SELECT x.gid, x.owner FROM pg_locks h
      JOIN pg_locks own ON own.pid IS NULL AND own.virtualtransaction = h.virtualtransaction
        AND own.locktype = 'transactionid' AND own.granted
      JOIN pg_prepared_xacts x ON x.transaction = own.transactionid
    WHERE blocker = 0 AND h.pid IS NULL AND h.granted AND h.locktype = l.locktype
      AND (h.database, h.relation, h.page, h.tuple, h.transactionid, h.classid, h.objid)
        IS NOT DISTINCT FROM (l.database, l.relation, l.page, l.tuple, l.transactionid, l.classid, l.objid)
    LIMIT 1) p ON true
WHERE a.pid = ANY ($1) AND a.datname = current_database()
ORDER BY seconds DESC, blocker LIMIT 1
