-- What an entry of the audit log says: an object of at most 4 KiB; the beginning of a longer one.
CREATE OR REPLACE FUNCTION wed.short_detail(_detail jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN _detail IS NULL OR jsonb_typeof(_detail) <> 'object' THEN '{}'
    WHEN octet_length(_detail::text) <= 4096 THEN _detail
    ELSE jsonb_build_object('cut', left(_detail::text, 1000)) END
$$;
