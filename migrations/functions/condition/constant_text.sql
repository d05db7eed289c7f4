-- A text constant of a node tree. What is not ASCII becomes '?'.
CREATE OR REPLACE FUNCTION wed.constant_text(_fields text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  -- Its bytes, with sign, behind the four of its length.
  SELECT coalesce(string_agg(CASE WHEN b::integer BETWEEN 1 AND 127 THEN chr(b::integer) ELSE '?' END, '' ORDER BY n), '')
  FROM regexp_split_to_table(substring(_fields FROM ':constvalue \d+ \[ (?:-?\d+ ){4}(.*) \]'), ' ') WITH ORDINALITY t(b, n)
$$;
