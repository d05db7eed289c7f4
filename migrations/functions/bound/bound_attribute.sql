-- Holds numbers, in documents too, to their digits, an array to its elements, and what may be long to what the row's
-- size counts: the value as it is, not compressed (came_compressed).
CREATE OR REPLACE FUNCTION wed.bound_attribute(_schema text, _name text, _sql_type text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _sql_type IN ('text', 'jsonb') OR _sql_type ~ '\[\]$' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I SET STORAGE EXTERNAL', _schema, _name);
  END IF;
  IF _sql_type ~ '\[\]$' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (
        cardinality(%I) <= 4096 OR wed_bounded.refuse_elements(%L, cardinality(%3$I))) NOT VALID',
      _schema, 'size_' || md5(_name), _name, _name);
  END IF;
  IF _sql_type = 'numeric' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (
        (abs(%I) < 1e100 AND scale(%3$I) <= 100) IS NOT FALSE AND %3$I <> ''NaN''
        OR wed_bounded.few_digits(%3$I) OR wed_bounded.refuse_digits(%L)) NOT VALID',
      _schema, 'digits_' || _name, _name, _name);
  ELSIF _sql_type IN ('numeric[]', 'jsonb', 'jsonb[]') THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (
        wed_bounded.few_digits(%I) OR wed_bounded.refuse_digits(%L)) NOT VALID',
      _schema, 'digits_' || _name, _name, _name);
  END IF;
END $$;
