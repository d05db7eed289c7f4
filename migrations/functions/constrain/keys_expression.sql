-- The expression that makes the document of keys of what a trigger reserves.
CREATE OR REPLACE FUNCTION wed.keys_expression(_of wed.trigger_constraint) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format('wed_bounded.keys(to_jsonb(%s), %s, to_jsonb(%s))', _of.guarded_keys, (_of.quantity IS NOT NULL)::text,
                CASE WHEN _of.quantity IS NULL THEN 'NULL::text' ELSE _of.guarded_quantity END)
$$;
