-- The expression that says whether some attribute of a row of a flow came compressed: from another table, since a
-- flow's own are kept as they are. Such a row is measured as text, for a compressed value is small where it
-- is kept and large where it is computed with. It looks at the row itself: one that passed through an array has
-- lost what told it, where another value of it is stored out of line.
CREATE OR REPLACE FUNCTION wed.came_compressed(_schema text, _row text) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT coalesce('coalesce(' || string_agg(format('pg_column_compression(%s.%I)', _row, a.attname),
    ', ' ORDER BY a.attnum)
                  || ') IS NOT NULL', 'false')
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = format('%I.wed_flow', _schema)::regclass AND a.attnum > 1 AND NOT a.attisdropped
    AND (a.atttypid IN ('text'::regtype, 'jsonb'::regtype) OR t.typcategory = 'A')
$$;
