-- The number of a role; Office-boy and Office_boy are one. Null when there is none.
CREATE OR REPLACE FUNCTION wed.role_named(_tenant_id integer, _name text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT role_id FROM wed.role_of_people WHERE tenant_id = _tenant_id AND replace(name, '-', '_') = replace(_name,
    '-', '_')
$$;
