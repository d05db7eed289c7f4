-- Who answers for an instance: the person in charge; without one, the administrators, at most 100.
CREATE OR REPLACE FUNCTION wed.in_charge(_flow_id integer, _wid integer) RETURNS integer[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(
    (SELECT ARRAY[i.in_charge] FROM wed.work_instance i WHERE i.flow_id = _flow_id AND i.wid = _wid
      AND i.in_charge IS NOT NULL),
    ARRAY(SELECT m.person_id FROM wed.flow f JOIN wed.role_of_people r USING (tenant_id) JOIN wed.membership m
      USING (role_id)
          WHERE f.flow_id = _flow_id AND r.name = 'administrator' ORDER BY 1 LIMIT 100))
$$;
