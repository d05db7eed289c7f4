-- Refuses a fragment that could be anything but one expression: read token by token as Postgres's
-- lexer does, it must be balanced and hold no semicolon, no parameter. Returns it with spaces for its comments.
CREATE OR REPLACE FUNCTION wed.check_fragment(_text text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $check$
DECLARE
  _at integer := 1;
  _near text := '';   -- the text from there on, as far as one token needs it
  _found record;
  _written record;
  _open text := '';
  _before text;
  _bare text := '';
  _last text := '';   -- its last character
BEGIN
  PERFORM wed.check_length(_text);
  LOOP
    IF length(_near) < 300 THEN _near := substr(_text, _at, 450); END IF;
    EXIT WHEN _near = '';
    IF lower(_before) IN ('variadic', 'operator') OR ltrim(_near, E' \t\r\n\v\f') LIKE '.%' THEN
      PERFORM wed.check_name(_before, _near, _at);
    END IF;
    _found := wed.token_at(_near, _text, _at);
    IF _found.fault IS NOT NULL THEN
      RAISE EXCEPTION '% is not allowed in a predicate', _found.fault USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at),
        HINT = 'A predicate is one expression over the attributes, as after WHERE.';
    END IF;
    IF _found.token IN ('(', '[', ')', ']') THEN _open := wed.check_bracket(_open, _found.token, _at); END IF;
    _at := _at + length(_found.token);
    _near := substr(_near, length(_found.token) + 1);
    IF left(_found.token, 2) IN ('--', '/*') THEN
      _bare := _bare || regexp_replace(_found.token, '[^\n\r]', ' ', 'g');
      _last := ' ';
      CONTINUE;
    END IF;
    -- Names alone may be written in another way: behind a digit they are part of a number.
    IF lower(_found.token) = 'local' OR strpos('0123456789.', _last) > 0 THEN
      _written := wed.portable_token(_bare, _found.token, _before);
      _bare := left(_bare, length(_bare) - _written.taken) || _written.token;
      _last := right(_written.token, 1);
    ELSE
      _bare := _bare || _found.token;
      _last := right(_found.token, 1);
    END IF;
    -- White space joins what it stands between; of a string nothing is asked.
    IF btrim(_found.token, E' \t\r\n\v\f') <> '' THEN
      _before := CASE WHEN _found.token IN ('"pg_catalog"', '"wed_flow"') THEN btrim(_found.token, '"')
                      WHEN left(_found.token, 1) IN ('(', '[', ']', ')', '"') THEN right(_found.token, 1)
                      WHEN _found.token ~ $r$^[A-Za-z_]|^[^\x01-\x7f]$r$ AND right(_found.token, 1) <> ''''
                        THEN _found.token END;
    END IF;
  END LOOP;
  IF _open <> '' THEN
    RAISE EXCEPTION 'an opening bracket of the predicate is never closed' USING ERRCODE = 'WF011',
      HINT = 'Balance the brackets.';
  END IF;
  IF btrim(_bare, E' \t\r\n\v\f') = '' THEN
    RAISE EXCEPTION 'a condition needs a predicate' USING ERRCODE = 'WF011',
      HINT = 'It holds a comment only. Write what stands after WHERE, for example: a1 = ''ready'' AND a2 IS NULL';
  END IF;
  RETURN _bare;
END $check$;
