-- Removes a person; what the person held is offered again. Messages, and reports that were kept, go too.
CREATE OR REPLACE FUNCTION wed.drop_person(_tenant text, _name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  UPDATE wed.work_item SET state = 'READY', holder = NULL, claim = claim + 1, held_since = NULL
  WHERE holder = _person.person_id AND ended_at IS NULL;
  DELETE FROM wed.person WHERE person_id = _person.person_id;
  PERFORM wed.tell_people(_person.tenant_id);
END $$;
