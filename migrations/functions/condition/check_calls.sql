-- Holds the calls of an analysed expression against the table, by what they are, whatever they are called. As it is run
-- (_run), what is bounded must be the bounded one, and text that is cast must have passed its guard.
CREATE OR REPLACE FUNCTION wed.check_calls(_nodes wed.expression_node[], _text text, _run boolean) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _bad record;
BEGIN
  SELECT split_part(n.call, '(', 1) AS name, n.node = 'FUNCEXPR' AS is_function INTO _bad
  FROM unnest(_nodes) n LEFT JOIN wed.allowed_call c ON c.call = n.call
  WHERE n.call IS NOT NULL AND NOT CASE
    WHEN n.schema = 'wed_bounded' THEN _run AND (c.bounded OR n.call ~ '^(number|moment|document)\(') IS TRUE
    WHEN n.schema <> 'pg_catalog' THEN false
    WHEN c.call IS NULL THEN n.node = 'FUNCEXPR' AND EXISTS (
      SELECT FROM pg_cast k JOIN pg_proc p ON p.oid = k.castfunc
      WHERE k.castfunc = substring(n.fields FROM '^ :funcid (\d+)')::oid AND p.provolatile <> 'v')
    ELSE NOT (_run AND c.bounded) END LIMIT 1;
  IF FOUND AND _bad.is_function THEN
    RAISE EXCEPTION 'the function % is not allowed in a predicate', _bad.name
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad.name, _text),
        HINT = '`wed explain conditions` lists the functions that are.';
  ELSIF FOUND THEN
    RAISE EXCEPTION 'the operator % is not allowed in a predicate', _bad.name USING ERRCODE = 'WF011',
      DETAIL = wed.place(_bad.name, _text),
        HINT = 'Use comparison, arithmetic, ||, LIKE, and the operators of jsonb and arrays.';
  END IF;
  IF EXISTS (SELECT FROM unnest(_nodes) n WHERE n.node = 'SCALARARRAYOPEXPR'
             AND split_part(n.call, '(', 1) NOT IN ('=', '<>', '<', '<=', '>', '>=', '~~', '!~~', '~~*', '!~~*')) THEN
    RAISE EXCEPTION 'ANY and ALL take a comparison or LIKE in a predicate' USING ERRCODE = 'WF011',
      HINT = 'Join several conditions by OR.';
  END IF;
  IF _run AND EXISTS (
    SELECT FROM unnest(_nodes) n JOIN unnest(_nodes) a ON a.around = n.at AND a.part = 1
    LEFT JOIN unnest(_nodes) whole ON whole.at = n.around AND whole.node = 'ARRAYCOERCEEXPR'
    LEFT JOIN unnest(_nodes) list ON list.around = whole.at AND list.part = 1
    WHERE n.node = 'COERCEVIAIO' AND n.type ~ '^_?(numeric|jsonb|date|timetz|time|timestamp|timestamptz)$'
      AND coalesce(list.type, a.type) ~ '^_?(text|varchar|bpchar)$' AND coalesce(list.node, a.node) <> 'CONST'
      AND (coalesce(list.schema, a.schema) = 'wed_bounded' AND coalesce(list.call,
        a.call) ~ '^(number|moment|document)\(') IS NOT TRUE)
  THEN
    RAISE EXCEPTION 'text cannot be cast so in a predicate' USING ERRCODE = 'WF011',
      HINT = 'Write the cast as value::type, of one value.';
  END IF;
END $$;
