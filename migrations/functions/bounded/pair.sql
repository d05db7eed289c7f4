-- Arrays that are held against each other, element by element, and documents.
CREATE OR REPLACE FUNCTION wed_bounded.pair(_one anyarray, _other anyarray) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.cardinality(_one)::bigint * pg_catalog.cardinality(_other), 16777216,
    'pairs of elements');
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.pair(_one jsonb, _other jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.pg_column_size(_one)::bigint * pg_catalog.pg_column_size(_other), 268435456,
    'pairs of bytes');
END $$;
