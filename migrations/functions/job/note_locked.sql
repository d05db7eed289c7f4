-- Says of jobs that a host holds that their results wait for a lock of another session (job_pool's waits_for). They
-- stay leased; whoever commits them or gives them back takes it off. Waits for nobody: a job whose row is held is left
-- out.
CREATE OR REPLACE FUNCTION wed.note_locked(
  _host_id integer, _flow_ids integer[], _wids integer[], _tokens bigint[], _reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.job j SET put_off = _reason
  FROM (SELECT q.ctid AS at FROM unnest(_flow_ids, _wids, _tokens) n(flow_id, wid, token)
        JOIN wed.job q ON q.flow_id = n.flow_id AND q.wid = n.wid AND q.token = n.token
        WHERE q.host_id = _host_id AND q.put_off IS NULL FOR UPDATE OF q SKIP LOCKED) l
  WHERE j.ctid = l.at;
END $$;
