-- Looks at the jobs that would be claimed next whose state has changed since they were fired, or whose condition
-- depends on the time. Those whose condition no longer holds are skipped; those that cannot be looked at now, since
-- another session holds their instance, are put off by a second. Returns whether any was removed.
CREATE OR REPLACE FUNCTION wed.remove_stale(_rooms wed.room[], _share integer, _left integer, _now timestamptz)
  RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _job record;
  _removed boolean := false;
BEGIN
  FOR _job IN
    SELECT j.flow_id, j.wid, j.tgid FROM unnest(_rooms) n
    CROSS JOIN LATERAL (
      SELECT q.flow_id, q.wid, q.tgid, q.last_seq > q.seq AS changed FROM wed.job q
      WHERE q.host_id IS NULL AND q.component_id IS NOT NULL AND q.tenant_id = n.tenant_id AND q.due <= _now
      ORDER BY q.priority DESC, q.due, q.flow_id LIMIT least(_share, n.jobs)) j
    CROSS JOIN LATERAL (SELECT timely FROM wed.trigger WHERE tgid = j.tgid OFFSET 0) t
    WHERE j.changed OR t.timely LIMIT _left
  LOOP
    CONTINUE WHEN wed.condition_holds(_job.flow_id, _job.wid, _job.tgid);
    _removed := true;
    IF NOT pg_try_advisory_xact_lock(_job.wid, _job.tgid) OR NOT wed.skip_stale_job(_job.flow_id, _job.wid, _job.tgid)
      THEN
      UPDATE wed.job j SET due = _now + interval '1 second',
        put_off = 'a lock that another session holds on its instance'
      FROM (SELECT ctid FROM wed.job WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid
            FOR UPDATE SKIP LOCKED) q WHERE j.ctid = q.ctid;
    END IF;
  END LOOP;
  RETURN _removed;
END $$;
