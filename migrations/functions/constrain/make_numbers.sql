-- Makes the next 256 free numbers of a series without gaps.
CREATE OR REPLACE FUNCTION wed.make_numbers(_flow_id integer, _attribute text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH m AS (
    UPDATE wed.numbering SET made_to = made_to + 256 WHERE flow_id = _flow_id
        AND attribute = _attribute RETURNING made_to)
  INSERT INTO wed.free_number (flow_id, attribute, number)
  SELECT _flow_id, _attribute, n FROM m CROSS JOIN LATERAL generate_series(m.made_to - 255, m.made_to) n
$$;
