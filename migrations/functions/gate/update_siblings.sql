-- Brings the other jobs of instances up to their newest trace rows. Those that waited for a job to leave the pool try
-- again.
CREATE OR REPLACE FUNCTION wed.update_siblings(_passing wed.passing[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wed.job j SET last_seq = p.seq, version = p.version, satisfied = p.satisfied, beside = p.beside,
    due = CASE WHEN j.awaits_siblings THEN clock_timestamp() ELSE j.due END, awaits_siblings = false
  FROM unnest(_passing) p
  WHERE p.others > 0 AND j.flow_id = p.flow_id AND j.wid = p.wid AND (p.own IS NULL OR j.ctid <> p.own);
  PERFORM pg_notify('wed_jobs', '') WHERE EXISTS (SELECT FROM unnest(_passing) p WHERE p.waiting);
END $$;
