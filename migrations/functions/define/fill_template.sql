-- A template's text with its {{placeholders}} filled in, each once: a value is never looked through for others.
-- Identifiers and literals come quoted. {{quote}} is the tag of a body between dollars, which no value can end, since
-- nobody can guess it.
CREATE OR REPLACE FUNCTION wed.fill_template(_name text, _values jsonb) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _parts text[] := regexp_split_to_array((SELECT text FROM wed.template WHERE name = _name), '\{\{|\}\}');
  _missing text;
BEGIN
  _values := _values || jsonb_build_object('quote', 'q' || replace(gen_random_uuid()::text, '-', ''));
  SELECT p INTO _missing FROM unnest(_parts) WITH ORDINALITY u(p, at) WHERE at % 2 = 0 AND NOT _values ? p LIMIT 1;
  IF FOUND OR _parts IS NULL THEN
    RAISE EXCEPTION 'the template % has no value for %', _name, _missing;
  END IF;
  RETURN (SELECT string_agg(CASE WHEN at % 2 = 0 THEN _values ->> p ELSE p END, '' ORDER BY at)
          FROM unnest(_parts) WITH ORDINALITY u(p, at));
END $$;
