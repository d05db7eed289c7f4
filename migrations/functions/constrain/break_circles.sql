-- Ends the youngest of instances of a tenant that wait for each other in a circle: each holds something until later,
-- waits for what another holds, and has nothing else to do. It is an exception, which frees what it holds. In a
-- transaction of its own: it locks instances. Tenants by chance, for two seconds at most.
CREATE OR REPLACE FUNCTION wed.break_circles() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '50ms' AS $$
DECLARE
  _until timestamptz := clock_timestamp() + interval '2 s';
  _tenant integer;
  _one record;
  _ended bigint := 0;
BEGIN
  FOR _tenant IN SELECT t.tenant_id FROM wed.tenant t WHERE EXISTS (
      SELECT FROM wed.request r WHERE r.tenant_id = t.tenant_id AND r.state = 'w') ORDER BY random() LOOP
    EXIT WHEN clock_timestamp() > _until;
    SELECT * INTO _one FROM wed.youngest_of_circle(wed.stuck_requests(_tenant));
    CONTINUE WHEN NOT FOUND;
    BEGIN
      PERFORM wed.pass_as_it_stands(_one.flow_id, _one.wid, _one.tgid, '_ABORT', format(
        '%s: waits in a circle: instance %s waits for %s, which this one holds', _one.trname, _one.by_wid, _one.key),
        NULL, NULL);
      _ended := _ended + 1;
    EXCEPTION WHEN lock_not_available THEN
      NULL; -- at the next sweep
    END;
  END LOOP;
  RETURN _ended;
END $$;
