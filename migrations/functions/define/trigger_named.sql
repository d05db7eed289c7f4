-- Returns the trigger of a flow with a name, which is its number for one without; null where there is none.
CREATE OR REPLACE FUNCTION wed.trigger_named(_flow_id integer, _name text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT max(tgid) FROM wed.trigger
  WHERE flow_id = _flow_id AND NOT cfinal AND predicate IS NOT NULL
    AND coalesce(nullif(tgname, ''), tgid::text) = _name
$$;
