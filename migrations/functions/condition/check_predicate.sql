-- Checks a predicate and returns it as Postgres understood it, as it is run, with the attributes it reads, what it
-- weighs, and whether it may change with time alone: by a function that is not immutable, or by text that is read as a
-- date, which may say 'now'.
CREATE OR REPLACE FUNCTION wed.check_predicate(
  _shape_schema text, _tgid integer, _text text,
  OUT predicate text, OUT reads text[], OUT timely boolean, OUT weight integer, OUT guarded text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _found record;
  _nodes wed.expression_node[];
BEGIN
  _text := wed.check_fragment(_text);
  BEGIN
    _found := wed.analysed(_shape_schema, _tgid, _text, false);
  EXCEPTION WHEN feature_not_supported THEN
    RAISE EXCEPTION '%', CASE WHEN SQLERRM ~ 'subquer' THEN 'a predicate may not hold a subquery'
                              ELSE 'a predicate may not hold this: ' || SQLERRM END USING ERRCODE = 'WF011',
      DETAIL = wed.place('select', _text),
      HINT = 'A predicate looks at the attributes of its own instance only.';
  END;
  predicate := _found.sql;
  reads := _found.reads;
  _nodes := wed.expression_nodes(_found.tree);
  PERFORM wed.check_nodes(_nodes, _text);
  PERFORM wed.check_constants(predicate);
  PERFORM wed.check_operands(_nodes, predicate);
  IF 'wid' = ANY (reads) THEN
    RAISE EXCEPTION 'wid is the identity of an instance, not an attribute' USING ERRCODE = 'WF011',
      DETAIL = wed.place('wid', _text), HINT = 'A condition is over the attributes.';
  END IF;
  PERFORM wed.check_calls(_nodes, _text, false);
  weight := wed.weigh(_nodes);
  guarded := wed.guarded(_shape_schema, _tgid, predicate, weight);
  timely := EXISTS (SELECT FROM unnest(_nodes) n WHERE n.node IN ('SQLVALUEFUNCTION', 'COERCEVIAIO')
    OR n.schema = 'pg_catalog' AND EXISTS (SELECT FROM pg_proc p WHERE p.provolatile <> 'i' AND p.oid IN (
      substring(n.fields FROM '^ :funcid (\d+)')::oid, substring(n.fields FROM ' :opfuncid (\d+)')::oid)));
END $$;
