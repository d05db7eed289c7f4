-- Reads an expression of names, AND, OR and parentheses into a disjunction of conjunctions: [["a", "b"], ["c"]].
CREATE OR REPLACE FUNCTION wed.parse_order(_text text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tokens text[] := ARRAY(SELECT m[1] FROM regexp_matches(_text, '("(?:[^"]|"")+"|[()]|[^\s()"]+)', 'g') m);
  _token text;
  _operators text[] := '{}';
  _values jsonb := '[]';
  _wanted boolean := true;
  _left integer := cardinality(_tokens);
BEGIN
  IF _text IS NULL THEN RETURN NULL; END IF;
  IF cardinality(_tokens) > 256 OR octet_length(_text) > 4096 THEN
    RAISE EXCEPTION 'the order names too many triggers' USING ERRCODE = 'WF062', HINT = 'At most 256 words.';
  END IF;
  -- One more closes it all.
  FOREACH _token IN ARRAY _tokens || ARRAY[')'] LOOP
    _left := _left - 1;
    IF _token = '(' AND _wanted THEN
      _operators := _operators || _token;
    ELSIF upper(_token) IN ('AND', 'OR', ')') AND NOT _wanted THEN
      -- What binds as strongly or more is done first.
      WHILE cardinality(_operators) > 0 AND _operators[cardinality(_operators)] <> '('
            AND (upper(_token) <> 'AND' OR _operators[cardinality(_operators)] = 'AND') LOOP
        _values := (_values - -1 - -1) || jsonb_build_array(
          wed.join_terms(_operators[cardinality(_operators)], _values -> -2, _values -> -1));
        _operators := trim_array(_operators, 1);
      END LOOP;
      IF _token <> ')' THEN
        _operators := _operators || upper(_token);
        _wanted := true;
      ELSIF cardinality(_operators) > 0 THEN
        _operators := trim_array(_operators, 1);
      ELSE
        _wanted := NULL;
        EXIT;
      END IF;
    ELSIF _wanted AND _token NOT IN ('(', ')') AND upper(_token) NOT IN ('AND', 'OR') THEN
      _values := _values || jsonb_build_array(jsonb_build_array(jsonb_build_array(
        CASE WHEN left(_token, 1) = '"' THEN replace(substr(_token, 2, length(_token) - 2), '""', '"')
            ELSE _token END)));
      _wanted := false;
    ELSE
      RAISE EXCEPTION 'the order % cannot be read at "%"', quote_literal(left(_text, 200)), _token
          USING ERRCODE = 'WF062',
        HINT = 'Write names of triggers with AND, OR and parentheses, for example: check AND (plan OR waiver).';
    END IF;
  END LOOP;
  IF _left >= 0 OR _wanted IS NOT NULL OR jsonb_array_length(_values) <> 1 THEN
    RAISE EXCEPTION 'the parentheses of the order % do not fit', quote_literal(left(_text, 200))
        USING ERRCODE = 'WF062',
      HINT = 'Close each that is opened.';
  END IF;
  RETURN _values -> 0;
END $$;
