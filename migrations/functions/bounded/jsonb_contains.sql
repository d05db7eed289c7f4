CREATE OR REPLACE FUNCTION wed_bounded.jsonb_contains(_one jsonb, _other jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$ SELECT wed_bounded.op_contains($1, $2) $$;
