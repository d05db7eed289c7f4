-- Gives jobs back unrun, to be claimed after a pause: somebody has locked what they would commit to.
CREATE OR REPLACE FUNCTION wed.put_off(_host_id integer, _tokens bigint[], _pause interval) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1, due = now() + _pause,
    waits_for = 'a lock on the table of its flow'
  WHERE host_id = _host_id AND token = ANY (_tokens);
END $$;
