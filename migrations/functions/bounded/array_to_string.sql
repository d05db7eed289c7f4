-- As Postgres's own, where what it puts in stays below 4 MiB.
CREATE OR REPLACE FUNCTION wed_bounded.array_to_string(anyarray, text, text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$
  SELECT wed_bounded.joined($1, wed_bounded.short($2), wed_bounded.short($3))
$$;

CREATE OR REPLACE FUNCTION wed_bounded.array_to_string(anyarray, text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$ SELECT wed_bounded.joined($1, wed_bounded.short($2), NULL) $$;

CREATE OR REPLACE FUNCTION wed_bounded.joined(_list anyarray, _between text, _for_null text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.look(cardinality(_list)::bigint * greatest(octet_length(_between), octet_length(_for_null)),
    4194304, 'bytes');
  RETURN array_to_string(_list, _between, _for_null);
END $$;
