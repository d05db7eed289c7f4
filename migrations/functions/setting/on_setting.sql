-- A change makes hosts load the flow anew.
CREATE OR REPLACE FUNCTION wed.on_setting() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- Not when the flow itself is on its way out.
  PERFORM wed.compile(flow_id) FROM wed.flow WHERE flow_id = coalesce(NEW.flow_id, OLD.flow_id);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON wed.setting FOR EACH ROW EXECUTE FUNCTION
  wed.on_setting();

CREATE OR REPLACE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON wed.secret FOR EACH ROW EXECUTE FUNCTION
  wed.on_setting();

CREATE OR REPLACE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON wed."grant" FOR EACH ROW EXECUTE FUNCTION
  wed.on_setting();
