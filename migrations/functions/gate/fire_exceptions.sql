-- Fires the job of instances that become exceptions: it is served like a transition, by whoever is bound to _EXCPT.
CREATE OR REPLACE FUNCTION wed.fire_exceptions(_passing wed.passing[], _now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _job record;
BEGIN
  FOR _job IN
    INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at,
                         component_id, version, satisfied, beside)
    SELECT p.flow_id, t.tenant_id, p.wid, t.tgid, t.trname, t.timeout, p.seq, p.seq, t.priority, _now, _now,
           t.component_id, p.version, p.satisfied, p.beside
    FROM unnest(_passing) p JOIN wed.flow f ON f.flow_id = p.flow_id JOIN wed.trigger t ON t.tgid = f.excpt_tgid
    WHERE p.excepts
    RETURNING trname, wid, tgid, component_id
  LOOP
    PERFORM CASE WHEN _job.component_id IS NULL
      THEN pg_notify(_job.trname, format('{"wid":%s,"tgid":%s}', _job.wid, _job.tgid))
                 ELSE pg_notify('wed_jobs', '') END;
  END LOOP;
END $$;
