-- The order of a flow's tasks: what triggers declare, what was added for all instances, and for one (_wid).
CREATE OR REPLACE FUNCTION wed.order_of(_flow_id integer, _wid integer) RETURNS TABLE (tgid integer, terms jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.tgid, c.terms FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id AND c.terms IS NOT NULL
  UNION ALL
  SELECT p.tgid, p.terms FROM wed.precedence p WHERE p.flow_id = _flow_id AND (p.wid IS NULL OR p.wid = _wid)
$$;
