-- Holds an attribute's column to the size of its type's values, and to an enum's labels.
CREATE OR REPLACE FUNCTION wed.bind_attribute(_flow wed.flow, _name text, _atype text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _type record := wed.attribute_type(_atype);
BEGIN
  PERFORM wed.bound_attribute(_flow.schema_name, _name, _type.sql_type);
  IF _type.labels IS NOT NULL THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (%I %s) NOT VALID', _flow.schema_name,
      wed.constraint_name('enum', _name), _name,
      CASE WHEN _type.sql_type = 'text' THEN format('= ANY (%L::text[])', _type.labels)
           ELSE format('<@ %L::text[]', _type.labels) END);
  END IF;
END $$;
