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
  PERFORM wed.remove_unused_locks(clock_timestamp() + interval '1 s');
  RETURN _done;
END $$;
