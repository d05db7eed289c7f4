-- Refuses a definition with two attributes, or two triggers, of one name: the later one would take the place of the
-- first without a word.
CREATE OR REPLACE FUNCTION wed.refuse_repeated(_definition jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _one record;
BEGIN
  SELECT kind, part ->> 'name' AS name INTO _one
  FROM unnest(ARRAY['attribute', 'trigger']) kind
  CROSS JOIN LATERAL jsonb_array_elements(coalesce(_definition -> kind, '[]')) part
  WHERE part ->> 'name' IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1, 2 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the definition has more than one % "%"', _one.kind, left(_one.name, 80) USING ERRCODE = 'WF013',
      HINT = 'Give each a name of its own.';
  END IF;
END $$;
