-- Makes, or makes anew after an update of the server, what a flow has of functions, views and triggers of its own. Only
-- roles that are named may call them.
CREATE OR REPLACE FUNCTION wed.install_flow(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
  _flow wed.flow;
  _names jsonb;
  _template text;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  _names := wed.flow_names(_flow);
  FOREACH _template IN ARRAY ARRAY['views', 'evaluate', 'current', 'functions'] LOOP
    EXECUTE wed.fill_template(_template, _names);
  END LOOP;
  PERFORM wed.own_views(_flow);
  PERFORM wed.pin_settings(format('%1$I.current_%1$s(integer[])', _flow.shape_schema)::regprocedure, true);
  PERFORM wed.pin_settings(format('%I.pg_try_advisory_xact_lock(integer, integer)', _flow.schema_name)::regprocedure,
    true);
  PERFORM wed.pin_settings(format('%I.wed_rematch(boolean, integer)', _flow.schema_name)::regprocedure, true);
  PERFORM wed.install_constraints(_flow_id);
  PERFORM wed.install_operations(_flow_id);
  PERFORM wed.install_versions(_flow_id);
  PERFORM wed.pin_settings(format('%I.wed_roll_back(integer, boolean)', _flow.schema_name)::regprocedure, true);
  PERFORM wed.compile(_flow_id);
  EXECUTE wed.fill_template('gate_triggers', _names);
  PERFORM wed.own_functions(_flow);
END $$;
