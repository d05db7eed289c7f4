-- Refuses constants of a deparsed predicate that are larger than they look.
CREATE OR REPLACE FUNCTION wed.check_constants(_predicate text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $check$
BEGIN
  IF _predicate ~ $r$'[^']*[0-9.]{39}[^']*'::(numeric|jsonb|numrange)|(^|[^'0-9])[0-9.]{39}$r$ THEN
    RAISE EXCEPTION 'a number of the predicate is too large' USING ERRCODE = 'WF011',
      HINT = 'At most 38 digits, before and behind the point together.';
  END IF;
  IF regexp_replace(_predicate, '''(?:[^'']|'''')*''', '', 'g') ~ 'character\([0-9]{4,}\)' THEN
    RAISE EXCEPTION 'char(n) is too long' USING ERRCODE = 'WF011',
      HINT = 'At most 999; use text, which needs no length.';
  END IF;
END $check$;
