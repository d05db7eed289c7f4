-- What a set of characters counts: four times each, and the most of it where it is not written there.
CREATE OR REPLACE FUNCTION wed.written_set(_token text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _length integer := CASE WHEN _token ~ '^''' THEN length(replace(_token, '''''', '''')) - 2 WHEN _token = 'NULL' THEN 0 ELSE 64 END;
BEGIN
  IF _length > 64 THEN
    RAISE EXCEPTION 'a set of more than 64 characters' USING ERRCODE = 'WF011',
      HINT = 'Each character of the text is looked for in it; name fewer, or use a regular expression.';
  END IF;
  RETURN 4 * _length;
END $$;
