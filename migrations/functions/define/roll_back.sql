-- Makes a flow what it was in a version, the one before the newest for null; returns what changed, and which live
-- instances a re-match would touch then. A preview changes nothing. Whoever may not grant gets no grant back that the
-- flow does not have now.
CREATE OR REPLACE FUNCTION wed.roll_back(_flow_id integer, _version integer, _preview boolean, _may_grant boolean,
  _actor text) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
  _from integer := coalesce(_version,
    (SELECT version FROM wed.flow_version WHERE flow_id = _flow_id ORDER BY version DESC OFFSET 1 LIMIT 1));
  _definition jsonb := wed.version_definition(_flow_id, _from, 1);
  _applied jsonb;
BEGIN
  PERFORM FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  IF NOT _may_grant THEN
    PERFORM wed.refuse_wider_grants(_flow_id, _definition);
  END IF;
  PERFORM wed.refuse_lost_attributes(_flow_id, _from, _definition);
  IF _preview THEN
    RETURN jsonb_build_object('version', _from) || wed.preview_definition(_flow_id, _definition);
  END IF;
  _applied := wed.apply_definition(_flow_id, _definition, _actor);
  PERFORM wed.note_flow(_actor, _flow_id, 'flow.rollback', NULL, jsonb_build_object('version', _from) || _applied);
  RETURN jsonb_build_object('version', _from, 'preview', false, 'applied', _applied,
    'instances', wed.rematch_preview(_flow_id));
END $$;
