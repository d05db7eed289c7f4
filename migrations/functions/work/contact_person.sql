-- The person, of whom this is a sign of life: it makes an inactive one active. Written at most every 10 seconds.
CREATE OR REPLACE FUNCTION wed.contact_person(_tenant text, _name text, _now timestamptz DEFAULT clock_timestamp())
RETURNS wed.person LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  IF NOT _person.active OR _person.contact_at IS NULL OR _person.contact_at < _now - interval '10 seconds' THEN
    PERFORM wed.connect_person(_tenant, _name, _now);
    RETURN wed.person_of(_tenant, _name);
  END IF;
  RETURN _person;
END $$;
