-- Refuses more orders of tasks than a tenant may have, and more of one trigger or in all than a commit should read, of
-- one instance or (_wid null) of all.
CREATE OR REPLACE FUNCTION wed.refuse_orders(_flow_id integer, _wid integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _orders_of_trigger CONSTANT integer := 100;
  _orders_max CONSTANT integer := 1000;
  _of record;
BEGIN
  IF (SELECT count(*) FROM wed.precedence p WHERE p.flow_id = _flow_id AND coalesce(p.wid, 0) = coalesce(_wid, 0))
      > _orders_max THEN
    RAISE EXCEPTION 'there are more than % orders', _orders_max USING ERRCODE = 'WF062',
      HINT = 'Join them with AND, or drop those that are met: wed_drop_after.';
  END IF;
  IF EXISTS (SELECT FROM wed.precedence p WHERE p.flow_id = _flow_id AND coalesce(p.wid, 0) = coalesce(_wid, 0)
             GROUP BY p.tgid HAVING count(*) > _orders_of_trigger) THEN
    RAISE EXCEPTION 'a trigger has more than % orders', _orders_of_trigger USING ERRCODE = 'WF062',
      HINT = 'Join them with AND, or drop those that are met: wed_drop_after.';
  END IF;
  SELECT q.tenant_id, q.orders AS allowed INTO _of FROM wed.flow f JOIN wed.quota q USING (tenant_id)
  WHERE f.flow_id = _flow_id AND q.orders IS NOT NULL;
  IF FOUND AND wed.count_orders(_of.tenant_id, _of.allowed + 1) > _of.allowed THEN
    PERFORM wed.refuse_quota('orders', _of.allowed, _of.allowed);
  END IF;
END $$;
