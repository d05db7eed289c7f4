-- Whether a person is in charge of an item's instance, or an administrator.
CREATE OR REPLACE FUNCTION wed.answers_for(_person_id integer, _flow_id integer, _wid integer) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _person_id = ANY (wed.in_charge(_flow_id, _wid)) OR wed.is_administrator(_person_id)
$$;
