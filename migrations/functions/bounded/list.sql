-- An array that others are looked for in: that of four attributes at most.
CREATE OR REPLACE FUNCTION wed_bounded.list(_list anyarray) RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF cardinality(_list) > 16384 THEN
    PERFORM wed_bounded.refuse_long(cardinality(_list) || ' elements', 16384);
  END IF;
  RETURN _list;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.list(_value anynonarray) RETURNS anynonarray
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
