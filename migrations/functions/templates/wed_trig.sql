-- A flow's triggers, its final condition among them. A column here is one of wed.trigger, too: wed.before_trigger
-- checks it, wed.on_trigger copies it; flows that there are already get it by a migration.
CREATE TABLE {{schema}}.wed_trig (
  tgid     integer PRIMARY KEY,
  tgname   text,
  enabled  boolean NOT NULL DEFAULT true,
  trname   text,
  cname    text,
  cpred    text NOT NULL,
  cfinal   boolean NOT NULL DEFAULT false,
  timeout  interval NOT NULL DEFAULT '1 minute',
  attempts integer NOT NULL DEFAULT 3,
  backoff  interval NOT NULL DEFAULT '1 second',
  delay    interval NOT NULL DEFAULT '0',
  priority integer NOT NULL DEFAULT 0,
  recheck  boolean NOT NULL DEFAULT true,
  writes   text[]);
GRANT SELECT, INSERT, UPDATE, DELETE ON {{schema}}.wed_trig TO {{role}};

CREATE TRIGGER before_trigger BEFORE INSERT OR UPDATE ON {{schema}}.wed_trig
  FOR EACH ROW EXECUTE FUNCTION wed.before_trigger({{flow_id}});
CREATE TRIGGER trigger AFTER INSERT OR UPDATE OR DELETE ON {{schema}}.wed_trig
  FOR EACH ROW EXECUTE FUNCTION wed.on_trigger({{flow_id}});
CREATE TRIGGER zz_compile AFTER INSERT OR UPDATE OR DELETE ON {{schema}}.wed_trig
  FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition({{flow_id}});
