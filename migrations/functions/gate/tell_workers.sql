-- Tells of jobs that were fired and leased to nobody: external workers by the papers' channel, one notification a job;
-- hosts by one for the whole transaction (Postgres drops equal ones). Notifications carry numbers only. A transaction
-- that notifies keeps all others that do waiting while it commits, so a host that leaves jobs to others tells them
-- afterwards (wed.tell_hosts).
CREATE OR REPLACE FUNCTION wed.tell_workers(_passing wed.passing[], _host_id integer, _lease boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM CASE WHEN t.component_id IS NULL THEN pg_notify(t.trname, format('{"wid":%s,"tgid":%s}', p.wid, t.tgid))
               ELSE pg_notify('wed_jobs', '') END
  FROM unnest(_passing) p CROSS JOIN LATERAL unnest(CASE WHEN p.turns THEN p.fire[2:] ELSE p.fire END) x(tgid)
  CROSS JOIN LATERAL (SELECT * FROM wed.trigger WHERE tgid = x.tgid OFFSET 0) t
  WHERE p.forks AND NOT t.constrained
    AND (t.component_id IS NULL OR t.delay > '0' OR _host_id IS NULL AND _lease);
END $$;
