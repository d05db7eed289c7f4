-- Refuses a regular expression that could run for long. Postgres makes an automaton of it: the time is a matter
-- of its size and of the text's length, if it refers to nothing that matched before and does not look around.
-- The guard of the hosts judges in the same way (host/guard/src/pattern.rs).
CREATE OR REPLACE FUNCTION wed.check_pattern(_pattern text, _similar boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $check$
DECLARE
  _bare text := regexp_replace(_pattern, '^\(\?[icnmspw]+\)', '');
  _size numeric;
  _why text;
  _group text[];
  _endless boolean;
  _open boolean;
  _bad boolean;
BEGIN
  IF octet_length(_pattern) > 400 THEN
    _bare := '';
    _why := 'could take very long';
  END IF;
  IF regexp_replace(_bare, '\\\\', '', 'g') ~ '\\[1-9]' THEN
    _why := 'refers to what matched before';
  END IF;
  -- Without escapes and brackets, of which a mark is left each: for one of several characters, for a certain one,
  -- for a place or a group, which may be none.
  _bare := regexp_replace(regexp_replace(regexp_replace(regexp_replace(_bare, '\\[AmMyYZ]', E'\x03', 'g'),
    '\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[A-Za-z0-9])', E'\x01', 'g'), '\\.', E'\x02', 'g'),
    '\[\^?\]?(?:\[:[a-z]+:\]|\[\.[^]]*\.\]|\[=[^]]*=\]|\[(?![:.=])|[^][])*\]', E'\x01', 'g');
  SELECT (octet_length(_pattern) + coalesce(sum(n) FILTER (WHERE m[1] <> ')'), 0))
         * coalesce(exp(sum(ln(greatest(n, 1)::float8)) FILTER (WHERE m[1] = ')')), 1)
  INTO _size FROM regexp_matches(_bare, '(.)\{(\d+)(?:,(\d*))?\}', 'g') m,
    LATERAL (SELECT CASE WHEN length(m[2]) > 3 OR length(m[3]) > 3 THEN 1000
                    ELSE greatest(m[2]::integer, nullif(m[3], '')::integer) END AS n) x;
  _why := CASE WHEN _pattern ~ '^\*\*\*' THEN 'begins with a director' WHEN _bare ~ '\(\?(?!:)' THEN 'looks around'
               WHEN _size >= 400.5 THEN 'could take very long' ELSE _why END;
  -- A group repeated without end, of something repeated without end and nothing certain that must come in between.
  _bare := replace(_bare, '(?:', '(');
  LOOP
    _group := regexp_match(_bare, '\(([^()]*)\)([*+]|\{\d+,\})?');
    EXIT WHEN _group IS NULL OR _why IS NOT NULL;
    SELECT bool_or(endless), bool_or(NOT fixed), bool_or(endless AND NOT fixed) INTO _endless, _open, _bad
    FROM regexp_split_to_table(_group[1], '\|') b, LATERAL (SELECT b ~ '[*+]|,\}' AS endless,
      regexp_replace(b, '(?:.)(?:[*+?]|\{[^}]*\})', '', 'g') ~ E'[^\x03.^$?]' AS fixed) x;
    IF _bad AND _group[2] IS NOT NULL THEN
      _why := 'repeats without end what is repeated without end';
    END IF;
    _bare := regexp_replace(_bare, '\([^()]*\)', CASE WHEN NOT _endless THEN E'\x03' WHEN _open THEN E'\x03+'
      ELSE 'f' END);
  END LOOP;
  IF _why IS NULL THEN
    BEGIN
      PERFORM 'x' ~ CASE WHEN _similar THEN similar_to_escape(_pattern) ELSE _pattern END;
    EXCEPTION WHEN invalid_regular_expression THEN
      _why := 'cannot be read: ' || SQLERRM;
    END;
  END IF;
  IF _why IS NOT NULL THEN
    RAISE EXCEPTION 'the regular expression % %', quote_literal(left(_pattern, 60)), _why USING ERRCODE = 'WF011',
      HINT =
        'Make it shorter and repeat less; a repeated group counts as often as it is repeated. Join two conditions '
        'by AND instead of looking around.';
  END IF;
END $check$;
