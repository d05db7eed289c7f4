-- Takes a role from a person. False when the person had it not.
CREATE OR REPLACE FUNCTION wed.revoke_role(_tenant text, _name text, _role text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  DELETE FROM wed.membership WHERE person_id = _person.person_id AND role_id = wed.role_named(_person.tenant_id, _role);
  RETURN FOUND;
END $$;
