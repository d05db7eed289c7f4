-- Whether a person has the role administrator, which sees and moves every item of the tenant.
CREATE OR REPLACE FUNCTION wed.is_administrator(_person_id integer) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM wed.membership m JOIN wed.role_of_people r USING (role_id)
                 WHERE m.person_id = _person_id AND r.name = 'administrator')
$$;
