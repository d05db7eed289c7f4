-- Lets pending jobs of a flow wait again whose order was added meanwhile, of one instance or (null) of all; those
-- that somebody works on are left.
CREATE OR REPLACE FUNCTION wed.delay_jobs(_flow_id integer, _wid integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH b AS MATERIALIZED (
    SELECT j.ctid AS at, j.wid, j.tgid FROM wed.job j
    WHERE j.flow_id = _flow_id AND (_wid IS NULL OR j.wid = _wid) AND j.host_id IS NULL AND j.blocked IS NULL
      AND EXISTS (SELECT FROM wed.precedence p WHERE p.tgid = j.tgid AND (p.wid IS NULL OR p.wid = j.wid))
      AND NOT wed.is_in_order(_flow_id, j.wid, j.tgid) AND NOT wed.is_held(_flow_id, j.wid, j.tgid) FOR UPDATE OF j
          SKIP LOCKED
  ), l AS MATERIALIZED (
    SELECT b.at, pg_try_advisory_xact_lock(b.wid, b.tgid) AS ours FROM b)
  UPDATE wed.job j SET blocked = 'p', due = 'infinity' FROM l WHERE l.ours AND j.ctid = l.at;
END $$;
