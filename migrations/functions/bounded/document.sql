-- Text that is about to be read as a document: its numbers have few digits, written out. (What stands in quotes is no
-- number.)
CREATE OR REPLACE FUNCTION wed_bounded.document(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.look(0, 1, '');
  IF _text ~ '[0-9.][eE][-+]?0*[1-9][0-9]{3}' AND
     regexp_replace(_text, '"(?:[^"\\]|\\.)*"', '', 'g') ~ '[0-9.][eE][-+]?0*[1-9][0-9]{3}' THEN
    RAISE EXCEPTION 'a number of a document has too many digits' USING ERRCODE = 'WF031',
      HINT = 'At most 1000 digits before the point and behind it; write larger ones as text.';
  END IF;
  RETURN _text;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.document(_list text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed_bounded.document(one) FROM unnest(_list) one;
  RETURN _list;
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.document(_value anyelement) RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
