-- Ends a task of a process whose attempts are used up, where a dependence rule names its failure: its state is
-- FAILED, and the process continues. False where none does: then the instance is an exception, and the person in
-- charge decides.
CREATE OR REPLACE FUNCTION wed.fail_task(
  _flow_id integer, _wid integer, _tgid integer, _token bigint, _note text, _host_id integer,
  _fuel bigint, _us bigint, _memory bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _state text;
BEGIN
  SELECT task ->> 'state' INTO _state
  FROM wed.work_plan p CROSS JOIN LATERAL jsonb_array_elements(p.plan -> 'tasks') task
  JOIN wed.trigger t ON t.tgid = _tgid AND t.tgname = task ->> 'trigger'
  WHERE p.flow_id = _flow_id AND task ->> 'type' = 'automatic' AND (task ->> 'failure_expected')::boolean;
  IF _state IS NULL THEN RETURN false; END IF;
  PERFORM wed.write_values(_flow_id, _wid, jsonb_build_object(_state, 'FAILED'));
  -- What is fired is left to any host.
  PERFORM wed.pass_gate(wed.as_it_stands(_flow_id, _wid), wed.result_of(_wid, _tgid, _token, _fuel, _us, _memory),
    _host_id,
                        _note => _note, _lease => false);
  PERFORM pg_notify('wed_jobs', '');
  RETURN true;
END $$;
