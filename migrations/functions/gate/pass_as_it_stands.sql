-- Lets an instance pass the gate with the state that it has: the named job leaves the pool. Its row is locked first.
-- False when there was nothing to do, since the instance is final or the job is gone.
CREATE OR REPLACE FUNCTION wed.pass_as_it_stands(
  _flow_id integer, _wid integer, _tgid integer, _trw text, _forced text, _note text, _host_id integer,
  _fuel bigint DEFAULT NULL, _us bigint DEFAULT NULL, _memory bigint DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _token bigint;
BEGIN
  PERFORM wed.hold_instance(_flow_id, _wid, false);
  SELECT token INTO _token FROM wed.job
  WHERE flow_id = _flow_id AND wid = _wid AND (tgid = _tgid OR _tgid IS NULL) ORDER BY tgid LIMIT 1;
  IF NOT FOUND THEN RETURN false; END IF;
  IF _trw = '_ABORT' AND wed.fail_task(_flow_id, _wid, _tgid, _token, _forced, _host_id, _fuel, _us, _memory) THEN
    RETURN true;
  END IF;
  PERFORM wed.pass_gate(wed.as_it_stands(_flow_id, _wid), wed.result_of(_wid, _tgid, _token, _fuel, _us, _memory),
    _host_id,
                        _trw, _forced, _note);
  RETURN true;
END $$;
