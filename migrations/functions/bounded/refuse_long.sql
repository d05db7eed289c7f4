-- What a text, array or document is searched for: searching takes the product of both lengths.
CREATE OR REPLACE FUNCTION wed_bounded.refuse_long(_what text, _most integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RAISE EXCEPTION 'a value that is searched for has %', _what USING ERRCODE = 'WF032',
    HINT = format('At most %s. Compare whole values with =.', _most);
END $$;
