-- What the template match holds of a flow: its conditions, by group, and how a state is written.
CREATE OR REPLACE FUNCTION wed.match_values(_flow wed.flow) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  _state text := wed.state_as_text(_flow.shape_schema, NULL);
  _sent text := wed.state_as_text(_flow.shape_schema, wed.declared(_flow.flow_id, 'reads'));
  _fired text;
  _final text;
  _grouped boolean;
BEGIN
  SELECT coalesce(bool_or(condition_group > 0), false) INTO _grouped FROM wed.trigger WHERE flow_id = _flow.flow_id
    AND enabled;
  SELECT string_agg(CASE WHEN g = 0 THEN c
                         ELSE format('CASE WHEN %s = ANY (_kept) THEN ''{}''::bigint[] ELSE %s END', g, c) END,
                    E'\n    || ' ORDER BY g)
  INTO _fired
  FROM (SELECT t.condition_group AS g, format('array_remove(ARRAY[%s]::bigint[], NULL)',
               string_agg(wed.fired_expression(t, c), E',\n      ' ORDER BY t.tgid)) AS c
        FROM wed.trigger t LEFT JOIN wed.trigger_constraint c USING (tgid)
        WHERE t.flow_id = _flow.flow_id AND t.enabled AND NOT t.cfinal AND t.predicate IS NOT NULL
        GROUP BY t.condition_group) g;
  SELECT string_agg(format('coalesce(%s, false)', guarded), ' OR ') INTO _final
  FROM wed.trigger WHERE flow_id = _flow.flow_id AND enabled AND cfinal AND predicate IS NOT NULL;
  RETURN jsonb_build_object('state', _state, 'payload', CASE WHEN _sent = _state THEN 'NULL::text' ELSE _sent END,
    'fired', coalesce(_fired, '''{}''::bigint[]'), 'final', coalesce(_final, 'false'),
    'kept', CASE WHEN _grouped THEN 'coalesce(_kept, ''{}'')' ELSE 'NULL::integer[]' END);
END $$;
