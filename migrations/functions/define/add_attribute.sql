-- Adds an attribute's column to a flow's table and to its shape.
CREATE OR REPLACE FUNCTION wed.add_attribute(_flow wed.flow, _name text, _atype text, _default text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _type record := wed.attribute_type(_atype);
  _schema text;
BEGIN
  FOREACH _schema IN ARRAY ARRAY[_flow.schema_name, _flow.shape_schema] LOOP
    EXECUTE format('ALTER TABLE %I.wed_flow ADD COLUMN %I %s DEFAULT %L', _schema, _name, _type.sql_type, _default);
  END LOOP;
  PERFORM wed.bind_attribute(_flow, _name, _atype);
END $$;
