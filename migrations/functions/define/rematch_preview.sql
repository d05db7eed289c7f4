-- Lists, as a document, the live instances that a re-match would touch, with what each would fire.
CREATE OR REPLACE FUNCTION wed.rematch_preview(_flow_id integer) RETURNS jsonb
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(jsonb_agg(r ORDER BY r.wid), '[]') FROM wed.rematch(_flow_id, true) r
$$;
