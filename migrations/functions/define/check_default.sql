-- Refuses a default that is no value of its attribute's type, or one that no instance could be given: instances that
-- are there get it without passing anything that holds them to digits, depth or elements.
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
  PERFORM wed.check_bound(b.expression) FROM wed.bounds_of(_name, _type.sql_type,
    format('CAST(%L AS %s)', _default, _type.sql_type)) b;
EXCEPTION WHEN data_exception THEN
  RAISE EXCEPTION 'the default of attribute "%" is of another type than %: %', _name, _atype, SQLERRM
    USING ERRCODE = SQLSTATE, HINT = format('Give a value of type %s, or none.', _atype);
END $$;

-- Evaluates a bound, which is true or raises.
CREATE OR REPLACE FUNCTION wed.check_bound(_expression text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE 'SELECT ' || _expression;
END $$;
