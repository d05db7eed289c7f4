-- Gives back every job of a host that leaves, and removes it. Its row first: what it claims just now is given back too.
CREATE OR REPLACE FUNCTION wed.leave_host(_host_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM wed.host WHERE host_id = _host_id FOR UPDATE;
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1, put_off = NULL
  WHERE host_id = _host_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  DELETE FROM wed.host WHERE host_id = _host_id;
END $$;
