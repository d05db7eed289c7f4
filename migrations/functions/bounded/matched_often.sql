CREATE OR REPLACE FUNCTION wed_bounded.matched_often(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text) > 1024 THEN
    RAISE EXCEPTION 'a text of % bytes is looked through for all matches of a regular expression', octet_length(_text)
      USING ERRCODE = 'WF032', HINT = 'At most 1024. Use replace, split_part or string_to_array, or look at a part of it.';
  END IF;
  RETURN _text;
END $$;
