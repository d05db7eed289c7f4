-- Reserves the next item of a task in an instance for the holder of another item there: both are taken away
-- together. When its job is fired it is locked for that person at once.
CREATE OR REPLACE FUNCTION wed.reserve_work(_tenant text, _name text, _item_id bigint, _task text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _item wed.work_item := wed.see_work(_person, _item_id, clock_timestamp());
  _next wed.work_task;
  _other text;
BEGIN
  IF _item.holder IS DISTINCT FROM _person.person_id OR _item.state <> 'LOCKED' THEN
    PERFORM wed.refuse_holder(_person, _item_id);
  END IF;
  SELECT * INTO _next FROM wed.work_task WHERE flow_id = _item.flow_id AND task = _task;
  IF NOT FOUND OR NOT _next.disconnected OR _next.role_id IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.membership WHERE person_id = _person.person_id AND role_id = _next.role_id) THEN
    RAISE EXCEPTION 'task "%" cannot be taken away together with work item %', left(_task, 80), _item_id
      USING ERRCODE = 'WF083',
      HINT = 'It must be a task of the same flow that allows disconnected work, of a role of yours.';
  END IF;
  INSERT INTO wed.work_reservation (flow_id, wid, tgid, person_id) VALUES (_item.flow_id, _item.wid, _next.tgid,
    _person.person_id)
  ON CONFLICT DO NOTHING;
  SELECT p.name INTO _other FROM wed.work_reservation r JOIN wed.person p USING (person_id)
  WHERE r.flow_id = _item.flow_id AND r.wid = _item.wid AND r.tgid = _next.tgid;
  IF _other <> _name THEN
    RAISE EXCEPTION 'the next "%" of instance % is reserved by %', _task, _item.wid, _other USING ERRCODE = 'WF081',
      HINT = 'Ask that person, or do yours while connected.';
  END IF;
  PERFORM wed.record_work(_item, _name, 'reserved', jsonb_build_object('task', _task), clock_timestamp());
END $$;
