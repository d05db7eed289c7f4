-- Flows: their schemas, their roles, and what writing wed_attr and wed_trig does.

-- The SQL type of an attribute type's name, and the labels of an enum.
CREATE OR REPLACE FUNCTION wed.attribute_type(_atype text, OUT sql_type text, OUT labels text[])
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  _base text := lower(btrim(regexp_replace(_atype, '\s*\[\]\s*$', '')));
  _array text := CASE WHEN _atype ~ '\[\]\s*$' THEN '[]' ELSE '' END;
BEGIN
  sql_type := CASE _base
    WHEN 'text' THEN 'text' WHEN 'integer' THEN 'integer' WHEN 'int' THEN 'integer' WHEN 'int4' THEN 'integer'
    WHEN 'bigint' THEN 'bigint' WHEN 'int8' THEN 'bigint' WHEN 'numeric' THEN 'numeric'
    WHEN 'decimal' THEN 'numeric' WHEN 'float' THEN 'double precision' WHEN 'float8' THEN 'double precision'
    WHEN 'double precision' THEN 'double precision' WHEN 'boolean' THEN 'boolean' WHEN 'bool' THEN 'boolean'
    WHEN 'timestamptz' THEN 'timestamptz' WHEN 'timestamp with time zone' THEN 'timestamptz'
    WHEN 'date' THEN 'date' WHEN 'interval' THEN 'interval' WHEN 'uuid' THEN 'uuid' WHEN 'jsonb' THEN 'jsonb'
  END;
  IF sql_type IS NULL AND _base ~ '^enum\s*\([^()]+\)$' THEN
    SELECT array_agg(btrim(l, ' ''')) INTO labels
    FROM regexp_split_to_table(substring(btrim(_atype) FROM '\(([^()]*)\)'), ',') AS l;
    IF '' <> ALL (labels) THEN sql_type := 'text'; END IF;
  END IF;
  IF sql_type IS NULL THEN
    RAISE EXCEPTION 'unknown attribute type "%"', left(coalesce(_atype, 'null'), 80) USING ERRCODE = 'WF012',
      HINT =
        'Use text, integer, bigint, numeric, float, boolean, timestamptz, date, interval, uuid, jsonb, '
        'enum(a,b,...), or one of these followed by [].';
  END IF;
  sql_type := sql_type || _array;
END $$;
