-- The roles of a tenant's flows are limited by Postgres itself.
CREATE OR REPLACE FUNCTION wed.on_connections() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  _role text;
BEGIN
  FOR _role IN SELECT role_name FROM wed.flow WHERE tenant_id = NEW.tenant_id ORDER BY flow_id LOOP
    EXECUTE format('ALTER ROLE %I CONNECTION LIMIT %s', _role, coalesce(NEW.connections, -1));
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER connections AFTER UPDATE ON wed.quota FOR EACH ROW
  WHEN (OLD.connections IS DISTINCT FROM NEW.connections) EXECUTE FUNCTION wed.on_connections();
