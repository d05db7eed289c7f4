-- The text of an operator's action in the trace: who and why.
CREATE OR REPLACE FUNCTION wed.reasoned(_actor text, _reason text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _actor || coalesce(': ' || left(nullif(btrim(_reason), ''), 1000), '')
$$;
