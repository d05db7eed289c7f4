-- The answer to a report of somebody who does not hold the item: why, the present version next to the refused one,
-- what to do.
CREATE OR REPLACE FUNCTION wed.refused_report(_item wed.work_item, _person wed.person, _values jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _holder text := (SELECT name FROM wed.person WHERE person_id = _item.holder);
  _state jsonb;
BEGIN
  EXECUTE format('SELECT to_jsonb(w) - ''wid'' FROM %I.wed_flow w WHERE wid = $1',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) INTO _state USING _item.wid;
  PERFORM wed.record_work(_item, _person.name, 'report_refused', '{}', clock_timestamp());
  RETURN jsonb_build_object('applied', false, 'item', _item.item_id, 'code', 'WF084', 'holder', _holder, 'state',
    _item.state,
    'reason', format('work item %s (%s) is no longer held by %s under the claim that was reported: it is %s%s',
      _item.item_id,
      _item.task, _person.name, _item.state, coalesce(', held by ' || _holder, '')),
    'hint',
      'The result is kept. Compare both versions, then hand yours to the present holder, or ask who is in charge to '
      'take the item over and report it.',
    'yours', coalesce(_values, '{}'),
    'present', (SELECT coalesce(jsonb_object_agg(k, _state -> k), '{}') FROM unnest(wed.work_outputs(_item)) k
      WHERE _state ? k));
END $$;
