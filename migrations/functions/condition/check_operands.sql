-- Refuses operands of an analysed expression that are to be written there and are not, or not so: regular
-- expressions and their flags, formats, paths, time zones.
CREATE OR REPLACE FUNCTION wed.check_operands(_nodes wed.expression_node[], _predicate text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record;
  _hint text;
BEGIN
  FOR _of IN
    SELECT n.call, c.operands[o.part] AS bound, o.node, CASE WHEN o.type = 'text'
      THEN wed.constant_text(o.fields) END AS written,
           o.fields ~ ':constisnull true' AS is_null, o.at,
           p.node = 'FUNCEXPR' AND p.call ~ '^similar_to_escape' AS similar
    FROM unnest(_nodes) n JOIN wed.allowed_call c ON c.call = n.call JOIN unnest(_nodes) o ON o.around = n.at
    LEFT JOIN unnest(_nodes) p ON p.at = o.at
    WHERE c.operands[o.part] IN ('pattern', 'flags', 'format', 'path', 'zone') ORDER BY o.at
  LOOP
    IF _of.bound = 'zone' THEN
      PERFORM wed.check_zone(_nodes, _of.at);
    ELSIF _of.similar THEN
      CONTINUE; -- its own operand is looked at
    ELSIF _of.node <> 'CONST' THEN
      _hint := CASE _of.bound WHEN 'path' THEN 'Write it itself; with a key in an attribute use -> and ->>.'
        WHEN 'format' THEN 'Write the format itself; compose text with || or concat.'
        ELSE 'Write it itself; for a pattern in an attribute use LIKE, for a position substr(text, start, length).' END;
      RAISE EXCEPTION 'the % of % is text in quotes', _of.bound, split_part(_of.call, '(', 1)
        USING ERRCODE = 'WF011', HINT = _hint;
    ELSIF _of.is_null OR _of.bound = 'path' THEN
      CONTINUE; -- each path that is written there is looked at below
    ELSIF _of.bound = 'pattern' THEN
      PERFORM wed.check_pattern(_of.written, _of.call ~ '^similar_to_escape');
    ELSIF _of.bound = 'format' THEN
      PERFORM wed.check_format(_of.written);
    ELSIF _of.written !~ (CASE WHEN _of.call ~ '^regexp_replace' THEN '^[icnmspwg]*$' ELSE '^[icnmspw]*$' END) THEN
      RAISE EXCEPTION 'the flags % are not allowed here', quote_literal(left(_of.written, 20)) USING ERRCODE = 'WF011',
        HINT = 'Allowed are i, c, n, s, m, p, w; of regexp_replace also g.';
    END IF;
  END LOOP;
  PERFORM wed.check_path(replace(m[1], '''''', ''''))
  FROM regexp_matches(_predicate, $r$'((?:[^']|'')*)'::jsonpath$r$, 'g') m;
END $$;
