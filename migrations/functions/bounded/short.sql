-- A text, or an array, that others are searched for: searching takes the product of both lengths.
CREATE OR REPLACE FUNCTION wed_bounded.short(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  IF pg_catalog.octet_length(_text) > 256 THEN PERFORM wed_bounded.look(pg_catalog.octet_length(_text), 256,
    'bytes'); END IF;
  RETURN _text;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.short(_list anyarray) RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.cardinality(_list), 256, 'elements');
  RETURN _list;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.short(_value anynonarray) RETURNS anynonarray
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$
BEGIN
  PERFORM wed_bounded.look(pg_catalog.pg_column_size(_value), 2048, 'bytes');
  RETURN _value;
END $$;
