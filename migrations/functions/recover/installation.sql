-- The state of the installation, for `wed status`: hosts, queue, history, pauses, and what is wrong with how to
-- mend it.
CREATE OR REPLACE FUNCTION wed.installation() RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object(
    'server', current_setting('server_version'),
    'database_bytes', pg_database_size(current_database()),
    'hosts', (SELECT coalesce(jsonb_agg(jsonb_build_object('name', h.name, 'host_id', h.host_id, 'version', h.version,
        'started', wed.rfc3339(h.started),
        'lease_ms', (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000)::bigint,
        'jobs', (SELECT count(*) FROM wed.job j WHERE j.host_id = h.host_id)) ORDER BY h.host_id), '[]')
          FROM wed.host h),
    'queue', wed.queue(),
    'partitions', (SELECT coalesce(jsonb_agg(jsonb_build_object('name', c.relname, 'bytes',
      pg_total_relation_size(c.oid)) ORDER BY c.relname), '[]')
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'wed.trace'::regclass),
    'pauses', (SELECT count(*) FROM wed.pause),
    'problems', (SELECT coalesce(jsonb_agg(jsonb_build_object('code', code, 'text', text, 'hint', hint)), '[]')
      FROM wed.problems()))
$$;
