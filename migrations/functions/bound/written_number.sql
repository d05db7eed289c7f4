-- The number that the next tokens of a deparsed expression are, up to a comma or bracket; null when they are none.
CREATE OR REPLACE FUNCTION wed.written_number(_tokens text[]) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT substring(array_to_string(_tokens, '')
    FROM $r$^\s*\(*'?(-?[0-9]+(?:\.[0-9]*)?)'?(?:::(?:integer|bigint|numeric|double precision))?\)?(?:::(?:numeric|double precision|bigint|integer))?[,)]$r$)
$$;
