-- Refuses a fragment that could be anything but one expression: read token by token as Postgres's
-- lexer does, it must be balanced and hold no semicolon, no parameter. Returns it with spaces for its comments.
CREATE OR REPLACE FUNCTION wed.check_fragment(_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $check$
DECLARE
  _at integer := 1;
  _rest text;
  _token text;
  _open text := '';
  _next text;
  _fault text;
  _before text;
  _bare text := '';
  _depth integer;
  _digits text;
  _number text;
  _hint text := 'A predicate is one expression over the attributes, as after WHERE.';
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
  LOOP
    _rest := substr(_text, _at);
    EXIT WHEN _rest = '';
    -- Those of these schemas are what is meant without one.
    IF lower(_before) NOT IN ('pg_catalog', 'wed_flow') AND _before ~ $r$([A-Za-z0-9_$")]|[^\x01-\x7f]|\])$r$ AND _rest ~ '^\s*\.\s*[^0-9[:space:]]' THEN
      RAISE EXCEPTION 'names are written without a table or schema' USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at), HINT = 'Write the name alone.';
    ELSIF lower(_before) = 'variadic' OR lower(_before) = 'operator' AND _rest ~ '^\s*\('
          AND _rest !~* replace('^G\(G("?pg_catalog"?G\.G)?([<>=~!@#%^&|?+*]|-(?!-)|/(?!\*))+G\)', 'G', '(?:\s|/\*[^*]*\*/|--[^\n]*\n)*') THEN
      RAISE EXCEPTION '% is not allowed in a predicate', upper(_before) USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at), HINT = 'Write the operator''s sign, the arguments one by one.';
    END IF;
    -- What means nothing here: space, digits, commas, dots, operators without - / and what follows.
    _token := substring(_rest FROM $r$^[^-A-Za-z_'"$;\\`()\[\]/\x80-\U0010ffff]+$r$);
    IF _token IS NULL THEN
      _token := substring(_rest FROM $r$^(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*$r$);
      IF _token IN ('e', 'E') AND substr(_rest, 2, 1) = '''' THEN
        _token := substring(_rest FROM $r$^[eE]'(?:[^'\\]|''|\\.)*'$r$);
        _fault := CASE WHEN _token IS NULL THEN 'an unterminated string' END;
      END IF;
    END IF;
    IF _token IS NULL AND _fault IS NULL THEN
      CASE left(_rest, 1)
        WHEN '''' THEN
          _token := substring(_rest FROM $r$^'(?:[^']|'')*'$r$);
          _fault := CASE WHEN _token IS NULL THEN 'an unterminated string' END;
        WHEN '"' THEN
          _token := substring(_rest FROM $r$^"(?:[^"]|"")*"$r$);
          _fault := CASE WHEN _token IS NULL THEN 'an unterminated quoted name' END;
        WHEN '$' THEN
          _token := substring(_rest FROM $r$^\$(?:(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_]|[^\x01-\x7f])*)?\$$r$);
          IF _token IS NULL THEN
            _fault := quote_literal('$');
          ELSIF strpos(substr(_rest, length(_token) + 1), _token) = 0 THEN
            _fault := 'an unterminated string';
          ELSE
            _token := left(_rest, strpos(substr(_rest, length(_token) + 1), _token) - 1 + 2 * length(_token));
          END IF;
        WHEN '-', '/' THEN
          _token := left(_rest, 1);
          IF left(_rest, 2) = '--' THEN
            _token := substring(_rest FROM $r$^[^\n\r]*$r$);
          ELSIF left(_rest, 2) = '/*' THEN
            _token := '/*';
            _depth := 1;
            WHILE _depth > 0 LOOP
              _next := substring(substr(_rest, length(_token) + 1) FROM $r$^(?:[^*/]|\*(?!/)|/(?!\*))*(?:\*/|/\*)$r$);
              IF _next IS NULL THEN
                _fault := 'an unterminated comment';
                EXIT;
              END IF;
              _token := _token || _next;
              _depth := _depth + CASE right(_next, 2) WHEN '*/' THEN -1 ELSE 1 END;
            END LOOP;
          END IF;
        WHEN '(', '[' THEN
          _token := left(_rest, 1);
          _open := _open || _token;
          IF length(_open) > 200 THEN
            RAISE EXCEPTION 'the predicate nests more than 200 brackets' USING ERRCODE = 'WF011',
              HINT = 'Write it with fewer brackets.';
          END IF;
        WHEN ')', ']' THEN
          _token := left(_rest, 1);
          IF right(_open, 1) IS DISTINCT FROM translate(_token, ')]', '([') THEN
            RAISE EXCEPTION 'a closing bracket of the predicate was never opened' USING ERRCODE = 'WF011',
              DETAIL = format('At character %s of the predicate.', _at), HINT = 'Balance the brackets.';
          END IF;
          _open := left(_open, -1);
        ELSE
          _fault := quote_literal(left(_rest, 1));
      END CASE;
    END IF;
    IF _fault IS NOT NULL THEN
      RAISE EXCEPTION '% is not allowed in a predicate', _fault USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at), HINT = _hint;
    END IF;
    _at := _at + length(_token);
    IF _token ~ '^(--|/\*)' THEN
      _bare := _bare || regexp_replace(_token, '[^\n\r]', ' ', 'g');
      CONTINUE;
    END IF;
    -- What follows digits without a space is a number as later versions write it: with underscores, to another base.
    _digits := CASE WHEN _token ~ '^[A-Za-z_]' THEN substring(_bare FROM '[0-9.]+$') END;
    _number := CASE WHEN _digits IS NOT NULL AND current_setting('server_version_num')::integer < 160000 THEN wed.plain_number(_digits, _token) END;
    IF _number IS NOT NULL THEN
      _bare := left(_bare, -length(_digits)) || repeat(' ', length(_digits) + length(_token) - length(_number));
      _token := _number;
    END IF;
    -- Earlier versions know no AT LOCAL; it is UTC where conditions are evaluated.
    IF lower(_token) = 'local' AND lower(_before) = 'at' AND current_setting('server_version_num')::integer < 170000 THEN
      _bare := _bare || 'TIME ZONE ''UTC''';
      _before := NULL;
      CONTINUE;
    END IF;
    _bare := _bare || _token;
    -- White space joins what it stands between; of a string nothing is asked.
    IF _token !~ '^\s+$' THEN
      _before := CASE WHEN _token IN ('"pg_catalog"', '"wed_flow"') THEN btrim(_token, '"')
                      WHEN _token ~ '^[(\[\])"]' THEN right(_token, 1)
                      WHEN _token ~ $r$^[A-Za-z_]|^[^\x01-\x7f]$r$ AND right(_token, 1) <> '''' THEN _token END;
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
