-- The person of a name within a tenant; refused when there is none. Another tenant's person is as good as missing.
CREATE OR REPLACE FUNCTION wed.person_of(_tenant text, _name text) RETURNS wed.person
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person;
BEGIN
  SELECT p.* INTO _person FROM wed.person p JOIN wed.tenant t USING (tenant_id) WHERE t.name = _tenant
    AND p.name = _name;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no person "%"', left(_name, 80) USING ERRCODE = 'WF080',
      HINT = 'Add the person: `wed work people --add NAME`.';
  END IF;
  RETURN _person;
END $$;
