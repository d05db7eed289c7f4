-- What an entry of the audit log says: an object of at most 4 KiB. Of a longer one each value is cut, and where that is
-- not enough, the whole.
CREATE OR REPLACE FUNCTION wed.short_detail(_detail jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN _detail IS NULL OR jsonb_typeof(_detail) <> 'object' THEN '{}'
    WHEN octet_length(_detail::text) <= 4096 THEN _detail
    WHEN octet_length(c.cut::text) <= 4096 THEN c.cut
    ELSE jsonb_build_object('cut', left(_detail::text, 1000)) END
  FROM (SELECT jsonb_object_agg(d.key, CASE WHEN octet_length(d.value::text) <= 300 THEN d.value
      ELSE to_jsonb(left(d.value #>> '{}', 300)) END) AS cut
    FROM jsonb_each(CASE WHEN jsonb_typeof(_detail) = 'object' THEN _detail ELSE '{}' END) d) c
$$;
