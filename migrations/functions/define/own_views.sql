-- Gives a flow's views to the role that may only read what is below them, and lets the flow's role use them. Again for
-- a flow whose views it has: nothing.
CREATE OR REPLACE FUNCTION wed.own_views(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _view record;
BEGIN
  FOR _view IN
    SELECT n.nspname AS schema, c.relname AS name, c.relowner <> 'wed_reader'::regrole AS is_new
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN (_flow.schema_name, _flow.shape_schema) AND c.relkind = 'v'
  LOOP
    IF _view.is_new THEN
      EXECUTE format('GRANT CREATE ON SCHEMA %I TO wed_reader', _view.schema);
      EXECUTE format('ALTER VIEW %I.%I OWNER TO wed_reader', _view.schema, _view.name);
      EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_reader', _view.schema);
    END IF;
    IF _view.schema = _flow.schema_name THEN
      EXECUTE format('GRANT SELECT ON %I.%I TO %I', _view.schema, _view.name, _flow.role_name);
    END IF;
  END LOOP;
  EXECUTE format('GRANT INSERT, UPDATE, DELETE ON %I.wed_resource TO %I', _flow.schema_name, _flow.role_name);
END $$;
