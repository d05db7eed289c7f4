-- The trigger without condition that fires a compensation of a flow.
CREATE OR REPLACE FUNCTION wed.compensation_trigger(_flow_id integer, _compensation text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT min(tgid) FROM wed.trigger
  WHERE flow_id = _flow_id AND trname = _compensation AND predicate IS NULL AND NOT cfinal
$$;
