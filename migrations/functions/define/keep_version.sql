-- Keeps the definition that a flow has under its version, with who made it so. One transaction leaves one version, and
-- a flow its newest 100 within 16 MiB, at least ten.
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
  DELETE FROM wed.flow_version v USING (
    SELECT version, row_number() OVER newest AS place, sum(pg_column_size(definition)) OVER newest AS bytes
    FROM wed.flow_version WHERE flow_id = _flow_id WINDOW newest AS (ORDER BY version DESC)) o
  WHERE v.flow_id = _flow_id AND v.version = o.version AND (o.place > 100 OR o.place > 10 AND o.bytes > 16777216);
END $$;
