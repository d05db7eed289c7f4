-- Changes how an instance of a tenant notifies people, for who answers for it (see wed.set_notification).
CREATE OR REPLACE FUNCTION wed.change_notification(
  _tenant text, _name text, _flow text, _wid integer, _policy integer, _count integer, _renotify interval,
    _warnings integer[],
  _transfer integer, _now timestamptz DEFAULT clock_timestamp()) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _of wed.work_instance;
BEGIN
  SELECT w.* INTO _of FROM wed.flow f JOIN wed.work_instance w USING (flow_id)
  WHERE f.tenant_id = _person.tenant_id AND f.name = _flow AND w.wid = _wid;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no people work at instance % of "%"', _wid, left(_flow, 80) USING ERRCODE = 'WF080',
      HINT = 'List your items: `wed work list`.';
  ELSIF NOT wed.answers_for(_person.person_id, _of.flow_id, _wid) THEN
    RAISE EXCEPTION '"%" may not change how instance % notifies people', _name, _wid USING ERRCODE = 'WF083',
      HINT = 'The person in charge of the instance and administrators may.';
  END IF;
  PERFORM wed.set_notification(_of.flow_id, _wid, _policy, _count, _renotify, _warnings, _transfer, _now);
  SELECT * INTO _of FROM wed.work_instance WHERE flow_id = _of.flow_id AND wid = _wid;
  RETURN jsonb_build_object('policy', _of.policy, 'count', _of.policy_count, 'renotify_seconds',
    extract(epoch FROM _of.renotify),
                            'warnings', _of.warnings, 'transfer', _of.transfer);
END $$;
