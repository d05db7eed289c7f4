-- Holds numbers, in documents too, to their digits, documents to their depth, an array to its elements, and what may be
-- long to what the row's size counts: the value as it is, not compressed (came_compressed).
CREATE OR REPLACE FUNCTION wed.bound_attribute(_schema text, _name text, _sql_type text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _bound record;
BEGIN
  IF _sql_type IN ('text', 'jsonb') OR _sql_type ~ '\[\]$' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I SET STORAGE EXTERNAL', _schema, _name);
  END IF;
  FOR _bound IN SELECT * FROM wed.bounds_of(_name, _sql_type, quote_ident(_name)) b
    WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = format('%I.wed_flow', _schema)::regclass
      AND c.conname = b.constraint_name)
  LOOP
    EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (%s) NOT VALID', _schema, _bound.constraint_name,
      _bound.expression);
  END LOOP;
END $$;

-- The bounds of a value of an attribute, each an expression over it that is true or raises, and the name of the
-- constraint that it makes.
CREATE OR REPLACE FUNCTION wed.bounds_of(_name text, _sql_type text, _value text)
RETURNS TABLE (constraint_name text, expression text)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'size_' || md5(_name), format('cardinality(%1$s) <= 4096 OR wed_bounded.refuse_elements(%2$L, '
    'cardinality(%1$s))', _value, _name) WHERE _sql_type ~ '\[\]$'
  UNION ALL
  SELECT 'depth_' || md5(_name), format('pg_column_size(%1$s) < 800 OR wed_bounded.is_shallow(%1$s) '
    'OR wed_bounded.refuse_depth(%2$L)', _value, _name)
  WHERE _sql_type IN ('jsonb', 'jsonb[]')
  UNION ALL
  SELECT wed.constraint_name('digits', _name), CASE WHEN _sql_type = 'numeric' THEN
      format('(abs(%1$s) < 1e100 AND scale(%1$s) <= 100) IS NOT FALSE AND %1$s <> ''NaN'' '
        'OR wed_bounded.few_digits(%1$s) OR wed_bounded.refuse_digits(%2$L)', _value, _name)
    ELSE format('wed_bounded.few_digits(%s) OR wed_bounded.refuse_digits(%L)', _value, _name) END
  WHERE _sql_type IN ('numeric', 'numeric[]', 'jsonb', 'jsonb[]')
$$;
