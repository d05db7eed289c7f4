-- A number of which _digits and _rest are the parts, without underscores and to the base of ten; null when it is none.
CREATE OR REPLACE FUNCTION wed.plain_number(_digits text, _rest text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN _rest ~* '^(_[0-9]+)*(e[0-9]+(_[0-9]+)*)?$' AND strpos(_rest, '_') > 0 THEN _digits || replace(_rest, '_', '')
    WHEN _digits = '0' AND _rest ~* '^(x(_?[0-9a-f])+|o(_?[0-7])+|b(_?[01])+)$' AND length(_rest) <= 60 THEN (
      SELECT trunc(sum((strpos('0123456789abcdef', d) - 1) * CASE lower(left(_rest, 1)) WHEN 'x' THEN 16 WHEN 'o'
        THEN 8 ELSE 2 END ^ (n - 1)::numeric))::text
      FROM string_to_table(reverse(lower(replace(substr(_rest, 2), '_', ''))), NULL) WITH ORDINALITY t(d, n))
    END
$$;
