-- What the template apply holds of a flow: the attributes that its components declare to write, or all; how a row is
-- returned; what its triggers restrict; its groups of conditions. With very many attributes no plan is kept: what is
-- assigned decides.
CREATE OR REPLACE FUNCTION wed.apply_values(_flow wed.flow) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  _planned_max CONSTANT integer := 48;
  _declared text[] := wed.declared(_flow.flow_id, 'writes');
  _bytes_max CONSTANT integer := 262144;
  -- Null where a row is as large as it looks, which its table has measured.
  _bytes CONSTANT text := format('CASE WHEN %s THEN octet_length((_r.*)::text) END',
                                 wed.came_compressed(_flow.schema_name, '_r'));
  _column record;
BEGIN
  SELECT coalesce(count(*) BETWEEN 1 AND _planned_max, false) AS planned,
         string_agg(format('_p%s integer := array_position(_assigned, %L);', attnum, attname), E'\n  ' ORDER BY attnum)
           AS places,
         array_agg(attname::text ORDER BY attnum) AS names,
         string_agg(format('%I = CASE WHEN _p%s IS NULL THEN _r.%1$I ELSE _b.literals[_p%2$s]::%s END', attname, attnum,
                           format_type(atttypid, atttypmod)), E',\n        ' ORDER BY attnum) AS sets
  INTO _column
  FROM pg_attribute
  WHERE attrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND attnum > 1 AND NOT attisdropped
    AND (_declared IS NULL OR attname = ANY (_declared));
  RETURN jsonb_build_object(
    'places', CASE WHEN _column.planned THEN _column.places ELSE '' END,
    'written', CASE WHEN _column.planned THEN quote_literal(_column.names) ELSE 'NULL' END,
    'sets', CASE WHEN _column.planned THEN _column.sets ELSE 'wid = _r.wid' END,
    'bytes', _bytes,
    'bytes_max', _bytes_max,
    'bytes_text', quote_literal(format('%s > %s', _bytes, _bytes_max)),
    'schema_text', quote_literal(_flow.schema_name),
    'role_text', quote_literal(_flow.role_name),
    'refuse_restricted', CASE
      WHEN EXISTS (SELECT FROM wed.trigger WHERE flow_id = _flow.flow_id AND enabled AND writes IS NOT NULL)
      THEN 'PERFORM wed.refuse_restricted(_results, _assigned);' ELSE '' END,
    'keep_groups', coalesce(wed.keep_groups_text(_flow), ''));
END $$;
