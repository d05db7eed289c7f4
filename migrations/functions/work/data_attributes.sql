-- The attributes of data of a plan; a name that is no datum is an attribute's. Null when no list is given.
CREATE OR REPLACE FUNCTION wed.data_attributes(_plan jsonb, _names jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN jsonb_typeof(_names) = 'array' THEN ARRAY(
    SELECT coalesce((SELECT d ->> 'attribute' FROM jsonb_array_elements(_plan -> 'data') d
      WHERE d ->> 'name' = n LIMIT 1), n)
    FROM jsonb_array_elements_text(_names) n) END
$$;
