-- As Postgres's own, of 64 KiB at most. Of nothing Postgres counts the times. Stable, so that what is made of constants
-- is not kept in the plans of every session.
CREATE OR REPLACE FUNCTION wed_bounded.repeat(text, integer) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$ SELECT wed_bounded.repeated($1, wed_bounded.small($2)) $$;

CREATE OR REPLACE FUNCTION wed_bounded.repeated(_text text, _times integer) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.look(octet_length(_text)::bigint * _times, 65536, 'bytes');
  RETURN CASE WHEN _text = '' THEN '' ELSE repeat(_text, _times) END;
END $$;
