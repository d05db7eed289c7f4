-- Plans a condition as it is run, on the empty shape table: Postgres computes what is constant in it, and so finds
-- constants that are beyond a bound.
CREATE OR REPLACE FUNCTION wed.plan_on_shape(_shape_schema text, _guarded text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601'
  AS $$
DECLARE
  _hint text;
BEGIN
  EXECUTE format('EXPLAIN SELECT FROM %I.wed_flow WHERE %s', _shape_schema, _guarded);
EXCEPTION WHEN SQLSTATE 'WF031' OR SQLSTATE 'WF032' THEN
  GET STACKED DIAGNOSTICS _hint = PG_EXCEPTION_HINT;
  RAISE EXCEPTION '%', SQLERRM USING ERRCODE = 'WF011', HINT = _hint;
WHEN OTHERS THEN
  NULL; -- a condition may fail for some states, or for all
END $$;

ALTER FUNCTION wed.plan_on_shape(text, text) OWNER TO wed_predicate;
