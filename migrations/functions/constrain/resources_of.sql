-- The stock of the keys that a flow counts: its own, and those of resources that it declares.
CREATE OR REPLACE FUNCTION wed.resources_of(_flow_id integer)
RETURNS TABLE (resource text, key text, capacity text, minimum text, held text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN s.resource LIKE '#%' THEN NULL ELSE s.resource END, s.key, s.capacity::text, s.minimum::text,
    (SELECT coalesce(sum(v.amount), 0)::text FROM wed.reservation v
     WHERE v.tenant_id = s.tenant_id AND v.resource = s.resource AND v.key = s.key AND v.held)
  FROM wed.flow f JOIN wed.resource s ON s.tenant_id = f.tenant_id AND (s.resource = '#' || _flow_id OR s.resource IN (
    SELECT c.resource FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id))
  WHERE f.flow_id = _flow_id ORDER BY s.resource, s.key
$$;
