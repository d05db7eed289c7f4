-- Gives the triggers of a flow, and their jobs that no host has, the components that are bound now.
CREATE OR REPLACE FUNCTION wed.update_components(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.trigger SET component_id = wed.bound_component(flow_id, trname)
  WHERE flow_id = _flow_id AND component_id IS DISTINCT FROM wed.bound_component(flow_id, trname);
  UPDATE wed.job j SET component_id = t.component_id FROM wed.trigger t
  WHERE t.flow_id = _flow_id AND j.flow_id = _flow_id AND j.tgid = t.tgid AND j.host_id IS NULL
    AND j.component_id IS DISTINCT FROM t.component_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;
