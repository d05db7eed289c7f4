-- As Postgres's own, where what it makes stays below 4 MiB.
CREATE OR REPLACE FUNCTION wed_bounded.replace(_text text, _from text, _to text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(_text)::bigint / greatest(octet_length(_from), 1) * octet_length(_to) > 4194304 THEN
    RAISE EXCEPTION 'the text could grow to more than 4 MiB by this replacement' USING ERRCODE = 'WF032',
      HINT = 'Replace by something shorter, or in a shorter text.';
  END IF;
  RETURN replace(_text, _from, _to);
END $$;
