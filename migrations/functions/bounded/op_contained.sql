-- As Postgres's own <@, of what has few pairs.
CREATE OR REPLACE FUNCTION wed_bounded.op_contained(_one anyarray, _other anyarray) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.pair(_one, _other);
  RETURN _one OPERATOR(pg_catalog.<@) _other;
END $$;
CREATE OR REPLACE FUNCTION wed_bounded.op_contained(_one jsonb, _other jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.pair(_one, _other);
  RETURN _one OPERATOR(pg_catalog.<@) _other;
END $$;
