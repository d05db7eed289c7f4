-- Checks a predicate and returns it as Postgres understood it, with the attributes it reads and whether
-- it may change with time alone: by a function that is not immutable, or by text that is read as a date,
-- which may say 'now'.
CREATE OR REPLACE FUNCTION wed.check_predicate(
  _shape_schema text, _tgid integer, _text text, OUT predicate text, OUT reads text[], OUT timely boolean, OUT weight integer)
LANGUAGE plpgsql
-- The deparser writes strings and points in time as the session's settings are.
SET standard_conforming_strings = on SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _tree text;
  _relation oid := format('%I.wed_flow', _shape_schema)::regclass;
BEGIN
  _text := wed.check_fragment(_text);
  PERFORM wed.take_off_shape(_shape_schema, _tgid);
  BEGIN
    PERFORM wed.put_on_shape(_shape_schema, _tgid, _text);
  EXCEPTION WHEN feature_not_supported THEN
    RAISE EXCEPTION '%', CASE WHEN SQLERRM ~ 'subquer' THEN 'a predicate may not hold a subquery'
                              ELSE 'a predicate may not hold this: ' || SQLERRM END USING ERRCODE = 'WF011',
      DETAIL = wed.place('select', _text),
      HINT = 'A predicate looks at the attributes of its own instance only.';
  END;
  SELECT c.conbin::text, pg_get_expr(c.conbin, c.conrelid),
         coalesce((SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
                   WHERE a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)), '{}')
  INTO _tree, predicate, reads
  FROM pg_constraint c WHERE c.conrelid = _relation AND c.conname = 'c' || _tgid;
  -- Everybody can read constraints.
  PERFORM wed.take_off_shape(_shape_schema, _tgid);
  weight := wed.check_tree(_tree, _text);
  IF 'wid' = ANY (reads) THEN
    RAISE EXCEPTION 'wid is the identity of an instance, not an attribute' USING ERRCODE = 'WF011',
      DETAIL = wed.place('wid', _text), HINT = 'A condition is over the attributes.';
  END IF;
  IF predicate ~ $r$'[^']*[0-9.]{39}[^']*'::(numeric|jsonb|numrange)|(^|[^'0-9])[0-9.]{39}$r$ THEN
    RAISE EXCEPTION 'a number of the predicate is too large' USING ERRCODE = 'WF011',
      HINT = 'At most 38 digits, before and behind the point together.';
  END IF;
  IF regexp_replace(predicate, '''(?:[^'']|'''')*''', '', 'g') ~ 'character\([0-9]{4,}\)' THEN
    RAISE EXCEPTION 'char(n) is too long' USING ERRCODE = 'WF011', HINT = 'At most 999; use text, which needs no length.';
  END IF;
  IF EXISTS (SELECT FROM regexp_matches(predicate, $r$(?:AT TIME ZONE |timezone\()'((?:[^']|'')*)'::text$r$, 'g') z
             WHERE NOT wed.is_zone(z[1])) THEN
    RAISE EXCEPTION 'a time zone is written by its name' USING ERRCODE = 'WF011', HINT = 'For example ''UTC'', ''Europe/Berlin'' or ''+02''.';
  END IF;
  PERFORM wed.guarded(predicate);
  timely := _tree ~ '\{(SQLVALUEFUNCTION|COERCEVIAIO)' OR EXISTS (
    SELECT FROM regexp_matches(_tree, ':funcid (\d+)', 'g') AS m JOIN pg_proc p ON p.oid = m[1]::oid
    WHERE p.provolatile <> 'i'
    UNION ALL
    SELECT FROM regexp_matches(_tree, ':opno (\d+)', 'g') AS m JOIN pg_operator o ON o.oid = m[1]::oid
    JOIN pg_proc p ON p.oid = o.oprcode WHERE p.provolatile <> 'i');
END $$;
