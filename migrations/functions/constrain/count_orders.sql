-- Counts the orders of tasks that a tenant's flows have besides those that triggers declare, up to _most (null: all).
CREATE OR REPLACE FUNCTION wed.count_orders(_tenant_id integer, _most bigint) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(*) FROM (
    SELECT FROM wed.flow f JOIN wed.precedence p USING (flow_id) WHERE f.tenant_id = _tenant_id LIMIT _most) o
$$;
