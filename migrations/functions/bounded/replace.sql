-- As Postgres's own, where what it makes stays below 4 MiB. Stable, so that what is made of constants is not kept in
-- the plans of every session.
CREATE OR REPLACE FUNCTION wed_bounded.replace(text, text, text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$ SELECT wed_bounded.replaced($1, wed_bounded.short($2),
  wed_bounded.short($3)) $$;

CREATE OR REPLACE FUNCTION wed_bounded.replaced(_text text, _from text, _to text) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.look(octet_length(_text)::bigint / greatest(octet_length(_from), 1) * octet_length(_to),
    4194304, 'bytes');
  RETURN replace(_text, _from, _to);
END $$;
