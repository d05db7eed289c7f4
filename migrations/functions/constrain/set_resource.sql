-- Sets the stock of a key: as the flow's own role would by wed_resource, for the server's interfaces.
CREATE OR REPLACE FUNCTION wed.set_resource(
  _flow_id integer, _resource text, _key text, _capacity numeric, _minimum numeric, _actor text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _found integer;
BEGIN
  EXECUTE format('UPDATE %I.wed_resource SET capacity = $3, minimum = $4
                  WHERE resource IS NOT DISTINCT FROM $1 AND key = $2', _schema)
    USING _resource, _key, _capacity, _minimum;
  GET DIAGNOSTICS _found = ROW_COUNT;
  IF _found = 0 THEN
    EXECUTE format('INSERT INTO %I.wed_resource (resource, key, capacity, minimum) VALUES ($1, $2, $3, $4)', _schema)
      USING _resource, _key, _capacity, _minimum;
  END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'resource.set', left(_key, 80),
    jsonb_build_object('resource', _resource, 'capacity', _capacity, 'minimum', _minimum));
END $$;
