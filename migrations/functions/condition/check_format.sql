-- Refuses a format whose placeholders could make a large value of small ones.
CREATE OR REPLACE FUNCTION wed.check_format(_format text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _places integer;
  _wrong integer;
BEGIN
  SELECT count(*), count(*) FILTER (WHERE m[2] NOT IN ('s', 'I', 'L') OR strpos(m[1], '*') > 0 OR EXISTS (
      SELECT FROM regexp_split_to_table(m[1], '[-$]') d WHERE length(d) > 4 OR d <> '' AND d::integer > 1000))
  INTO _places, _wrong FROM regexp_matches(replace(_format, '%%', ''), '%([-0-9$*]*)(.?)', 'g') m;
  IF _wrong > 0 OR _places > 64 THEN
    RAISE EXCEPTION 'the format % holds a placeholder that is not allowed', quote_literal(left(_format, 60))
      USING ERRCODE = 'WF011',
      HINT = 'Write %s, %I or %L, at most 64 of them, each at most 1000 wide.';
  END IF;
END $$;
