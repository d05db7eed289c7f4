-- Refuses a fragment that is empty, too long, or holds a control character.
CREATE OR REPLACE FUNCTION wed.check_length(_text text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $check$
BEGIN
  IF _text IS NULL OR btrim(_text, E' \t\r\n\v\f') = '' THEN
    RAISE EXCEPTION 'a condition needs a predicate' USING ERRCODE = 'WF011',
      HINT = 'Write what stands after WHERE, for example: a1 = ''ready'' AND a2 IS NULL';
  END IF;
  IF octet_length(_text) > 16384 THEN
    RAISE EXCEPTION 'the predicate has % bytes; 16384 are allowed', octet_length(_text)
      USING ERRCODE = 'WF011', HINT = 'Split it into several triggers.';
  END IF;
  IF _text ~ E'[\x01-\x08\x0e-\x1f]' THEN
    RAISE EXCEPTION 'the predicate holds a control character' USING ERRCODE = 'WF011',
      HINT = 'Remove it; to compare with one, write it as E''\x01'' or compare with an attribute that holds it.';
  END IF;
END $check$;
