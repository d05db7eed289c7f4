-- Keeps free numbers of series without gaps in stock, so that who takes one makes none.
CREATE OR REPLACE FUNCTION wed.keep_numbers() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _one record;
  _made bigint := 0;
BEGIN
  FOR _one IN SELECT n.flow_id, n.attribute FROM wed.numbering n
              WHERE n.gapless AND n.made_to < 2000000000000000000
                AND (SELECT count(*) FROM (SELECT FROM wed.free_number f WHERE f.flow_id = n.flow_id
                                                         AND f.attribute = n.attribute LIMIT 128) f) < 128
              ORDER BY 1, 2 LIMIT 100 FOR UPDATE SKIP LOCKED LOOP
    PERFORM wed.make_numbers(_one.flow_id, _one.attribute);
    _made := _made + 1;
  END LOOP;
  RETURN _made;
END $$;
