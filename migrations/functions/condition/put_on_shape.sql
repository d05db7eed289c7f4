-- Puts a predicate on the shape table, for a moment, as a constraint that checks nothing: Postgres parses
-- and analyses it there, and follows attributes that are renamed meanwhile. Where it is _bounded, functions and
-- operators are looked for among the bounded ones first. Runs as wed_predicate, so that even a fragment that got
-- past check_fragment could do nothing.
CREATE OR REPLACE FUNCTION wed.put_on_shape(
  _shape_schema text, _tgid integer, _predicate text, _bounded boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' SET backslash_quote = safe_encoding SET transform_null_equals = off AS $$
BEGIN
  IF _bounded THEN PERFORM set_config('search_path', 'wed_bounded, pg_catalog, pg_temp', true); END IF;
  -- Parsed and analysed only, never planned or run: for the error's position, which ALTER TABLE does
  -- not give. The predicate stands on lines of its own: an error's LINE 2 is its first.
  EXECUTE format(E'PREPARE wed_condition_check AS SELECT FROM %I.wed_flow WHERE (\n%s\n)', _shape_schema, _predicate);
  DEALLOCATE wed_condition_check;
  EXECUTE format(E'ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (\n%s\n) NOT VALID',
                 _shape_schema, 'c' || _tgid, _predicate);
END $$;

ALTER FUNCTION wed.put_on_shape(text, integer, text, boolean) OWNER TO wed_predicate;
