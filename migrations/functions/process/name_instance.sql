-- Names an instance of a process, if it has no name yet, and returns its name; null where the flow is no process.
CREATE OR REPLACE FUNCTION wed.name_instance(_flow_id integer, _wid integer) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM wed.instance_name WHERE flow_id = _flow_id AND wid = _wid) THEN
    PERFORM wed.name_instances(_flow_id, ARRAY[_wid]);
  END IF;
  RETURN (SELECT name FROM wed.instance_name WHERE flow_id = _flow_id AND wid = _wid);
END $$;
