-- The token that a text begins with, as Postgres's lexer reads it, or what is wrong there. Only what is between
-- quotes or comment signs may be longer than _near, of which 300 characters are there unless the text ends: finding
-- a place in a long text takes long.
CREATE OR REPLACE FUNCTION wed.token_at(_near text, _text text, _at integer, OUT token text, OUT fault text)
LANGUAGE plpgsql IMMUTABLE AS $check$
DECLARE
  _rest text;
BEGIN
  -- What means nothing here: space, digits, commas, dots, operators without - / and what follows.
  token := substring(_near FROM $r$^[^-A-Za-z_'"$;\\`()\[\]/\x80-\U0010ffff]+$r$);
  IF token IS NULL THEN
    token := substring(_near FROM $r$^(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*$r$);
    IF length(token) > 250 THEN
      fault := 'a name of more than 250 characters';
    ELSIF token IN ('e', 'E') AND substr(_near, 2, 1) = '''' THEN
      token := substring(substr(_text, _at) FROM $r$^[eE]'(?:[^'\\]|''|\\.)*'$r$);
      fault := CASE WHEN token IS NULL THEN 'an unterminated string' END;
    END IF;
  END IF;
  IF token IS NOT NULL OR fault IS NOT NULL THEN RETURN; END IF;
  token := left(_near, 1);
  IF token IN ('(', '[', ')', ']') OR token IN ('-', '/') AND left(_near, 2) NOT IN ('--', '/*') THEN RETURN; END IF;
  -- A quote at the end of what is near may be half of one.
  IF token = '''' AND length(substring(_near FROM $r$^'(?:[^']|'')*'$r$)) < length(_near) THEN
    token := substring(_near FROM $r$^'(?:[^']|'')*'$r$);
    RETURN;
  END IF;
  _rest := substr(_text, _at);
  CASE token
    WHEN '''' THEN
      token := substring(_rest FROM $r$^'(?:[^']|'')*'$r$);
      fault := CASE WHEN token IS NULL THEN 'an unterminated string' END;
    WHEN '"' THEN
      token := substring(_rest FROM $r$^"(?:[^"]|"")*"$r$);
      fault := CASE WHEN token IS NULL THEN 'an unterminated quoted name' END;
    WHEN '$' THEN
      token := substring(_near FROM $r$^\$(?:(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_]|[^\x01-\x7f])*)?\$$r$);
      IF token IS NULL THEN
        fault := quote_literal('$');
      ELSIF strpos(substr(_rest, length(token) + 1), token) = 0 THEN
        fault := 'an unterminated string';
      ELSE
        token := left(_rest, strpos(substr(_rest, length(token) + 1), token) - 1 + 2 * length(token));
      END IF;
    WHEN '-' THEN
      token := substring(_rest FROM $r$^[^\n\r]*$r$);
    WHEN '/' THEN
      token := wed.comment_at(_rest);
      fault := CASE WHEN token IS NULL THEN 'an unterminated comment' END;
    ELSE
      fault := quote_literal(token);
  END CASE;
END $check$;
