-- Keeps the definition that a flow has under its version, with who made it so. One transaction leaves one version, and
-- a flow its newest 100.
CREATE OR REPLACE FUNCTION wed.keep_version(_flow_id integer, _actor text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _version integer := (SELECT version FROM wed.flow WHERE flow_id = _flow_id);
BEGIN
  DELETE FROM wed.flow_version
  WHERE flow_id = _flow_id AND version < _version AND xmin = pg_current_xact_id()::xid;
  INSERT INTO wed.flow_version (flow_id, version, definition, actor)
  VALUES (_flow_id, _version, wed.definition(_flow_id), _actor)
  ON CONFLICT (flow_id, version) DO NOTHING;
  DELETE FROM wed.flow_version
  WHERE flow_id = _flow_id AND version <= (SELECT v.version FROM wed.flow_version v WHERE v.flow_id = _flow_id
                                           ORDER BY v.version DESC OFFSET 100 LIMIT 1);
END $$;
