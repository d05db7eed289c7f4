-- What a regular expression is held against: 8 KiB, and 1 KiB where it is looked for again and again.
CREATE OR REPLACE FUNCTION wed_bounded.matched(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text) > 8192 THEN
    RAISE EXCEPTION 'a text of % bytes is held against a regular expression', octet_length(_text) USING ERRCODE = 'WF032',
      HINT = 'At most 8192. Use LIKE, or look at a part of it: left(text, 1000).';
  END IF;
  RETURN _text;
END $$;
