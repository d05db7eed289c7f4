CREATE OR REPLACE FUNCTION wed_bounded.short(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text) > 256 THEN
    PERFORM wed_bounded.refuse_long(octet_length(_text) || ' bytes', 256);
  END IF;
  RETURN _text;
END $$;

-- As text: what it takes where it is kept may be compressed.
CREATE OR REPLACE FUNCTION wed_bounded.short(_value jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF pg_column_size(_value) > 2048 OR octet_length(_value::text) > 2048 THEN
    PERFORM wed_bounded.refuse_long('more than 2048 bytes', 2048);
  END IF;
  RETURN _value;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.short(_list anyarray) RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF cardinality(_list) > 256 THEN
    PERFORM wed_bounded.refuse_long(cardinality(_list) || ' elements', 256);
  END IF;
  RETURN _list;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.short(_value anynonarray) RETURNS anynonarray
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
