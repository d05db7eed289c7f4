-- Refuses what follows a name and would make another thing of it: a table or schema in front, VARIADIC, OPERATOR of a
-- schema of somebody's own.
CREATE OR REPLACE FUNCTION wed.check_name(_before text, _near text, _at integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $check$
BEGIN
  -- Those of these schemas are what is meant without one.
  IF lower(_before) NOT IN ('pg_catalog', 'wed_flow') AND _before ~ $r$([A-Za-z0-9_$")]|[^\x01-\x7f]|\])$r$
    AND _near ~ '^\s*\.\s*[^0-9[:space:]]' THEN
    RAISE EXCEPTION 'names are written without a table or schema' USING ERRCODE = 'WF011',
      DETAIL = format('At character %s of the predicate.', _at), HINT = 'Write the name alone.';
  ELSIF lower(_before) = 'variadic' OR lower(_before) = 'operator' AND _near ~ '^\s*\('
        AND _near !~* replace('^G\(G("?pg_catalog"?G\.G)?([<>=~!@#%^&|?+*]|-(?!-)|/(?!\*))+G\)', 'G',
          '(?:\s|/\*[^*]*\*/|--[^\n]*\n)*') THEN
    RAISE EXCEPTION '% is not allowed in a predicate', upper(_before) USING ERRCODE = 'WF011',
      DETAIL = format('At character %s of the predicate.', _at),
      HINT = 'Write the operator''s sign, the arguments one by one.';
  END IF;
END $check$;
