-- The expression that makes a JSON object of some of the attributes (_only; null: all) of a _row of a flow's shape,
-- as text. row_to_json says the same, and asks the catalog about the type of each value of each row. What is known
-- between quotes is made by one function; it comes last, because its opening brace is easily left out.
CREATE OR REPLACE FUNCTION wed.state_as_text(_shape text, _only text[]) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN quoted IS NULL AND bare IS NULL THEN '''{}'''
    WHEN bare IS NULL THEN quoted
    -- A call has a hundred arguments at most.
    ELSE format(CASE WHEN many THEN 'concat(VARIADIC ARRAY[%s, %s])' ELSE 'concat(%s, %s)' END, bare,
                coalesce(''','', right(' || quoted || ', -1)', '''}''')) END
  FROM (
    SELECT 'json_object(ARRAY[' || string_agg(format('%L, _row.%I::text', name, name), ', ' ORDER BY at)
             FILTER (WHERE is_quoted) || '])::text' AS quoted,
           string_agg(format(CASE WHEN is_plain THEN '%L, coalesce(_row.%I::text, ''null'')'
                                  ELSE '%L, coalesce(to_json(_row.%I)::text, ''null'')' END,
                             CASE WHEN at = 1 THEN '{"' ELSE ',"' END || name || '":', name), ', ' ORDER BY at)
             FILTER (WHERE NOT is_quoted) AS bare,
           count(*) > 40 AS many
    FROM (
      SELECT a.attname::text AS name, k.*, row_number() OVER (PARTITION BY k.is_quoted ORDER BY a.attnum) AS at
      FROM pg_attribute a
      CROSS JOIN LATERAL (
        SELECT a.atttypid IN ('text'::regtype, 'uuid'::regtype, 'date'::regtype, 'interval'::regtype) AS is_quoted,
               a.atttypid IN ('integer'::regtype, 'bigint'::regtype, 'boolean'::regtype,
                 'jsonb'::regtype) AS is_plain) k
      WHERE a.attrelid = format('%I.wed_flow', _shape)::regclass AND a.attnum > 1 AND NOT a.attisdropped
        AND (_only IS NULL OR a.attname = ANY (_only))) a) s
$$;
