-- What is wrong with a value by its schema; null when nothing is. A null is right where the schema has a type null or
-- none.
CREATE OR REPLACE FUNCTION wed.form_complaint(_about jsonb, _value jsonb) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN jsonb_typeof(_about) IS DISTINCT FROM 'object' THEN NULL
    WHEN _about ? 'type' AND NOT EXISTS (
      SELECT FROM jsonb_array_elements_text(CASE jsonb_typeof(_about -> 'type') WHEN 'array' THEN _about -> 'type'
                                            ELSE jsonb_build_array(_about -> 'type') END) t
      WHERE t = jsonb_typeof(_value) OR t = 'integer' AND jsonb_typeof(_value) = 'number'
        AND (_value #>> '{}')::numeric % 1 = 0)
      THEN format('its type is not %s', _about -> 'type')
    WHEN jsonb_typeof(_value) = 'null' THEN NULL
    WHEN jsonb_typeof(_about -> 'enum') = 'array' AND NOT (_about -> 'enum') @> jsonb_build_array(_value)
      THEN format('it is none of %s', _about -> 'enum')
    WHEN jsonb_typeof(_value) = 'number' AND jsonb_typeof(_about -> 'minimum') = 'number'
         AND (_value #>> '{}')::numeric < (_about ->> 'minimum')::numeric
           THEN format('it is less than %s', _about -> 'minimum')
    WHEN jsonb_typeof(_value) = 'number' AND jsonb_typeof(_about -> 'maximum') = 'number'
         AND (_value #>> '{}')::numeric > (_about ->> 'maximum')::numeric
           THEN format('it is more than %s', _about -> 'maximum')
    WHEN jsonb_typeof(_value) = 'string' AND jsonb_typeof(_about -> 'minLength') = 'number'
         AND char_length(_value #>> '{}') < (_about ->> 'minLength')::numeric
           THEN format('it is shorter than %s characters', _about -> 'minLength')
    WHEN jsonb_typeof(_value) = 'string' AND jsonb_typeof(_about -> 'maxLength') = 'number'
         AND char_length(_value #>> '{}') > (_about ->> 'maxLength')::numeric
           THEN format('it is longer than %s characters', _about -> 'maxLength')
  END
$$;
