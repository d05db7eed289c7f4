-- Refuses a default that is no value of its attribute's type.
CREATE OR REPLACE FUNCTION wed.check_default(_name text, _atype text, _default text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _type record := wed.attribute_type(_atype);
BEGIN
  IF _default IS NULL THEN RETURN; END IF;
  IF _type.labels IS NOT NULL AND _type.sql_type = 'text' AND _default <> ALL (_type.labels) THEN
    RAISE EXCEPTION 'the default of attribute "%" is none of its values: "%"', _name, left(_default, 80)
      USING ERRCODE = '23514', HINT = format('It is one of %s.', array_to_string(_type.labels, ', '));
  END IF;
  EXECUTE format('SELECT CAST(%L AS %s)', _default, _type.sql_type);
EXCEPTION WHEN data_exception THEN
  RAISE EXCEPTION 'the default of attribute "%" is of another type than %: %', _name, _atype, SQLERRM
    USING ERRCODE = SQLSTATE, HINT = format('Give a value of type %s, or none.', _atype);
END $$;
