-- What a path counts of what is searched for, as Postgres writes it: a chain of names and at most four numbers of elements takes
-- a look at each value or two. (What is no list is made one at each number.)
CREATE OR REPLACE FUNCTION wed.path_cost(_path text) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN _path ~ '^(?:strict )?\$(?:\."(?:[^"\\]|\\.)*"|\[(?:[0-9]+|last)\])*$'
    AND regexp_count(regexp_replace(_path, '"(?:[^"\\]|\\.)*"', '', 'g'), '\[') <= 4 THEN 24 ELSE 128 END
$$;
