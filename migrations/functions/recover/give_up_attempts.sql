-- Takes an instance's jobs out of the hosts' hands. What the hosts make of them is refused; the attempts do not count.
CREATE OR REPLACE FUNCTION wed.give_up_attempts(_flow_id integer, _wid integer) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = greatest(attempt - 1, 0), put_off = NULL
  WHERE flow_id = _flow_id AND wid = _wid AND host_id IS NOT NULL
$$;
