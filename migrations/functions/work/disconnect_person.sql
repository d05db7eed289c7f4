-- Marks a person inactive: nothing new is offered, messages are stored. What the person holds stays held.
CREATE OR REPLACE FUNCTION wed.disconnect_person(_tenant text, _name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  UPDATE wed.person SET active = false WHERE person_id = _person.person_id;
END $$;
