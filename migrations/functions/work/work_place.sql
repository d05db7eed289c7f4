-- The name of an instance in messages.
CREATE OR REPLACE FUNCTION wed.work_place(_flow_id integer, _wid integer) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce((SELECT name FROM wed.instance_name WHERE flow_id = _flow_id AND wid = _wid),
                  coalesce((SELECT name FROM wed.flow WHERE flow_id = _flow_id), 'a removed flow') || '/' || _wid)
$$;
