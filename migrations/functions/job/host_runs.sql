-- Whether a host runs, for what people are told: its leases hold, and the session that renews them is connected. The
-- session of a killed host ends at once; that of a host whose connection is silent lasts, so its leases decide. Which
-- host a job belongs to is decided by leases alone.
CREATE OR REPLACE FUNCTION wed.host_runs(_host wed.host) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _host.expires_at > clock_timestamp()
    AND (_host.session_pid IS NULL OR EXISTS (SELECT FROM pg_stat_get_activity(_host.session_pid)))
$$;
