-- Instances all of whose jobs wait for tasks that nothing fires any more, counted by flow.
CREATE OR REPLACE FUNCTION wed.order_problems() RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'order_unmet', format('flow %s of tenant %s: %s instances wait for tasks that nothing fires any more, '
    'instance %s among them', f.name, t.name, count(DISTINCT j.wid), min(j.wid)),
    'Skip the waiting job, drop the order (`wed_drop_after`), or fire the task that it waits for.'
  FROM wed.job j JOIN wed.flow f USING (flow_id) JOIN wed.tenant t ON t.tenant_id = f.tenant_id
  WHERE j.blocked = 'p' AND NOT EXISTS (SELECT FROM wed.job o WHERE o.flow_id = j.flow_id AND o.wid = j.wid
    AND o.blocked IS DISTINCT FROM 'p') GROUP BY f.name, t.name
$$;
