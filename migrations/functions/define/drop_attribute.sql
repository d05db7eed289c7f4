-- Removes an attribute's column.
CREATE OR REPLACE FUNCTION wed.drop_attribute(_flow wed.flow, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _schema text;
BEGIN
  FOREACH _schema IN ARRAY ARRAY[_flow.schema_name, _flow.shape_schema] LOOP
    EXECUTE format('ALTER TABLE %I.wed_flow DROP COLUMN %I', _schema, _name);
  END LOOP;
END $$;
