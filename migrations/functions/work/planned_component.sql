-- The name of the component that is an application of a plan; the application's own name where the plan does not say.
CREATE OR REPLACE FUNCTION wed.planned_component(_plan jsonb, _application text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce((SELECT a ->> 'component' FROM jsonb_array_elements(
                     CASE jsonb_typeof(_plan -> 'applications') WHEN 'array' THEN _plan -> 'applications'
                       ELSE '[]' END) a
                   WHERE a ->> 'name' = _application LIMIT 1), _application)
$$;
