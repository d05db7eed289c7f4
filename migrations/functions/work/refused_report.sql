-- The answer to a report that is not applied, of somebody who does not hold the item or of what changed meanwhile: why,
-- the present version next to the refused one, what to do.
CREATE OR REPLACE FUNCTION wed.refused_report(_item wed.work_item, _person wed.person, _values jsonb, _changed jsonb)
  RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _holder text := (SELECT name FROM wed.person WHERE person_id = _item.holder);
  _state jsonb;
BEGIN
  EXECUTE format('SELECT to_jsonb(w) - ''wid'' FROM %I.wed_flow w WHERE wid = $1',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) INTO _state USING _item.wid;
  PERFORM wed.record_work(_item, _person.name, 'report_refused', '{}', clock_timestamp());
  RETURN CASE WHEN _changed IS NULL THEN '{}' ELSE jsonb_build_object('changed', _changed) END || jsonb_build_object(
    'applied', false, 'item', _item.item_id, 'code', 'WF084', 'holder', _holder, 'state', _item.state,
    'reason', CASE
      WHEN _changed IS NOT NULL THEN format('work item %s (%s) changed while it was worked on: %s', _item.item_id,
        _item.task, (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(_changed) k))
      ELSE format('work item %s (%s) is no longer held by %s under the claim that was reported: %s', _item.item_id,
        _item.task, _person.name, wed.told_state(_item, _holder)) END,
    'hint', CASE
      WHEN _changed IS NOT NULL THEN 'The result is kept. Compare both versions; send yours again to overwrite the '
        'present one, or edit it first.'
      WHEN _item.state = 'WITHDRAWN' THEN 'The result is kept. Nothing is left to report: tell who is in charge, then '
        'forget it.'
      WHEN _item.holder = _person.person_id THEN 'The result is kept. It was reported from another machine, or under '
        'another claim: compare both versions, then send yours again while you hold the item, or forget it.'
      ELSE 'The result is kept. Compare both versions, then hand yours to the present holder, or ask who is in charge '
        'to take the item over and report it.' END,
    'yours', coalesce(_values, '{}'),
    'present', (SELECT coalesce(jsonb_object_agg(k, _state -> k), '{}') FROM unnest(wed.work_outputs(_item)) k
      WHERE _state ? k));
END $$;

-- An item's state in words: who holds it, who ended it and why.
CREATE OR REPLACE FUNCTION wed.told_state(_item wed.work_item, _holder text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN _item.state = 'WITHDRAWN' THEN 'it was withdrawn'
      || coalesce((SELECT ': ' || r.note FROM wed.trace r WHERE r.flow_id = _item.flow_id AND r.wid = _item.wid
                   AND r.tstmp BETWEEN _item.ended_at - interval '1 minute' AND _item.ended_at + interval '1 minute'
                   AND r.note IS NOT NULL ORDER BY r.seq DESC LIMIT 1), '')
    WHEN _item.ended_at IS NOT NULL THEN 'it is ' || _item.state || coalesce(', reported by ' || _holder, '')
    ELSE 'it is ' || _item.state || coalesce(', held by ' || _holder, '') END
$$;

-- Of the attributes that a report sets, those that somebody else changed since the state _base to another value: the
-- former, the present and the reported one of each. Null when there are none, or the state is no longer kept.
CREATE OR REPLACE FUNCTION wed.changed_meanwhile(_item wed.work_item, _base integer, _values jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_object_agg(v.key, jsonb_build_object('was', was.state -> v.name, 'present', now.state -> v.name,
    'yours', v.value))
  FROM (SELECT r.state::jsonb AS state FROM wed.trace r WHERE r.flow_id = _item.flow_id AND r.wid = _item.wid
        AND r.seq = _base) was
  CROSS JOIN (SELECT r.state::jsonb AS state FROM wed.trace r JOIN wed.job j USING (flow_id, wid)
              WHERE j.flow_id = _item.flow_id AND j.wid = _item.wid AND j.tgid = _item.tgid
                AND r.seq = j.last_seq AND j.last_seq > _base) now
  CROSS JOIN LATERAL (
    SELECT e.key, e.value, coalesce((SELECT d ->> 'attribute' FROM jsonb_array_elements(p.plan -> 'data') d
                                     WHERE d ->> 'name' = e.key LIMIT 1), e.key) AS name
    FROM jsonb_each(coalesce(_values, '{}')) e
    LEFT JOIN wed.work_plan p ON p.flow_id = _item.flow_id AND jsonb_typeof(p.plan -> 'data') = 'array') v
  WHERE was.state -> v.name IS DISTINCT FROM now.state -> v.name AND now.state -> v.name IS DISTINCT FROM v.value
    AND was.state ? v.name
$$;
