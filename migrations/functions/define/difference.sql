-- Compares two definitions of a flow: each attribute, trigger, transition and setting that differs, as it was and as it
-- becomes; null where there is none.
CREATE OR REPLACE FUNCTION wed.difference(_before jsonb, _after jsonb)
RETURNS TABLE (part text, name text, was jsonb, becomes jsonb)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT part, name, o.value, n.value
  FROM wed.definition_parts(_before) o FULL JOIN wed.definition_parts(_after) n USING (part, name)
  WHERE o.value IS DISTINCT FROM n.value ORDER BY part, name
$$;
