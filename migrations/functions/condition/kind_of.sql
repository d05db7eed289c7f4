-- Which of the kinds that are weighed a node's value is: text, a document (or array), or narrow.
CREATE OR REPLACE FUNCTION wed.kind_of(_node text, _type text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN _node IN ('WHEN', 'CASEWHEN', 'NAMEDARGEXPR') THEN 'text'
    WHEN _type = 'jsonb' OR _type LIKE '\_%' THEN 'document'
    WHEN _type IN ('text', 'varchar', 'bpchar', 'bytea', 'json') THEN 'text' ELSE 'narrow' END
$$;
