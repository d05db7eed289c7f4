-- Decides what becomes of an instance that is an exception, for who is in charge of it: 'retry' fires again what its
-- state satisfies, 'set' sets attributes, 'cancel' ends it. Returns the instance's status.
CREATE OR REPLACE FUNCTION wed.decide_exception(
  _tenant text, _name text, _flow text, _wid integer, _decision text, _values jsonb, _reason text,
  _now timestamptz DEFAULT clock_timestamp()) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _flow_id integer := (SELECT flow_id FROM wed.flow WHERE tenant_id = _person.tenant_id AND name = _flow);
  _actor text := 'person:' || _name;
  _status "char" := (SELECT status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid AND people);
BEGIN
  IF _status IS NULL OR NOT wed.answers_for(_person.person_id, _flow_id, _wid) THEN
    RAISE EXCEPTION '"%" does not answer for an instance % of "%"', _name, _wid, left(_flow, 80)
      USING ERRCODE = 'WF083', HINT = 'The person in charge of an instance and administrators decide on it.';
  ELSIF _status <> 'E' THEN
    RAISE EXCEPTION 'instance % of "%" is no exception', _wid, left(_flow, 80) USING ERRCODE = 'WF082',
      HINT = 'There is nothing to decide: look at its items, `wed work list`.';
  END IF;
  CASE _decision
    WHEN 'retry' THEN PERFORM wed.retry_instance(_flow_id, _wid, _actor, _reason);
    WHEN 'set' THEN PERFORM wed.set_state(_flow_id, _wid, coalesce(_values, '{}'), _actor, _reason);
    WHEN 'cancel' THEN PERFORM wed.cancel_instance(_flow_id, _wid, _actor, _reason);
    ELSE
      RAISE EXCEPTION 'there is no decision "%"', left(_decision, 80) USING ERRCODE = 'WF085',
        HINT = 'Decide retry, set or cancel.';
  END CASE;
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN jsonb_build_object('flow', _flow, 'wid', _wid, 'status',
    (SELECT status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid));
END $$;
