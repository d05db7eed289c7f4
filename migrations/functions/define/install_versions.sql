-- What a flow's schema has for its definitions: differences, and the way back. Again for a flow that has
-- it: nothing.
CREATE OR REPLACE FUNCTION wed.install_versions(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION %I.wed_difference(old integer DEFAULT NULL, new integer DEFAULT NULL)
    RETURNS TABLE (part text, name text, was jsonb, becomes jsonb) LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS %L', _schema,
    format('SELECT * FROM wed.difference(wed.version_definition(%1$s, $1, 1), wed.version_definition(%1$s, $2, 0))',
           _flow_id));
  EXECUTE format('CREATE OR REPLACE FUNCTION %I.wed_roll_back(version integer DEFAULT NULL,
      preview boolean DEFAULT true)
    RETURNS jsonb LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L', _schema,
    format('SELECT wed.roll_back(%s, $1, coalesce($2, true), false, session_user::text)', _flow_id));
END $$;
