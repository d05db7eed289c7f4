-- Refuses an analysed expression whose values could take too much memory, all intermediate ones together, when every
-- attribute is as large as its row may be: each text, array or document is made anew by everything that is made of
-- it. Also a form of a function that the deparsed text does not tell apart: substring(text, text) takes a regular
-- expression, which is written there.
CREATE OR REPLACE FUNCTION wed.check_work(_tree text) RETURNS integer
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _part text[];
  _costs bigint[] := '{}';     -- how often what a node gives is made anew in those around it
  _kinds text[] := '{}';
  _children integer[] := '{}';
  _d integer := 0;
  _around bigint;
  _cost bigint;
  _work double precision := 0; -- in parts as large as a row, 256 kB
  _formats text[] := '{}';     -- of format: what it is given
  _name text;
  _wide boolean;
  _type text;
  _types text[] := '{}';
  _conversions integer := 0;   -- of documents and arrays to text, or the other way round
  _extracted integer := 0;     -- texts that are taken out of documents
  _operator oid;
  _again integer[] := '{}';    -- how many around a node make the document anew that it gives
  _below integer[] := '{}';    -- and around what is in it
  _documents integer := 0;     -- of an attribute's size, that are made
  _compared integer := 0;
  _comparing oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprname IN ('=', '<>', '<', '<=', '>', '>=') AND oprleft = 'jsonb'::regtype);
  _extracting oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprname IN ('->>', '#>>'));
  _making oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprname IN ('||', '-', '#-') AND oprresult = 'jsonb'::regtype);
  _joining oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprcode IN ('textanycat'::regproc, 'anytextcat'::regproc));
  -- What makes text or a document of documents and arrays.
  _writing text := '^(to_jsonb?|array_to_json|array_to_string|jsonb_object|jsonb?_build_(array|object)|concat|concat_ws|format)\(';
  _held integer[] := '{}';     -- how many documents a node's value may hold
  _zones boolean[] := '{}';    -- whether a node gives the name of a time zone, or is a branch of what does
  _zone boolean;
  _more integer;
  _uses integer;
BEGIN
  FOR _part IN SELECT regexp_matches(_tree, '(\{)([A-Z_]+)([^{}]*)|\}([^{}]*)', 'g') LOOP
    IF _part[1] IS NULL THEN
      _d := _d - 1;
      CONTINUE WHEN _d = 0;
      -- The type of a cast stands behind what is cast.
      IF _types[_d] IS NULL AND strpos(_part[4], ':resulttype ') > 0 THEN
        _types[_d] := (SELECT t.typname FROM pg_type t WHERE t.oid = substring(_part[4] FROM ':resulttype (\d+)')::oid);
      END IF;
      -- All that are in an array, or are joined, and the most of those that one is chosen from.
      _held[_d + 1] := CASE
        WHEN _kinds[_d + 1] IN ('NULLTEST', 'BOOLEXPR', 'BOOLEANTEST', 'SCALARARRAYOPEXPR', 'DISTINCTEXPR', 'ROWCOMPARE', 'ROWCOMPAREEXPR') THEN 0
        WHEN _types[_d + 1] IS NULL THEN _held[_d + 1]
        WHEN _types[_d + 1] ~ '^_?jsonb?$' THEN greatest(_held[_d + 1], 1)
        WHEN _types[_d + 1] ~ '^_' THEN _held[_d + 1] ELSE 0 END;
      _held[_d] := CASE WHEN _kinds[_d] ~ '^(CASE|COALESCE|MINMAX)' THEN greatest(_held[_d], _held[_d + 1]) ELSE _held[_d] + _held[_d + 1] END;
      _more := greatest(_held[_d + 1] - 1, 0);
      IF _kinds[_d] ~ _writing AND _types[_d + 1] ~ '^_|^(jsonb?|bytea)$' THEN
        -- Each as often as a format says.
        _uses := CASE WHEN _kinds[_d] LIKE 'format(%' THEN coalesce(wed.format_uses(_formats[_d], _children[_d] - 1), 64) ELSE 1 END;
        _conversions := _conversions + 4 * _uses * (1 + _more);
        _work := _work + _costs[_d] * _uses * (1 + _more) * CASE _types[_d + 1] WHEN 'jsonb' THEN 6 WHEN '_numeric' THEN 12 WHEN '_jsonb' THEN 12 WHEN 'json' THEN 8 WHEN 'bytea' THEN 8 ELSE 2 END;
      END IF;
      IF _kinds[_d] = 'COERCEVIAIO' THEN
        _type := _types[_d];
        IF _types[_d + 1] ~ '^_|^jsonb?$' AND _type ~ '^_|^text$|^varchar$|^jsonb?$'
           OR _type ~ '^_|^jsonb?$' AND _types[_d + 1] ~ '^text$|^varchar$' THEN
          _conversions := _conversions + 4 * (1 + _more);
          _work := _work + (1 + _costs[_d]) * (1 + _more) * CASE _types[_d + 1] WHEN 'jsonb' THEN 6 WHEN '_numeric' THEN 12 ELSE 8 END;
        END IF;
        -- Text of an attribute's size may hold more values than a document of that size.
        IF _kinds[_d + 1] <> 'CONST' AND _types[_d + 1] IS DISTINCT FROM 'jsonb' THEN
          _documents := _documents + CASE WHEN _type = 'jsonb' THEN 2 + 3 * _again[_d] WHEN _type = 'json' THEN 3 * _again[_d]
                                          WHEN _type ~ '^_' THEN _again[_d] ELSE 0 END;
        END IF;
      END IF;
      CONTINUE;
    END IF;
    _around := 0;
    _zone := false;
    IF _d > 0 THEN
      _around := _costs[_d];
      _children[_d] := _children[_d] + 1;
      IF _kinds[_d] LIKE 'format(%' THEN
        -- Each argument is in what it makes as often as the format says.
        IF _children[_d] = 1 THEN
          _formats[_d] := CASE WHEN _part[2] = 'CONST' THEN wed.constant_text(_part[3]) END;
          _around := 0;
          _work := _work + _costs[_d] / 262144.0 * (SELECT coalesce(sum(left(m[1], 4)::integer), 0)
            FROM regexp_matches(_formats[_d], '%(?:[0-9]+\$)?-?([0-9]+)[^0-9$]', 'g') m);
        ELSE
          _around := _costs[_d] * coalesce(wed.format_uses(_formats[_d], _children[_d] - 1), 64);
        END IF;
      END IF;
      IF _children[_d] = 2 AND _costs[_d] > 64 AND _kinds[_d] ~ '^(repeat|[lr]pad)\(' THEN
        _work := _work + _costs[_d] * CASE WHEN _part[2] = 'CONST' AND _kinds[_d] LIKE '_pad(%' THEN 0.016 ELSE 0.25 END;
      END IF;
      -- What is put in for each byte at most.
      IF _kinds[_d] LIKE 'replace(%' AND _children[_d] = 3 THEN
        _work := _work + _costs[_d] * CASE WHEN _part[2] = 'CONST' THEN greatest(1, least(16, coalesce(substring(_part[3] FROM ':constvalue (\d+) \[')::integer, 5) - 4)) ELSE 16 END;
      END IF;
      IF _kinds[_d] = '"substring"(text,text)' AND _children[_d] = 2 AND _part[2] <> 'CONST' THEN
        RAISE EXCEPTION 'a regular expression is text in quotes' USING ERRCODE = 'WF011',
          HINT = 'Write it itself; for a position write substr(text, start, length).';
      END IF;
      -- A zone, or a choice of several: each of them is written there.
      _zone := _kinds[_d] LIKE 'timezone(text,%' AND _children[_d] = 1 OR _kinds[_d] LIKE 'date_trunc(%,text)' AND _children[_d] = 3
        OR _kinds[_d] LIKE 'make_timestamptz(%,text)' AND _children[_d] = 7
        OR _zones[_d] AND CASE _kinds[_d] WHEN 'CASE' THEN _part[2] = 'WHEN' OR _children[_d] > 1
          WHEN 'CASEEXPR' THEN _part[2] = 'CASEWHEN' OR _children[_d] > 1
          WHEN 'WHEN' THEN _children[_d] = 2 WHEN 'CASEWHEN' THEN _children[_d] = 2
          WHEN 'COALESCE' THEN true WHEN 'COALESCEEXPR' THEN true WHEN 'NULLIFEXPR' THEN _children[_d] = 1 ELSE false END;
      IF _zone AND _part[2] NOT IN ('CASE', 'CASEEXPR', 'WHEN', 'CASEWHEN', 'COALESCE', 'COALESCEEXPR', 'NULLIFEXPR')
         AND NOT (_part[2] = 'CONST' AND (_part[3] ~ ':constisnull true' OR wed.is_zone(wed.constant_text(_part[3])))) THEN
        RAISE EXCEPTION 'a time zone is written there, by its name' USING ERRCODE = 'WF011',
          HINT = 'For example ''UTC'', ''Europe/Berlin'' or ''+02''; of a few zones write CASE a1 WHEN ''DE'' THEN ''Europe/Berlin'' ELSE ''UTC'' END.';
      END IF;
      IF _kinds[_d] LIKE 'array_to_string(%' AND _children[_d] = 1 AND _part[2] <> 'VAR' THEN
        _kinds[_d] := 'array_to_string(made';
      ELSIF _kinds[_d] LIKE 'array_to_string(%' AND _part[2] = 'CONST' THEN
        -- Between the elements, of which an attribute has not so many.
        _work := _work + _around * coalesce(substring(_part[3] FROM ':constvalue (\d+) \[')::bigint, 0)
                 * CASE WHEN _kinds[_d] = 'array_to_string(made' THEN 2 ELSE 0.02 END;
      END IF;
    END IF;
    _d := _d + 1;
    IF _d > 200 THEN
      RAISE EXCEPTION 'the predicate is nested too deep' USING ERRCODE = 'WF011',
        HINT = 'Use concat(...) for long chains of ||, IN (...) for long chains of OR.';
    END IF;
    _name := coalesce(substring(_part[3] FROM '^ :funcid (\d+)')::oid::regprocedure::text, _part[2]);
    _type := (SELECT t.typname FROM pg_type t WHERE t.oid = substring(_part[3]
        FROM ':(?:opresulttype|funcresulttype|resulttype|vartype|array_typeid|coalescetype|casetype|minmaxtype|refrestype|typeId) (\d+)')::oid);
    _wide := coalesce(_type ~ '^_' OR _type IN ('text', 'varchar', 'bpchar', 'jsonb', 'json', 'bytea'), false);
    _types[_d] := _type;
    _operator := substring(_part[3] FROM '^ :opno (\d+)')::oid;
    IF _name ~ '^jsonb?_extract_path_text' OR _operator = ANY (_extracting) THEN
      _conversions := _conversions + 1;
      _extracted := _extracted + 1;
      _work := _work + 5 * (1 + _around);
    ELSIF _name ~ '^jsonb_(set|insert|strip_nulls)\(' OR _operator = ANY (_making) THEN
      _conversions := _conversions + 2;
    END IF;
    _again[_d] := CASE WHEN _d > 1 THEN _below[_d - 1] ELSE 0 END;
    _below[_d] := CASE
      WHEN _part[2] IN ('NULLTEST', 'BOOLEXPR', 'BOOLEANTEST', 'SCALARARRAYOPEXPR', 'DISTINCTEXPR', 'COERCEVIAIO', 'ROWCOMPARE', 'ROWCOMPAREEXPR')
        OR _type NOT IN ('jsonb', 'json') AND _type !~ '^_' THEN 0
      WHEN _name ~ '^(to_jsonb|jsonb_(object|build_array|build_object|set|insert|strip_nulls))\(' OR _operator = ANY (_making) THEN _again[_d] + 1
      ELSE _again[_d] END;
    IF _part[2] = 'VAR' AND _type ~ '^_?jsonb$' OR _name ~ '^(string_to_array|regexp_split_to_array)\(' THEN
      _documents := _documents + _again[_d];
    END IF;
    _compared := _compared + coalesce((_operator = ANY (_comparing) OR _type = 'jsonb' AND _d > 1 AND (_kinds[_d - 1] LIKE 'MINMAX%' OR _kinds[_d - 1] LIKE 'ROWCOMPARE%'
      OR _d > 2 AND _kinds[_d - 1] LIKE 'ARRAY%' AND _kinds[_d - 2] LIKE 'SCALARARRAYOP%'))::integer, 0);
    _cost := _around;
    IF _wide AND _part[2] IN ('OPEXPR', 'FUNCEXPR', 'COERCEVIAIO', 'ARRAY', 'ARRAYEXPR', 'ARRAYCOERCEEXPR') THEN
      _cost := least(1 + _around, 1000000);
      -- What these make is bounded by itself.
      _work := _work + (1 + _around) * CASE WHEN _name LIKE 'string_to_array(%' THEN 8 WHEN _name LIKE 'regexp_replace(%' THEN 4 ELSE 0 END;
    ELSIF _part[2] = 'CONST' OR _part[2] = 'VAR' AND NOT _wide THEN
      -- Small, but for formats within formats.
      _work := _work + CASE WHEN _around < 64 THEN 0
        ELSE _around * greatest(substring(_part[3] FROM ':constvalue (\d+)')::integer, 1000) / 262144.0 END;
    ELSIF _wide AND _part[2] = 'VAR' THEN
      _work := _work + _around;
    END IF;
    _costs[_d] := _cost;
    _kinds[_d] := CASE WHEN _operator = ANY (_joining) THEN 'concat(||)' ELSE _name END;
    _children[_d] := 0;
    _zones[_d] := _zone;
    _held[_d] := 0;
  END LOOP;
  IF _documents > 16 THEN
    RAISE EXCEPTION 'the predicate makes too many documents of any size' USING ERRCODE = 'WF011',
      HINT = 'At most 16; one that is made of another that is made counts again. Make one of constants and join it.';
  END IF;
  IF _compared > 200 THEN
    RAISE EXCEPTION 'the predicate compares documents more than 200 times' USING ERRCODE = 'WF011',
      HINT = 'Compare text: doc ->> ''a'' IN (...).';
  END IF;
  IF _conversions > 64 THEN
    RAISE EXCEPTION 'the predicate makes too many documents, or text of documents and arrays' USING ERRCODE = 'WF011',
      HINT = 'Taking text out of a document counts 1, making another of one 2, all of one as text 4, together at most 64. Compare parts by @>, or in several triggers.';
  END IF;
  IF _work > 768 THEN
    RAISE EXCEPTION 'the values in the predicate could take too much memory' USING ERRCODE = 'WF011',
      HINT = 'Use concat(...) for long chains of ||, and text attributes less often.';
  END IF;
  -- In megabytes. A text that is taken out of a document takes two parts, the document and the text; the rest of the
  -- five is the time of it.
  RETURN (_work - _extracted * 3) / 4 + _documents * 20;
END $$;
