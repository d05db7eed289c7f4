CREATE OR REPLACE FUNCTION wed_bounded.repeat(_text text, _times integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text)::bigint * _times > 65536 THEN
    PERFORM wed_bounded.refuse_length(format('%s bytes are to be repeated %s times', octet_length(_text), _times), 65536);
  END IF;
  -- Of nothing Postgres counts the times.
  RETURN CASE WHEN _text = '' THEN '' ELSE repeat(_text, _times) END;
END $$;
