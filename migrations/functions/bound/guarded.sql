-- A checked condition as it is run: Postgres itself puts in the bounded functions and operators, as it finds them
-- first, and what it found is judged again, by identity. One that weighs something looks at the time when it has
-- been evaluated.
CREATE OR REPLACE FUNCTION wed.guarded(_shape_schema text, _tgid integer, _predicate text, _weight integer) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _found record := wed.analysed(_shape_schema, _tgid, wed.spelled(_predicate), true);
BEGIN
  PERFORM wed.check_calls(wed.expression_nodes(_found.tree), _predicate, true);
  PERFORM wed.plan_on_shape(_shape_schema, _found.sql);
  RETURN CASE WHEN _weight > 0 THEN format('wed_bounded.in_time(%s)', _found.sql) ELSE _found.sql END;
END $$;
