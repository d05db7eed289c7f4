-- How a node's value is made, in the words of wed.call_weight; null where it is one of its operands.
CREATE OR REPLACE FUNCTION wed.made_by(_of wed.expression_node, _operand_kind text, _kind text) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN _of.node IN ('MINMAX', 'ROWCOMPARE') THEN 'compare'
    WHEN _of.node IN ('ARRAY', 'SUBSCRIPTINGREF') THEN 'copy'
    WHEN _of.node IN ('COERCEVIAIO', 'ARRAYCOERCEEXPR') THEN CASE _operand_kind || _kind
      WHEN 'textdocument' THEN 'parse' WHEN 'documenttext' THEN 'join' WHEN 'documentdocument' THEN 'make'
      WHEN 'texttext' THEN 'copy' END
    WHEN _of.call IS NOT NULL THEN coalesce(
      nullif((SELECT makes FROM wed.allowed_call WHERE call = _of.call), ''), CASE _kind WHEN 'narrow' THEN NULL
        ELSE 'copy' END)
    END
$$;
