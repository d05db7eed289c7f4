-- A predicate as Postgres understands it against a flow's shape: its node tree, the text that it deparses to, and the
-- attributes that it reads. Every setting that the parser or the deparser reads is pinned here and in put_on_shape.
CREATE OR REPLACE FUNCTION wed.analysed(
  _shape_schema text, _tgid integer, _predicate text, _bounded boolean, OUT tree text, OUT sql text, OUT reads text[])
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601'
SET quote_all_identifiers = off SET extra_float_digits = 1 AS $$
BEGIN
  PERFORM wed.take_off_shape(_shape_schema, _tgid);
  PERFORM wed.put_on_shape(_shape_schema, _tgid, _predicate, _bounded);
  SELECT c.conbin::text, pg_get_expr(c.conbin, c.conrelid),
         coalesce((SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
                   WHERE a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)), '{}')
  INTO tree, sql, reads
  FROM pg_constraint c WHERE c.conrelid = format('%I.wed_flow', _shape_schema)::regclass AND c.conname = 'c' || _tgid;
  -- Everybody can read constraints.
  PERFORM wed.take_off_shape(_shape_schema, _tgid);
END $$;
