-- Refuses a definition that allows a transition files or places of HTTP that it may not reach now.
CREATE OR REPLACE FUNCTION wed.refuse_wider_grants(_flow_id integer, _definition jsonb) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _wider text := (
    SELECT string_agg(t.key, ', ' ORDER BY t.key)
    FROM jsonb_each(coalesce(_definition -> 'transition', '{}')) t
    LEFT JOIN wed."grant" g ON g.flow_id = _flow_id AND g.trname = t.key
    WHERE coalesce((t.value ->> 'files')::boolean, false) AND g.files IS NOT TRUE
       OR NOT ARRAY(SELECT jsonb_array_elements_text(coalesce(t.value -> 'http', '[]'))) <@ coalesce(g.http, '{}'));
BEGIN
  IF _wider IS NOT NULL THEN
    RAISE EXCEPTION 'that version lets % reach more than the flow allows now', _wider
      USING ERRCODE = 'insufficient_privilege', HINT = 'Roll back with `wed flow rollback`, or over HTTP.';
  END IF;
END $$;
