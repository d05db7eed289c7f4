-- Starts an instance in a person's name: with a person in charge, a notification policy, warnings before deadlines
-- (hours) and the one at which items pass to the person in charge. Only people of the flow's creator role may.
-- Returns its wid.
CREATE OR REPLACE FUNCTION wed.start_process(
  _tenant text, _flow text, _creator text, _in_charge text, _values jsonb DEFAULT '{}', _policy integer DEFAULT 1,
  _count integer DEFAULT 1, _warnings integer[] DEFAULT '{}', _transfer integer DEFAULT NULL,
  _now timestamptz DEFAULT clock_timestamp()) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _creator, _now);
  _charge wed.person := wed.person_of(_tenant, coalesce(_in_charge, _creator));
  _of wed.flow;
  _plan wed.work_plan;
  _wid integer;
BEGIN
  SELECT * INTO _of FROM wed.flow WHERE tenant_id = _person.tenant_id AND name = _flow;
  SELECT * INTO _plan FROM wed.work_plan WHERE flow_id = _of.flow_id;
  IF _plan.flow_id IS NULL THEN
    RAISE EXCEPTION 'there is no process "%"', left(_flow, 80) USING ERRCODE = 'WF080',
      HINT = 'A process is a flow with people''s work; list them: `wed flow list`.';
  ELSIF _plan.creator_role IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.membership WHERE person_id = _person.person_id AND role_id = _plan.creator_role) THEN
    RAISE EXCEPTION '"%" may not start "%": people of the role "%" may', _creator, _flow,
        (SELECT name FROM wed.role_of_people WHERE role_id = _plan.creator_role) USING ERRCODE = 'WF083',
      HINT = 'Ask an administrator for the role.';
  END IF;
  PERFORM wed.refuse_values(_of, _values);
  _wid := wed.insert_values(_of.schema_name, _values);
  INSERT INTO wed.work_instance (flow_id, wid, tenant_id) VALUES (_of.flow_id, _wid,
    _of.tenant_id) ON CONFLICT DO NOTHING;
  UPDATE wed.work_instance SET creator = _creator, in_charge = _charge.person_id WHERE flow_id = _of.flow_id
    AND wid = _wid;
  UPDATE wed.instance SET people = true WHERE flow_id = _of.flow_id AND wid = _wid;
  PERFORM wed.set_notification(_of.flow_id, _wid, _policy, _count, NULL, _warnings, _transfer, _now);
  PERFORM wed.send_message(ARRAY[_charge.person_id], 'process_started', wed.work_place(_of.flow_id, _wid),
    format('The process was started by %s.', _creator), NULL, _now);
  PERFORM wed.note_flow('person:' || _creator, _of.flow_id, 'instance.start', _wid::text, '{}');
  RETURN _wid;
END $$;
