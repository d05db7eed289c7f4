-- As Postgres's own, where what they make is not too long.
CREATE OR REPLACE FUNCTION wed_bounded.refuse_length(_what text, _most integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RAISE EXCEPTION '%', _what USING ERRCODE = 'WF032', HINT = format('At most %s.', _most);
END $$;
