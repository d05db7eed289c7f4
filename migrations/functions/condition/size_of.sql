-- The size of a node's value in rows, as text and as what a document holds besides: of a document that becomes text six
-- times as much, of text that is read as a document three times.
CREATE OR REPLACE FUNCTION wed.size_of(
  _of wed.expression_node, _makes text, _kind text, _plain bigint, _within bigint, _deep bigint, _most bigint,
  OUT text bigint, OUT documents bigint)
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN _kind = 'narrow' OR _makes = 'narrow' OR _of.node IN ('CONST', 'CASETESTEXPR') THEN 0
    WHEN _of.node = 'VAR' THEN (_kind = 'text')::integer
    WHEN _makes = 'capped' THEN CASE _kind WHEN 'text' THEN 16 ELSE 0 END
    WHEN _makes IS NULL OR _of.node IN ('MINMAX', 'NULLIFEXPR') THEN CASE _kind WHEN 'text' THEN _most ELSE 0 END
    WHEN _of.node = 'SUBSCRIPTINGREF' AND _kind = 'text' THEN _plain + _within + _deep
    WHEN _kind = 'text' THEN _plain + 6 * (_within + _deep)
    WHEN _makes = 'parse' THEN _within
    ELSE _plain + _within END,
  CASE
    WHEN _kind <> 'document' OR _makes = 'narrow' OR _of.node IN ('CONST', 'CASETESTEXPR') THEN 0
    WHEN _of.node = 'VAR' THEN 1
    WHEN _makes = 'capped' THEN 16
    WHEN _makes IS NULL OR _of.node IN ('MINMAX', 'NULLIFEXPR') THEN _most
    WHEN _makes = 'parse' THEN 3 * _plain + _deep
    ELSE _deep END
$$;
