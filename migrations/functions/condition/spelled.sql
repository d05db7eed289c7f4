-- A condition, as Postgres deparsed it, spelled so that its bounded calls can be put in by name: casts of text to
-- numbers, points in time and documents look at the text first, and POSITION and TRIM are plain calls. It reads
-- tokens and keeps a stack of brackets; a string of the deparser's has no escapes, and it puts each operand of a
-- cast in brackets. The result is analysed again and judged by what Postgres finds (wed.check_calls).
CREATE OR REPLACE FUNCTION wed.spelled(_sql text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _t text[] := ARRAY(SELECT m[1] FROM regexp_matches(_sql,
    $r$('(?:[^']|'')*'|"(?:[^"]|"")*"|(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*$r$
      || $r$|[0-9.]+|\s+|::|[-+*/<>=~!@#%^&|?]+|.)$r$,
    'g') AS m);
  _n integer := cardinality(_t);
  _open integer[];   -- where each open bracket stands
  _between integer[]; -- where IN or FROM stands in it
  _call text[];      -- what is to be called instead
  _d integer := 0;
  _guard text;
  _at integer;
BEGIN
  FOR _i IN 1 .. _n LOOP
    IF _t[_i] IN ('(', '[') THEN
      _d := _d + 1;
      _open[_d] := _i;
      _between[_d] := NULL;
      _call[_d] := CASE WHEN _t[_i] <> '(' OR _i = 1 THEN NULL WHEN _t[_i - 1] = 'POSITION' THEN 'strpos'
        WHEN _t[_i - 1] = 'TRIM'
        THEN CASE _t[_i + 1] WHEN 'BOTH' THEN 'btrim' WHEN 'LEADING' THEN 'ltrim' WHEN 'TRAILING' THEN 'rtrim' END END;
    ELSIF _d > 0 AND _t[_i] = (CASE _call[_d] WHEN 'strpos' THEN 'IN' ELSE 'FROM' END) THEN
      _between[_d] := _i;
    ELSIF _t[_i] IN (')', ']') AND _d > 0 THEN
      _at := _open[_d];
      IF _call[_d] IS NOT NULL AND _between[_d] IS NOT NULL THEN
        -- What is looked for stands first; without it TRIM takes spaces off.
        _guard := btrim(array_to_string(_t[_at + CASE _call[_d] WHEN 'strpos' THEN 1 ELSE 2 END : _between[_d] - 1],
          ''));
        _t[_at - 1] := _call[_d];
        _t[_at] := '(' || array_to_string(_t[_between[_d] + 1 : _i - 1], '') || CASE _guard WHEN '' THEN '' ELSE ', '
          || _guard END;
        FOR _j IN _at + 1 .. _i - 1 LOOP _t[_j] := ''; END LOOP;
      END IF;
      _guard := CASE WHEN _t[_i] <> ')' OR _t[_i + 1] IS DISTINCT FROM '::'
        OR _t[_at - 1] ~ '^([A-Za-z_"]|[^\x01-\x7f])' THEN NULL
        WHEN _t[_i + 2] = 'numeric' THEN 'number' WHEN _t[_i + 2] IN ('date', 'time', 'timestamp') THEN 'moment'
        WHEN _t[_i + 2] = 'jsonb' THEN 'document' END;
      IF _guard IS NOT NULL THEN _t[_at] := ' wed_bounded.' || _guard || _t[_at]; END IF;
      _d := _d - 1;
    END IF;
  END LOOP;
  RETURN array_to_string(_t, '');
END $$;
