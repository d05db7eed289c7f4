-- Returns what applying a definition would change, and which live instances a re-match would touch then. It is applied
-- and taken back.
CREATE OR REPLACE FUNCTION wed.preview_definition(_flow_id integer, _definition jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _applied jsonb;
  _instances jsonb;
BEGIN
  _applied := wed.apply_definition(_flow_id, _definition, '');
  _instances := wed.rematch_preview(_flow_id);
  RAISE EXCEPTION 'a preview' USING ERRCODE = 'WFPRE';
EXCEPTION WHEN SQLSTATE 'WFPRE' THEN
  RETURN jsonb_build_object('preview', true, 'applied', _applied, 'instances', _instances);
END $$;
