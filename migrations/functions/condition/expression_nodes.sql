-- The nodes of an analysed expression, in the order in which they open. In the text of a node tree, constants are
-- numbers and names are escaped, so a tenant's text cannot look like a node or a field.
CREATE OR REPLACE FUNCTION wed.expression_nodes(_tree text) RETURNS wed.expression_node[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _token text[];
  _node text[];
  _fields text[];
  _around integer[];
  _part integer[];
  _depth integer[];
  _parts integer[];
  _open integer[];
  _d integer := 0;
  _n integer := 0;
BEGIN
  FOR _token IN SELECT regexp_matches(_tree, '\{([A-Z_]+)([^{}]*)|\}([^{}]*)', 'g') LOOP
    IF _token[1] IS NULL THEN
      _d := _d - 1;
      IF _d > 0 THEN _fields[_open[_d]] := _fields[_open[_d]] || _token[3]; END IF;
      CONTINUE;
    END IF;
    _n := _n + 1;
    _around[_n] := CASE WHEN _d > 0 THEN _open[_d] END;
    IF _d > 0 THEN _parts[_open[_d]] := _parts[_open[_d]] + 1; END IF;
    _part[_n] := CASE WHEN _d > 0 THEN _parts[_open[_d]] END;
    _node[_n] := regexp_replace(_token[1], '(?<=CASE|WHEN|ARRAY|COALESCE|MINMAX|ROWCOMPARE|COLLATE|^ROW)EXPR$', '');
    _fields[_n] := _token[2];
    _parts[_n] := 0;
    _d := _d + 1;
    _depth[_n] := _d;
    _open[_d] := _n;
  END LOOP;
  -- What the same number names is looked up once.
  RETURN ARRAY(
    WITH n AS MATERIALIZED (
      SELECT u.*, substring(u.fields FROM
          ':(?:opresulttype|funcresulttype|resulttype|vartype|consttype|array_typeid|coalescetype|'
          'casetype|minmaxtype|refrestype|typeId|relabeltype) (\d+)')::oid AS type,
        CASE WHEN u.node = 'FUNCEXPR' THEN substring(u.fields FROM '^ :funcid (\d+)')::oid END AS function,
        substring(u.fields FROM '^ :opno (\d+)')::oid AS operator
      FROM unnest(_around, _part, _depth, _node, _fields) WITH ORDINALITY u(around, part, depth, node, fields, at)
    ), f AS MATERIALIZED (
      SELECT d.function, c.* FROM (SELECT DISTINCT function FROM n WHERE function IS NOT NULL) d,
        wed.call_of_function(d.function) c
    ), o AS MATERIALIZED (
      SELECT d.operator, c.* FROM (SELECT DISTINCT operator FROM n WHERE operator IS NOT NULL) d,
        wed.call_of_operator(d.operator) c
    )
    SELECT ROW(n.at, n.around, n.part, n.depth, n.node, n.fields, t.typname, coalesce(f.call, o.call),
               coalesce(f.schema, o.schema))::wed.expression_node
    FROM n LEFT JOIN pg_type t ON t.oid = n.type LEFT JOIN f USING (function) LEFT JOIN o USING (operator)
    ORDER BY n.at);
END $$;
