-- Gives an attribute's column another type or default; constraints of its former name and type go.
CREATE OR REPLACE FUNCTION wed.alter_attribute(
  _flow wed.flow, _name text, _atype text, _default text, _former text, _retyped boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _type record := wed.attribute_type(_atype);
  _schema text;
BEGIN
  FOREACH _schema IN ARRAY ARRAY[_flow.schema_name, _flow.shape_schema] LOOP
    EXECUTE
      format('ALTER TABLE %I.wed_flow DROP CONSTRAINT IF EXISTS %I, DROP CONSTRAINT IF EXISTS %I, DROP CONSTRAINT '
      'IF EXISTS %I, DROP CONSTRAINT IF EXISTS %I',
      _schema, wed.constraint_name('enum', _former), wed.constraint_name('digits', _former),
      'size_' || md5(_former), 'depth_' || md5(_former));
    IF _retyped THEN
      EXECUTE
        format('ALTER TABLE %I.wed_flow ALTER COLUMN %I DROP DEFAULT, ALTER COLUMN %2$I TYPE %s USING %2$I::text::%3$s',
                     _schema, _name, _type.sql_type);
    END IF;
    EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I SET DEFAULT %L', _schema, _name, _default);
  END LOOP;
  PERFORM wed.bind_attribute(_flow, _name, _atype);
  IF EXISTS (SELECT FROM wed.numbering WHERE flow_id = _flow.flow_id AND attribute = _name) THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I DROP DEFAULT', _flow.schema_name, _name);
  END IF;
END $$;
