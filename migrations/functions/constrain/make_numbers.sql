-- Makes the next 256 free numbers of a series without gaps. Looks at no table of a tenant, since the sweep calls it.
CREATE OR REPLACE FUNCTION wed.make_numbers(_flow_id integer, _attribute text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH m AS (
    UPDATE wed.numbering SET made_to = made_to + 256 WHERE flow_id = _flow_id
        AND attribute = _attribute RETURNING made_to)
  INSERT INTO wed.free_number (flow_id, attribute, number)
  SELECT _flow_id, _attribute, n FROM m CROSS JOIN LATERAL generate_series(m.made_to - 255, m.made_to) n
$$;

-- Removes the numbers from a series' free ones that instances have, from a time when they could be given by hand; the
-- series then begins behind the greatest of them, where that is not too far.
CREATE OR REPLACE FUNCTION wed.forget_numbers(_flow wed.flow, _attribute text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _missing bigint;
BEGIN
  EXECUTE format('SELECT max(w.%I) - n.made_to FROM %I.wed_flow w, wed.numbering n
                  WHERE n.flow_id = $1 AND n.attribute = $2 AND w.%1$I < 1000000000000000000 GROUP BY n.made_to',
    _attribute, _flow.schema_name) INTO _missing USING _flow.flow_id, _attribute;
  IF _missing > 65536 THEN
    UPDATE wed.numbering SET made_to = made_to + _missing WHERE flow_id = _flow.flow_id AND attribute = _attribute;
  ELSE
    PERFORM wed.make_numbers(_flow.flow_id, _attribute) FROM generate_series(1, _missing, 256);
  END IF;
  EXECUTE format('DELETE FROM wed.free_number f WHERE f.flow_id = $1 AND f.attribute = $2
                    AND EXISTS (SELECT FROM %I.wed_flow w WHERE w.%I = f.number)', _flow.schema_name, _attribute)
    USING _flow.flow_id, _attribute;
END $$;
