-- How often a format puts in the argument that it puts in most often. A placeholder that names none takes the next.
CREATE OR REPLACE FUNCTION wed.format_repeats(_format text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _place text[];
  _argument integer := 0;
  _uses integer[] := array_fill(0, ARRAY[10000]);
BEGIN
  FOR _place IN SELECT regexp_matches(replace(_format, '%%', ''), '%(?:([0-9]{1,4})\$)?', 'g') LOOP
    _argument := coalesce(_place[1]::integer, _argument + 1);
    _uses[_argument + 1] := _uses[_argument + 1] + 1;
  END LOOP;
  RETURN greatest((SELECT max(u) FROM unnest(_uses) u), 1);
END $$;
