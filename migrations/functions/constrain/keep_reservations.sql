-- Looks after reservations, for the hosts' sweep: tenant by tenant, in an order by chance and for two seconds at
-- most, so that none makes others wait. Removes locks of keys that nobody wants.
CREATE OR REPLACE FUNCTION wed.keep_reservations() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '50ms' AS $$
DECLARE
  _until timestamptz := clock_timestamp() + interval '2 s';
  _tenant integer;
  _done bigint := 0;
BEGIN
  FOR _tenant IN SELECT t.tenant_id FROM wed.tenant t WHERE EXISTS (
      SELECT FROM wed.request r WHERE r.tenant_id = t.tenant_id AND (r.state <> 'h' OR r.leads)) ORDER BY random() LOOP
    EXIT WHEN clock_timestamp() > _until;
    BEGIN
      _done := _done + wed.keep_tenants_reservations(_tenant);
    EXCEPTION WHEN lock_not_available THEN
      NULL; -- at the next sweep
    END;
  END LOOP;
  DELETE FROM wed.resource_lock WHERE ctid = ANY (ARRAY(
    SELECT l.ctid FROM wed.resource_lock l WHERE l.used_at < now() - interval '10 minutes'
      AND NOT EXISTS (SELECT FROM wed.reservation v
                      WHERE v.tenant_id = l.tenant_id AND v.resource = l.resource AND v.key = l.key)
    LIMIT 500 FOR UPDATE SKIP LOCKED));
  RETURN _done;
END $$;
