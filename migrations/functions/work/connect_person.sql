-- Marks a person active from _now on, and delivers the messages that were stored meanwhile. Returns how many.
CREATE OR REPLACE FUNCTION wed.connect_person(_tenant text, _name text, _now timestamptz DEFAULT clock_timestamp())
RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _delivered bigint;
BEGIN
  UPDATE wed.person SET active = true, connected_at = CASE WHEN active THEN connected_at ELSE _now END,
    contact_at = _now
  WHERE person_id = _person.person_id;
  UPDATE wed.work_message SET delivered_at = _now WHERE person_id = _person.person_id AND delivered_at IS NULL;
  GET DIAGNOSTICS _delivered = ROW_COUNT;
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN _delivered;
END $$;
