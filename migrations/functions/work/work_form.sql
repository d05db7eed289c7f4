-- A form for a task's outputs as JSON Schema, generated from the attributes' types.
CREATE OR REPLACE FUNCTION wed.work_form(_task wed.work_task, _outputs text[], _types jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('$schema', 'https://json-schema.org/draft/2020-12/schema', 'type', 'object',
    'title', _task.task, 'description', _task.description, 'additionalProperties', false,
    'properties', coalesce((
      SELECT jsonb_object_agg(o, CASE
        WHEN k.type LIKE '%[]' THEN '{"type": ["array", "null"]}'::jsonb
        WHEN k.type ~ '^(integer|bigint|smallint)' THEN '{"type": ["integer", "null"]}'
        WHEN k.type ~ '^(numeric|real|double)' THEN '{"type": ["number", "null"]}'
        WHEN k.type = 'boolean' THEN '{"type": ["boolean", "null"]}'
        WHEN k.type = 'date' THEN '{"type": ["string", "null"], "format": "date"}'
        WHEN k.type ~ '^timestamp' THEN '{"type": ["string", "null"], "format": "date-time"}'
        WHEN k.type ~ '^json' THEN '{}'
        ELSE '{"type": ["string", "null"]}' END)
      FROM unnest(_outputs) o CROSS JOIN LATERAL (SELECT _types ->> o AS type) k
        WHERE o <> coalesce(_task.state_attribute, '')), '{}'))
$$;
