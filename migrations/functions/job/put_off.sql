-- Gives jobs back unrun, for a while, and says for what they wait; no attempt is counted. Waits for nobody: a job whose
-- row is held stays the host's, which finds it again.
CREATE OR REPLACE FUNCTION wed.put_off(_host_id integer, _tokens bigint[], _reason text, _pause interval) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.job j SET host_id = NULL, token = 0, attempt = j.attempt - 1, due = clock_timestamp() + _pause,
    put_off = left(_reason, 1000)
  FROM (SELECT ctid AS at FROM wed.job WHERE host_id = _host_id AND token = ANY (_tokens) FOR UPDATE SKIP LOCKED) l
  WHERE j.ctid = l.at;
END $$;
