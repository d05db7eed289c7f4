CREATE OR REPLACE FUNCTION wed.on_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    EXECUTE format('DROP SEQUENCE IF EXISTS wed.started_%s', OLD.tenant_id);
  ELSE
    INSERT INTO wed.quota (tenant_id) VALUES (NEW.tenant_id);
    INSERT INTO wed.usage (tenant_id) VALUES (NEW.tenant_id);
    EXECUTE format('CREATE SEQUENCE wed.started_%s', NEW.tenant_id);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER quota AFTER INSERT OR DELETE ON wed.tenant FOR EACH ROW EXECUTE FUNCTION wed.on_tenant();
