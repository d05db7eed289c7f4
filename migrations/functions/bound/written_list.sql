-- What constants count that are searched for: their bytes, and four for each of an array that is written as such.
CREATE OR REPLACE FUNCTION wed.written_list(_text text) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(sum(CASE WHEN m[1] ~ '^''' THEN octet_length(m[1]) - 2 ELSE 4 END
                      + CASE WHEN _text ~ '^ARRAY' THEN 4 ELSE 0 END), 0)::integer
  FROM regexp_matches(_text, $r$('(?:[^']|'')*'|(?<![a-z0-9_.])[0-9.]+)$r$, 'g') m
$$;
