-- Ends sessions of tenants whose flows' roles have too many together, the newest first: more than their quota allows
-- one role, to which Postgres itself holds each, and more than their share of those that the server takes. Returns how
-- many it ended.
CREATE OR REPLACE FUNCTION wed.end_surplus_sessions(_share float8 DEFAULT 0.5) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _session record;
  _ended bigint := 0;
BEGIN
  FOR _session IN
    SELECT s.pid FROM (
      SELECT a.pid, q.connections, row_number() OVER (PARTITION BY f.tenant_id ORDER BY a.backend_start) AS number
      FROM pg_stat_activity a JOIN wed.flow f ON f.role_name = a.usename JOIN wed.quota q USING (tenant_id)) s
    WHERE s.number > greatest(s.connections, _share * current_setting('max_connections')::integer)
  LOOP
    PERFORM pg_terminate_backend(_session.pid);
    _ended := _ended + 1;
  END LOOP;
  RETURN _ended;
END $$;
