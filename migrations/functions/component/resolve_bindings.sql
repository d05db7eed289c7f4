-- Resolves the components of a flow's triggers and pending jobs anew, and makes a new version of the flow.
CREATE OR REPLACE FUNCTION wed.resolve_bindings(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed.update_components(_flow_id);
  PERFORM wed.compile(_flow_id);
END $$;
