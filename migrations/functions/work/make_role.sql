-- The number of a role, which is made when it is missing. At most 1000 roles of a tenant.
CREATE OR REPLACE FUNCTION wed.make_role(_tenant_id integer, _name text) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _role_id integer := wed.role_named(_tenant_id, _name);
BEGIN
  IF _role_id IS NOT NULL OR _name IS NULL THEN RETURN _role_id; END IF;
  IF (SELECT count(*) FROM wed.role_of_people WHERE tenant_id = _tenant_id) >= 1000 THEN
    RAISE EXCEPTION 'the tenant has 1000 roles of people, and no more are allowed' USING ERRCODE = 'WF085',
      HINT = 'Remove roles that are not used.';
  END IF;
  INSERT INTO wed.role_of_people (tenant_id, name) VALUES (_tenant_id, _name)
  ON CONFLICT DO NOTHING RETURNING role_id INTO _role_id;
  RETURN coalesce(_role_id, wed.role_named(_tenant_id, _name));
END $$;
