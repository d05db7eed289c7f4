-- Lists the parts of a definition: attributes, triggers, transitions, and the settings of the flow itself.
CREATE OR REPLACE FUNCTION wed.definition_parts(_definition jsonb)
RETURNS TABLE (part text, name text, value jsonb)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'attribute', a ->> 'name', a - 'name' FROM jsonb_array_elements(_definition -> 'attribute') a
  UNION ALL
  SELECT 'trigger', t ->> 'name', t - 'name' FROM jsonb_array_elements(_definition -> 'trigger') t
  UNION ALL
  SELECT 'transition', b.key, b.value FROM jsonb_each(_definition -> 'transition') b
  UNION ALL
  SELECT 'setting', s.key, s.value FROM jsonb_each(_definition) s
  WHERE s.key IN ('description', 'final', 'order')
$$;
