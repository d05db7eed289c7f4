-- What the templates gate_insert and gate_update hold of a flow: how a row is measured, and which attributes a
-- statement changed. An attribute is compared by the image of its value, in which numbers of equal worth and settings
-- of a session have no part.
CREATE OR REPLACE FUNCTION wed.gate_values(_flow wed.flow) RETURNS jsonb
LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object(
    'compressed_new', wed.came_compressed(_flow.schema_name, '_new'),
    'old_names', string_agg('_o' || attnum, ', ' ORDER BY attnum),
    'new_names', string_agg('_n' || attnum, ', ' ORDER BY attnum),
    'changed', coalesce(string_agg(
      format('CASE WHEN ROW(_c._o%1$s)::record OPERATOR(pg_catalog.*<>) ROW(_c._n%1$s)::record THEN %2$L END', attnum,
        attname),
      E',\n        ' ORDER BY attnum) FILTER (WHERE attnum > 1), ''))
  FROM pg_attribute
  WHERE attrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND attnum > 0 AND NOT attisdropped
$$;
