-- Takes an instance's jobs out of the hosts' hands. What the hosts make of them is refused; the attempts do not count,
-- and are on record with who took them away and why: what they did outside may have happened.
CREATE OR REPLACE FUNCTION wed.give_up_attempts(_flow_id integer, _wid integer, _why text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  SELECT flow_id, wid, tgid, trname, attempt, 'given_up', _why, session_user FROM wed.job
  WHERE flow_id = _flow_id AND wid = _wid AND host_id IS NOT NULL;
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = greatest(attempt - 1, 0), put_off = NULL
  WHERE flow_id = _flow_id AND wid = _wid AND host_id IS NOT NULL
$$;
