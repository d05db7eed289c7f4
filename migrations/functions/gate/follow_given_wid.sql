-- Moves a flow's sequence to a number that was given by hand, when its transaction commits.
CREATE OR REPLACE FUNCTION wed.follow_given_wid() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _sequence regclass := wed.wid_sequence(NEW.flow_id);
BEGIN
  DELETE FROM wed.given_wid WHERE flow_id = NEW.flow_id AND wid = NEW.wid;
  PERFORM setval(_sequence, NEW.wid) WHERE NEW.wid > coalesce(pg_sequence_last_value(_sequence), 0);
  RETURN NULL;
END $$;
