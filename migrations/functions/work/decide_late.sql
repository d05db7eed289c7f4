-- Decides of an item whose deadline has passed: it continues, with another deadline when one is given, or it stops,
-- which is a failure. For who is in charge.
CREATE OR REPLACE FUNCTION wed.decide_late(
  _tenant text, _name text, _item_id bigint, _continue boolean, _extend interval DEFAULT NULL,
  _now timestamptz DEFAULT clock_timestamp()) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id AND tenant_id = _person.tenant_id
    AND ended_at IS NULL;
  IF NOT FOUND OR NOT wed.answers_for(_person.person_id, _item.flow_id, _item.wid) THEN
    PERFORM wed.take_over_work(_tenant, _name, _item_id, _now);
  END IF;
  PERFORM wed.check_span('WF085', 'the time that the deadline is extended by', _extend);
  IF _continue THEN
    UPDATE wed.work_item SET deadline_at = coalesce(_now + _extend, deadline_at),
      warned = CASE WHEN _extend IS NULL THEN warned ELSE '{}' END
    WHERE item_id = _item_id RETURNING * INTO _item;
    PERFORM wed.set_alarm(_item_id, _now);
    PERFORM wed.record_work(_item, _name, 'continued',
      jsonb_build_object('deadline_at', wed.rfc3339(_item.deadline_at)), _now);
    RETURN wed.work_document(_item);
  END IF;
  IF _item.holder IS DISTINCT FROM _person.person_id THEN
    PERFORM wed.hand_over(_item, _person.person_id, _name, 'taken_over', _now);
  END IF;
  RETURN wed.report_work(_tenant, _name, _item_id, false, '{}', 'late-' || _item_id, 'stopped: its deadline passed',
    NULL, _now);
END $$;
