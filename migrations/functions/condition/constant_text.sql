-- The text of a constant of a node tree: its bytes, with sign, behind the four of its length.
CREATE OR REPLACE FUNCTION wed.constant_text(_fields text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT convert_from(decode(coalesce(string_agg(lpad(to_hex((b::integer + 256) % 256), 2, '0'), '' ORDER BY n),
    ''), 'hex'),
                      getdatabaseencoding())
  FROM regexp_split_to_table(substring(_fields FROM ':constvalue \d+ \[ (?:-?\d+ ){4}(.*) \]'),
    ' ') WITH ORDINALITY t(b, n)
$$;
