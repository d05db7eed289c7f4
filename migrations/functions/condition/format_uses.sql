-- How often a format puts in its argument _n, counted from 1. One that names no argument takes the next.
CREATE OR REPLACE FUNCTION wed.format_uses(_format text, _n integer) RETURNS integer
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _place text[];
  _argument integer := 0;
  _uses integer := 0;
BEGIN
  FOR _place IN SELECT regexp_matches(replace(_format, '%%', ''), '%(?:([0-9]{1,4})\$)?', 'g') LOOP
    _argument := coalesce(_place[1]::integer, _argument + 1);
    _uses := _uses + (_argument = _n)::integer;
  END LOOP;
  RETURN _uses;
END $$;
