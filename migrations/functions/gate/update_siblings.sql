-- Brings the other jobs of instances up to their newest trace rows. Those that waited for a job to leave the pool try
-- again; those whose condition does not hold in the new state, and that nobody has, are listed as stale (wed.do_stale).
CREATE OR REPLACE FUNCTION wed.update_siblings(_passing wed.passing[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH updated AS (
    UPDATE wed.job j SET last_seq = p.seq, version = p.version, satisfied = p.satisfied, beside = p.beside,
      due = CASE WHEN j.awaits_siblings THEN clock_timestamp() ELSE j.due END, awaits_siblings = false
    FROM unnest(_passing) p
    WHERE p.others > 0 AND j.flow_id = p.flow_id AND j.wid = p.wid AND (p.own IS NULL OR j.ctid <> p.own)
    RETURNING j.flow_id, j.wid, j.tgid, j.trname, j.satisfied, j.host_id)
  INSERT INTO wed.stale (flow_id, wid, tgid)
  SELECT u.flow_id, u.wid, u.tgid FROM updated u
  CROSS JOIN LATERAL (SELECT recheck FROM wed.trigger WHERE tgid = u.tgid OFFSET 0) t
  WHERE t.recheck AND u.trname <> '_EXCPT' AND u.host_id IS NULL AND u.satisfied <> '{-1}'
    AND NOT EXISTS (SELECT FROM unnest(u.satisfied) x WHERE (x & 4294967295) = u.tgid)
  ON CONFLICT DO NOTHING;
  PERFORM pg_notify('wed_jobs', '') WHERE EXISTS (SELECT FROM unnest(_passing) p WHERE p.waiting);
END $$;
