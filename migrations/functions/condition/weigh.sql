-- What an analysed expression weighs, by the table's own words (host/guard/src/catalog.toml,
-- host/guard/src/weight.rs): each node's value has a size, in rows, as text and as documents; each call weighs by
-- the sizes of its operands.
CREATE OR REPLACE FUNCTION wed.weigh(_nodes wed.expression_node[]) RETURNS integer
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _n wed.expression_node;
  _zeros bigint[] := array_fill(0::bigint, ARRAY[cardinality(_nodes)]);
  _plain bigint[] := _zeros;   -- of a node's operands that are text: their text
  _within bigint[] := _zeros;  -- of those that are documents: the text in them
  _deep bigint[] := _zeros;    -- and what else is in them
  _most bigint[] := _zeros;    -- the largest of them
  _kinds text[] := array_fill(''::text, ARRAY[cardinality(_nodes) + 1]);
  _makes text;
  _kind text;
  _size record;
  _weight bigint := 0;
  _times integer;
BEGIN
  FOR _i IN REVERSE cardinality(_nodes) .. 1 LOOP
    _n := _nodes[_i];
    -- COLLATE has the kind of its operand, which comes next.
    _kind := CASE _n.node WHEN 'COLLATE' THEN _kinds[_i + 1] ELSE wed.kind_of(_n.node, _n.type) END;
    _kinds[_i] := _kind;
    CONTINUE WHEN _n.node IN ('CONST', 'BOOLEXPR'); -- no weight, and no size
    IF _n.call LIKE 'format(%' THEN
      _times := wed.format_repeats(wed.constant_text(_nodes[_i + 1].fields));
      _plain[_i] := _plain[_i] * _times + 1;
      _within[_i] := _within[_i] * _times;
      _deep[_i] := _deep[_i] * _times;
    END IF;
    _makes := wed.made_by(_n, _kinds[_i + 1], _kind);
    _weight := _weight + coalesce((SELECT CASE WHEN _makes = 'capped' THEN w.text
                                          ELSE w.text * (_plain[_i] + _within[_i]) + w.documents * _deep[_i] END
                                   FROM wed.call_weight w WHERE w.makes = _makes), 0);
    _size := wed.size_of(_n, _makes, _kind, _plain[_i], _within[_i], _deep[_i], _most[_i]);
    IF _n.around IS NOT NULL THEN
      IF _kind = 'document' THEN
        _within[_n.around] := least(_within[_n.around] + _size.text, 1000000);
        _deep[_n.around] := least(_deep[_n.around] + _size.documents, 1000000);
      ELSE
        _plain[_n.around] := least(_plain[_n.around] + _size.text, 1000000);
      END IF;
      _most[_n.around] := greatest(_most[_n.around], _size.text, _size.documents);
    END IF;
  END LOOP;
  IF _weight > 1600 THEN
    RAISE EXCEPTION 'the predicate makes too many large values: it weighs %', _weight USING ERRCODE = 'WF011',
      HINT =
        'At most 1600: a text that is made counts 1, one in another case 8, taking text out of a document 6, '
        'a document as text or made anew 96, text as a document 192; '
        'each as often as values of a row''s size are in it.';
  END IF;
  RETURN _weight;
END $$;
