-- Makes a person of a tenant, with roles, which are made when they are missing. A known person gets the roles.
CREATE OR REPLACE FUNCTION wed.create_person(_tenant text, _name text, _roles text[] DEFAULT '{}') RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tenant_id integer := (SELECT tenant_id FROM wed.tenant WHERE name = _tenant);
  _person_id integer;
BEGIN
  IF _tenant_id IS NULL THEN
    RAISE EXCEPTION 'there is no tenant "%"', _tenant USING ERRCODE = 'WF015', HINT = 'Create the tenant first.';
  ELSIF (SELECT count(*) FROM wed.person WHERE tenant_id = _tenant_id) >= 100000 THEN
    RAISE EXCEPTION 'the tenant has 100000 people, and no more are allowed' USING ERRCODE = 'WF085',
      HINT = 'Remove people who left.';
  END IF;
  INSERT INTO wed.person (tenant_id, name) VALUES (_tenant_id, _name) ON CONFLICT DO NOTHING;
  SELECT person_id INTO _person_id FROM wed.person WHERE tenant_id = _tenant_id AND name = _name;
  INSERT INTO wed.membership (person_id, role_id)
  SELECT _person_id, wed.make_role(_tenant_id, r) FROM unnest(_roles) r WHERE r IS NOT NULL ON CONFLICT DO NOTHING;
  RETURN _person_id;
END $$;
