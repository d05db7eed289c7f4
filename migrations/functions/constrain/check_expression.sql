-- Checks an expression over a flow's row as a condition is checked, and returns it as Postgres understood it, with
-- what it reads.
CREATE OR REPLACE FUNCTION wed.check_expression(
  _shape_schema text, _tgid integer, _text text, OUT expression text, OUT reads text[], OUT guarded text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _checked record;
BEGIN
  IF _text IS NULL THEN RETURN; END IF;
  _checked := wed.check_predicate(_shape_schema, _tgid, '(' || wed.check_fragment(_text) || E'\n) IS NOT NULL');
  expression := substring(_checked.predicate FROM '^\((.*) IS NOT NULL\)$');
  reads := _checked.reads;
  guarded := substring(regexp_replace(_checked.guarded, '^wed_bounded\.in_time\((.*)\)$', '\1')
    FROM '^\((.*) IS NOT NULL\)$');
  -- A constant alone has no type of its own.
  IF expression ~ '^''([^'']|'''')*''$' THEN
    expression := expression || '::text';
    guarded := expression;
  END IF;
  IF expression IS NULL THEN
    RAISE EXCEPTION 'the expression % cannot be reserved', quote_literal(left(_text, 80)) USING ERRCODE = 'WF011',
      HINT = 'Write one value, an array or a document over the attributes.';
  END IF;
END $$;
