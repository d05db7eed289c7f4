-- An instance's present state, evaluated anew: for a skipped job, an exhausted one, a re-match.
CREATE OR REPLACE FUNCTION wed.as_it_stands(_flow_id integer, _wid integer) RETURNS wed.evaluated[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _shape text;
  _rows wed.evaluated[];
BEGIN
  SELECT shape_schema INTO _shape FROM wed.flow WHERE flow_id = _flow_id;
  EXECUTE format('SELECT %1$I.current_%1$s(ARRAY[$1])', _shape) INTO _rows USING _wid;
  RETURN _rows;
END $$;
