-- Makes a flow what a definition says, in the form of wed.definition, and returns what changed. Whoever calls it holds
-- the flow's row. Attributes that the definition does not name are kept: their values would be lost.
CREATE OR REPLACE FUNCTION wed.apply_definition(_flow_id integer, _definition jsonb, _actor text) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _flow wed.flow;
  _before jsonb := wed.definition(_flow_id);
  _after jsonb;
  _applied jsonb := '{}';
BEGIN
  PERFORM wed.refuse_repeated(_definition);
  UPDATE wed.flow SET description = coalesce(_definition ->> 'description', '')
  WHERE flow_id = _flow_id RETURNING * INTO STRICT _flow;
  -- What is generated of a definition is made once, at its end (wed.after_definition).
  PERFORM set_config('wed.definition', 'whole', true);
  _applied := _applied || wed.apply_attributes(_flow, coalesce(_definition -> 'attribute', '[]'));
  -- A binding first, so that triggers find their components.
  _applied := _applied || wed.apply_bindings(_flow, coalesce(_definition -> 'transition', '{}'));
  _applied := _applied || wed.apply_triggers(_flow, coalesce(_definition -> 'trigger', '[]'));
  PERFORM wed.apply_final(_flow, _definition ->> 'final');
  PERFORM wed.order_by_attribute(_flow_id, _definition ->> 'order');
  PERFORM wed.set_numbering(_flow_id, a ->> 'name', a ->> 'number' = 'gapless')
  FROM jsonb_array_elements(coalesce(_definition -> 'attribute', '[]')) a;
  PERFORM set_config('wed.definition', '', true);
  PERFORM wed.update_components(_flow_id);
  PERFORM wed.apply_work(_flow_id, coalesce(_definition -> 'trigger', '[]'));

  _after := wed.definition(_flow_id);
  IF _after <> _before THEN
    PERFORM wed.compile(_flow_id);
  END IF;
  PERFORM wed.keep_version(_flow_id, _actor);
  RETURN _applied || wed.changed_settings(_before, _after) || jsonb_build_object(
    'components_missing', wed.missing_components(_flow_id),
    'warnings', ARRAY(SELECT * FROM wed.binding_faults(_flow_id) UNION ALL SELECT * FROM wed.lint_texts(_flow_id)));
END $$;
