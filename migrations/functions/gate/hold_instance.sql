-- Locks an instance's row until the transaction ends. With _now it waits for nobody: false when another session holds
-- it.
CREATE OR REPLACE FUNCTION wed.hold_instance(_flow_id integer, _wid integer, _now boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _found integer;
BEGIN
  EXECUTE format('SELECT wid FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _schema)
    || CASE WHEN _now THEN ' SKIP LOCKED' ELSE '' END INTO _found USING _wid;
  RETURN _found IS NOT NULL;
END $$;
