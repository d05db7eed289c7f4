-- The brackets that are open after a token; refuses one that closes another than the last, and more than 200.
CREATE OR REPLACE FUNCTION wed.check_bracket(_open text, _token text, _at integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $check$
BEGIN
  IF _token IN ('(', '[') THEN
    IF length(_open) >= 200 THEN
      RAISE EXCEPTION 'the predicate nests more than 200 brackets' USING ERRCODE = 'WF011',
        HINT = 'Write it with fewer brackets.';
    END IF;
    RETURN _open || _token;
  ELSIF _token IN (')', ']') THEN
    IF right(_open, 1) IS DISTINCT FROM translate(_token, ')]', '([') THEN
      RAISE EXCEPTION 'a closing bracket of the predicate was never opened' USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at), HINT = 'Balance the brackets.';
    END IF;
    RETURN left(_open, -1);
  END IF;
  RETURN _open;
END $check$;
