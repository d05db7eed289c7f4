CREATE OR REPLACE FUNCTION wed.take_off_shape(_shape_schema text, _tgid integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I.wed_flow DROP CONSTRAINT IF EXISTS %I', _shape_schema, 'c' || _tgid);
END $$;

ALTER FUNCTION wed.take_off_shape(text, integer) OWNER TO wed_predicate;
