-- Whether a host runs: its leases hold, and the session over which it keeps them is there. A host that was killed ends
-- with its session; whose link went silent, with its leases. For what people are told: jobs go by leases alone.
CREATE OR REPLACE FUNCTION wed.host_runs(_host wed.host) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _host.expires_at > clock_timestamp()
    AND (_host.session_pid IS NULL OR EXISTS (SELECT FROM pg_stat_get_activity(_host.session_pid)))
$$;
