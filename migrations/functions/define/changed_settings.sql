-- Compares two definitions of a flow: the attributes and triggers in both that differ, people's work included, and the
-- settings of the flow itself.
CREATE OR REPLACE FUNCTION wed.changed_settings(_before jsonb, _after jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object(
    'attributes_changed', coalesce(jsonb_agg(d.name ORDER BY d.name) FILTER (WHERE d.part = 'attribute'
      AND d.was IS NOT NULL AND d.becomes IS NOT NULL), '[]'),
    'triggers_changed', coalesce(jsonb_agg(d.name ORDER BY d.name) FILTER (WHERE d.part = 'trigger'
      AND d.was IS NOT NULL AND d.becomes IS NOT NULL), '[]'),
    'settings_changed', coalesce(jsonb_agg(d.name ORDER BY d.name) FILTER (WHERE d.part = 'setting'), '[]'))
  FROM wed.difference(_before, _after) d
$$;
