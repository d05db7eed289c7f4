-- Returns the definition that a flow had in a version. Without a number: that of the version `_before` places before the
-- newest, 0 for the newest itself.
CREATE OR REPLACE FUNCTION wed.version_definition(_flow_id integer, _version integer, _before integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _definition jsonb;
BEGIN
  IF _version IS NULL THEN
    SELECT definition INTO _definition FROM wed.flow_version WHERE flow_id = _flow_id
    ORDER BY version DESC OFFSET _before LIMIT 1;
  ELSE
    SELECT definition INTO _definition FROM wed.flow_version WHERE flow_id = _flow_id AND version = _version;
  END IF;
  IF _definition IS NULL THEN
    RAISE EXCEPTION 'the flow has no %', coalesce('version ' || _version, 'earlier version')
      USING ERRCODE = 'WF040',
        HINT = '`wed flow history` and the view wed_version list those that are kept, the newest 100.';
  END IF;
  RETURN _definition;
END $$;
