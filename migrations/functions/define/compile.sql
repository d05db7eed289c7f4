-- Makes the functions of a flow anew that are its own part of the gate (templates), and raises its version. Aliases in
-- them begin with an underscore, which no attribute does. Their names hold their schema's: Postgres goes through all
-- functions of one name to find one, whatever schema is named.
CREATE OR REPLACE FUNCTION wed.compile(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
  SET quote_all_identifiers = off AS $$
DECLARE
  _flow wed.flow;
  _values jsonb;
  _name text;
BEGIN
  UPDATE wed.flow f SET version = version + 1 WHERE f.flow_id = _flow_id RETURNING * INTO _flow;
  PERFORM wed.bound_conditions(_flow);
  PERFORM wed.mark_constrained(_flow_id);
  PERFORM wed.compile_keys(_flow);
  PERFORM wed.compile_clock(_flow);
  PERFORM wed.group_conditions(_flow_id);
  _values := jsonb_build_object('flow_id', _flow_id, 'version', _flow.version, 'attributes_version',
    _flow.attributes_version,
      'schema', quote_ident(_flow.schema_name), 'shape', quote_ident(_flow.shape_schema))
    || wed.match_values(_flow) || wed.apply_values(_flow) || wed.gate_values(_flow);
  FOREACH _name IN ARRAY ARRAY['match', 'apply', 'gate_insert', 'gate_update'] LOOP
    EXECUTE wed.fill_template(_name, _values);
  END LOOP;
  PERFORM wed.pin_settings(format('%I.%I()', _flow.shape_schema, f)::regprocedure, true)
  FROM unnest(ARRAY['gate_insert', 'gate_update']) f;
END $$;
