-- Tells who is in charge that an instance with people has ended.
CREATE OR REPLACE FUNCTION wed.on_people_instance() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed.send_message(wed.in_charge(NEW.flow_id, NEW.wid), 'process_ended', wed.work_place(NEW.flow_id, NEW.wid),
    format('The process has ended; it was started at %s.', to_char(NEW.started AT TIME ZONE 'UTC',
      'YYYY-MM-DD HH24:MI "UTC"')),
    NULL, clock_timestamp());
  DELETE FROM wed.work_reservation WHERE flow_id = NEW.flow_id AND wid = NEW.wid;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER people_end AFTER UPDATE OF status ON wed.instance
  FOR EACH ROW WHEN (NEW.people AND NEW.status = 'F' AND OLD.status <> 'F') EXECUTE FUNCTION wed.on_people_instance();
