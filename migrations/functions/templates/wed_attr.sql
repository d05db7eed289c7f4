-- A flow's attributes. A column here is one of wed.attribute, too, and of wed.on_attribute, which checks and copies.
CREATE TABLE {{schema}}.wed_attr (
  aname text PRIMARY KEY,
  adv   text,
  atype text NOT NULL DEFAULT 'text',
  open  boolean NOT NULL DEFAULT false);
GRANT SELECT, INSERT, UPDATE, DELETE ON {{schema}}.wed_attr TO {{role}};

CREATE TRIGGER attribute AFTER INSERT OR UPDATE OR DELETE ON {{schema}}.wed_attr
  FOR EACH ROW EXECUTE FUNCTION wed.on_attribute({{flow_id}});
CREATE TRIGGER zz_compile AFTER INSERT OR UPDATE OR DELETE ON {{schema}}.wed_attr
  FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition({{flow_id}});
