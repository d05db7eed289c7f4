-- Writes a condition, as Postgres deparsed it, so that it can be run: casts to numeric, and what is
-- searched for, pass through wed_bounded, and so do regular expressions, lengths and exponents. What of these is
-- written there and too large is refused.
-- It reads tokens and keeps a stack of brackets; a string of the deparser's has no escapes, and it puts each operation and each
-- operand of a cast in brackets of its own.
CREATE OR REPLACE FUNCTION wed.guarded(_sql text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $guarded$
DECLARE
  _t text[];
  _n integer;
  _out text[];
  _opens integer[] := '{}';   -- where in _out each open bracket stands
  _names text[] := '{}';      -- the function it belongs to
  _argument integer[] := '{}';
  _wrapped boolean[] := '{}'; -- an inner bracket is to be closed with it
  _d integer := 0;
  _i integer := 0;
  _token text;
  _rest text;
  _next text;
  _number text;
  _literal text;
  _sought integer := 0;       -- bytes that are searched for, altogether
  _what text;                 -- how: as a text, a set of characters, the parts of a list
  _range text := '(int4range|int8range|numrange|daterange|tsrange|tstzrange)';
  _list text := $r$ARRAY\[(?:(?:'(?:[^']|'')*'|\(?-?[0-9.]+\)?)(?:::[a-z ]+)?(?:, |(?=\])))+\]$r$;
BEGIN
  IF _sql !~ '::(numeric|date|time|jsonpath)|[@|?#^~]|&&| - |<@|\m(strpos|btrim|ltrim|rtrim|split_part|string_to_array|array_to_string|to_char|to_date|to_number|to_timestamp|translate|replace|concat_ws|lpad|rpad|repeat|power|pow|format|jsonb_exists_a[nl][yl]|regexp_[a-z_]+)\(|"substring"\(|POSITION\(|TRIM\(' THEN
    RETURN _sql;
  END IF;
  _t := ARRAY(SELECT m[1] FROM regexp_matches(_sql,
    $r$('(?:[^']|'')*'|"(?:[^"]|"")*"|(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*|[0-9.]+|\s+|::|[-+*/<>=~!@#%^&|?]+|.)$r$,
    'g') AS m);
  _n := cardinality(_t);
  _out := _t;
  WHILE _i < _n LOOP
    _i := _i + 1;
    _token := _t[_i];
    IF _t[_i + 1] = '::' AND _t[_i + 2] = 'jsonpath' THEN
      _literal := replace(substr(_token, 2, length(_token) - 2), '''''', '''');
      PERFORM wed.check_path(_literal);
      _sought := _sought + wed.path_cost(_literal);
    ELSIF _token IN ('(', '[') THEN
      _d := _d + 1;
      _opens[_d] := _i;
      _names[_d] := CASE WHEN _token = '(' AND _i > 1 AND _t[_i - 1] ~ '^([A-Za-z_"]|[^\x01-\x7f])' THEN btrim(_t[_i - 1], '"') ELSE '' END;
      _argument[_d] := 1;
      _wrapped[_d] := false;
      IF _names[_d] = 'replace' THEN
        _out[_i - 1] := 'wed_bounded.replace';
      ELSIF _names[_d] = 'POSITION' AND _t[_i + 1] = '(' THEN
        IF _t[_i + 2] ~ '^''' THEN
          _sought := _sought + octet_length(_t[_i + 2]) - 1;
        ELSE
          _out[_i] := _out[_i] || 'wed_bounded.short';
          _sought := _sought + 128;
        END IF;
      ELSIF _names[_d] = 'format' THEN
        IF _t[_i + 1] !~ '^''' THEN
          RAISE EXCEPTION 'the format of format is text in quotes' USING ERRCODE = 'WF011',
            HINT = 'Write the format itself; compose text with || or concat.';
        END IF;
        PERFORM wed.check_format(replace(substr(_t[_i + 1], 2, length(_t[_i + 1]) - 2), '''''', ''''));
      ELSIF _names[_d] = 'concat_ws' THEN
        IF _t[_i + 1] ~ '^''' THEN
          _sought := _sought + octet_length(_t[_i + 1]) - 1;
        ELSE
          _out[_i] := _out[_i] || 'wed_bounded.short(';
          _wrapped[_d] := true;
          _sought := _sought + 128;
        END IF;
      END IF;
    ELSIF _token IN (')', ']') THEN
      IF _wrapped[_d] THEN _out[_i] := ')' || _out[_i]; END IF;
      IF _token = ')' AND _names[_d] IN ('', 'CASE') AND _t[_i + 1] = '::' AND _t[_i + 2] = 'numeric' THEN
        _out[_opens[_d]] := 'wed_bounded.number' || _out[_opens[_d]];
      ELSIF _token = ')' AND _names[_d] IN ('', 'CASE') AND _t[_i + 1] = '::' AND _t[_i + 2] IN ('date', 'timestamp', 'time') THEN
        _out[_opens[_d]] := 'wed_bounded.moment' || _out[_opens[_d]];
      END IF;
      _d := _d - 1;
    ELSIF _token = ',' AND _d > 0 THEN
      IF _wrapped[_d] THEN
        _out[_i] := ')' || _out[_i];
        _wrapped[_d] := false;
      END IF;
      _argument[_d] := _argument[_d] + 1;
      _next := _t[_i + 2]; -- behind one space
      IF _next = '(' AND _t[_i + 3] ~ '^''' AND _t[_i + 7] = 'COLLATE' THEN _next := _t[_i + 3]; END IF;
      IF _names[_d] IN ('lpad', 'rpad', 'repeat', 'power', 'pow') AND _argument[_d] = 2 THEN
        _number := wed.written_number(_t[_i + 1 : _i + 12]);
        IF abs(_number::numeric) > 1000 THEN
          RAISE EXCEPTION 'the second argument of % is too large', _names[_d] USING ERRCODE = 'WF011', HINT = 'At most 1000.';
        END IF;
        IF _number IS NULL OR _names[_d] IN ('power', 'pow') AND (abs(_number::numeric) > 16 OR strpos(_number, '.') > 0)
           OR _names[_d] = 'repeat' AND _t[_opens[_d] + 1] !~ '^''' THEN
          _out[_opens[_d] - 1] := 'wed_bounded.' || _names[_d];
        END IF;
      ELSIF _names[_d] ~ '^regexp_'
         OR _names[_d] = 'substring' AND _argument[_d] = 2 AND _next ~ '^''' AND _t[_i + 4] = 'text' THEN
        IF _argument[_d] = 2 OR _argument[_d] = (CASE _names[_d] WHEN 'regexp_replace' THEN 4 ELSE 3 END) THEN
          IF _next !~ '^''' OR _t[_i + 3] IS DISTINCT FROM '::' OR _t[_i + 5] NOT IN (',', ')') THEN
            RAISE EXCEPTION 'a regular expression and its flags are text in quotes' USING ERRCODE = 'WF011',
              HINT = 'Write it itself; for a pattern in an attribute use LIKE.';
          END IF;
          _literal := replace(substr(_next, 2, length(_next) - 2), '''''', '''');
          IF _argument[_d] = 2 THEN
            PERFORM wed.check_pattern(_literal);
            _out[_opens[_d]] := _out[_opens[_d]] || CASE WHEN _names[_d] IN ('regexp_count', 'regexp_split_to_array')
              THEN 'wed_bounded.matched_often(' ELSE 'wed_bounded.matched(' END;
            _out[_i] := ')' || _out[_i];
          ELSIF _literal !~ (CASE _names[_d] WHEN 'regexp_replace' THEN '^[icnmspwg]*$' ELSE '^[icnmspw]*$' END) THEN
            RAISE EXCEPTION 'the flags % are not allowed here', quote_literal(left(_literal, 20)) USING ERRCODE = 'WF011',
              HINT = 'Allowed are i, c, n, s, m, p, w; of regexp_replace also g.';
          ELSIF strpos(_literal, 'g') > 0 THEN
            _out[_opens[_d]] := replace(_out[_opens[_d]], 'wed_bounded.matched(', 'wed_bounded.matched_often(');
          END IF;
        ELSE
          IF _names[_d] = 'regexp_replace' AND _argument[_d] = 3 THEN
            _sought := _sought + CASE WHEN _next ~ '^''' THEN octet_length(_next) - 1 ELSE 128 END;
          END IF;
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.short(';
            _wrapped[_d] := true;
          END IF;
        END IF;
      ELSE
        _what := CASE WHEN _argument[_d] = 2 AND _names[_d] IN ('btrim', 'ltrim', 'rtrim', 'translate') THEN 'set'
          WHEN _argument[_d] = 2 AND _names[_d] IN ('strpos', 'split_part', 'string_to_array', 'array_to_string', 'to_char',
                 'to_date', 'to_number', 'to_timestamp', 'replace')
            OR _argument[_d] = 3 AND _names[_d] IN ('translate', 'string_to_array', 'array_to_string', 'replace', 'lpad', 'rpad')
            THEN 'text'
          WHEN _argument[_d] = 2 AND _names[_d] IN ('jsonb_exists_any', 'jsonb_exists_all') THEN 'parts' END;
        IF _what = 'set' THEN
          _sought := _sought + wed.written_set(_next);
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.few(';
            _wrapped[_d] := true;
          END IF;
        ELSIF _what = 'parts' THEN
          _rest := substring(array_to_string(_t[_i + 2 :], '') FROM ('^' || _list));
          _sought := _sought + CASE WHEN _next ~ '^''' THEN octet_length(_next) - 2
            WHEN _rest IS NOT NULL THEN wed.written_list(_rest) WHEN _next = 'ARRAY' THEN 128 ELSE 256 END;
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.short(';
            _wrapped[_d] := true;
          END IF;
        ELSIF _what = 'text' THEN
          _sought := _sought + CASE WHEN _next ~ '^''' THEN octet_length(_next) - 1 WHEN _next = 'NULL' THEN 1 ELSE 128 END;
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.short(';
            _wrapped[_d] := true;
          END IF;
        END IF;
      END IF;
    ELSIF _d > 0 AND _names[_d] = 'TRIM' AND _token IN ('BOTH', 'LEADING', 'TRAILING') THEN
      IF _t[_i + 2] <> 'FROM' THEN
        _sought := _sought + wed.written_set(_t[_i + 2]);
        IF _t[_i + 2] !~ '^''' THEN
          _out[_i] := _out[_i] || ' wed_bounded.few(';
          _wrapped[_d] := true;
        END IF;
      END IF;
    ELSIF _d > 0 AND _names[_d] = 'TRIM' AND _token = 'FROM' AND _wrapped[_d] THEN
      _out[_i] := ') FROM';
      _wrapped[_d] := false;
    ELSIF _d > 0 AND _token IN ('~', '!~', '~*', '!~*') AND _t[_i - 1] ~ '^\s' THEN
      _rest := array_to_string(_t[_i + 1 : _i + 7], '');
      _literal := substring(_rest FROM $r$^ (?:similar_to_escape\()?'((?:[^']|'')*)'::text\)$r$);
      IF _literal IS NULL THEN
        RAISE EXCEPTION 'a regular expression is text in quotes' USING ERRCODE = 'WF011',
          HINT = 'Write it itself; for a pattern in an attribute use LIKE.';
      END IF;
      PERFORM wed.check_pattern(replace(_literal, '''''', ''''), _rest ~ '^ similar_to_escape');
      _out[_opens[_d]] := _out[_opens[_d]] || 'wed_bounded.matched(';
      _out[_i] := ') ' || _token;
    ELSIF _token IN ('~~', '!~~', '~~*', '!~~*') AND _t[_i + 2] IN ('ANY', 'ALL') THEN
      IF array_to_string(_t[_i + 3 :], '') !~ $r$^ \((?:ARRAY\['(?:[^']|'')*'::text(?:, '(?:[^']|'')*'::text)*\]|'(?:[^'\\]|'')*'::text\[\])\)$r$ THEN
        RAISE EXCEPTION 'the patterns of LIKE ANY are written there, as text in quotes' USING ERRCODE = 'WF011',
          HINT = 'Write LIKE ANY (ARRAY[...]), or several LIKE joined by OR.';
      END IF;
      _rest := substring(array_to_string(_t[_i + 3 :], '') FROM $r$^ \((ARRAY\['(?:[^']|'')*'::text(?:, '(?:[^']|'')*'::text)*\]|'(?:[^'\\]|'')*')$r$);
      _sought := _sought + (SELECT sum(octet_length(m[1]) - 2 + CASE WHEN _token ~ '\*' THEN 8 ELSE 1 END
                                       * (1 + CASE WHEN _rest ~ '^''' THEN length(_rest) - length(replace(_rest, ',', '')) ELSE 0 END))
                            FROM regexp_matches(_rest, $r$('(?:[^']|'')*')$r$, 'g') m);
    ELSIF _d > 0 AND _token IN ('@>', '<@', '&&', '?|', '?&', '~~', '!~~', '~~*', '!~~*', '-') AND _t[_i + 1] = ' ' THEN
      _next := _t[_i + 2];
      IF _next = '(' AND _t[_i + 3] ~ '^''' AND _t[_i + 7] = 'COLLATE' THEN _next := _t[_i + 3]; END IF;
      _rest := array_to_string(_t[_opens[_d] + 1 : _i - 1], '');
      IF _token !~ '[-~]' AND (_rest ~ $r$^'(?:[^']|'')*'::[a-z ]+(?:\[\])? $$r$ OR _rest ~ ('^' || _list || ' $')) THEN
        -- What is searched for stands on the left, and is written there.
        _sought := _sought + wed.written_list(_rest);
      ELSIF _token IN ('@>', '<@', '&&') AND (_rest ~ ('^' || _range || '\(') OR _next ~ ('^' || _range || '$') AND _t[_i + 3] = '(') THEN
        -- A range takes no longer than its bounds. By the call, not the name alone: an attribute may be called so.
        NULL;
      ELSE
        IF _token IN ('@>', '<@', '&&') AND _rest !~ '^("[^"]*"|[^[:space:]("]+) $' THEN
          _out[_opens[_d]] := _out[_opens[_d]] || 'wed_bounded.list(';
          _out[_i] := ') ' || _token;
        END IF;
        IF _next !~ '^(''|[0-9])' THEN
          _out[_i] := _out[_i] || ' wed_bounded.short(';
          _wrapped[_d] := true;
        END IF;
        IF _next = 'ARRAY' THEN
          _rest := substring(array_to_string(_t[_i + 2 :], '') FROM ('^' || _list));
        END IF;
        _sought := _sought + CASE
          WHEN _next ~ '^''' THEN octet_length(_next) - 2 + CASE WHEN _token IN ('~~', '!~~') THEN 1 WHEN _token ~ '~~\*' THEN 8 ELSE 0 END
          WHEN _next = 'ARRAY' AND _rest IS NOT NULL THEN wed.written_list(_rest)
          WHEN _token = '-' THEN 0
          WHEN _token ~ '~~' OR _next IN ('ARRAY', 'jsonb_build_object', 'jsonb_build_array') THEN 128 ELSE 256 END;
      END IF;
    ELSIF _token = '^' THEN
      _number := wed.written_number(_t[_i + 1 : _i + 12]);
      IF abs(_number::numeric) > 1000 THEN
        RAISE EXCEPTION 'a power''s exponent is too large' USING ERRCODE = 'WF011', HINT = 'At most 1000.';
      END IF;
      IF _number IS NULL OR abs(_number::numeric) > 16 OR strpos(_number, '.') > 0 THEN
        _out[_opens[_d]] := _out[_opens[_d]] || 'wed_bounded.power(';
        _out[_i] := ',';
        _wrapped[_d] := true;
      END IF;
    END IF;
  END LOOP;
  IF _sought > 1024 THEN
    RAISE EXCEPTION 'the predicate searches for more than 1024 bytes' USING ERRCODE = 'WF011',
      HINT = 'Use fewer or shorter patterns of LIKE; compare whole values with IN (...). What is no constant counts 128, an array or document 256.';
  END IF;
  RETURN array_to_string(_out, '');
END $guarded$;
