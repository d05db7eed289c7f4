-- Capacity of the installation that runs out: numbers, transaction ids, days of history, connections.

-- Lists by kind the fullest thing and the part of it that is used, from 0 to 1: transaction ids before Postgres stops
-- taking changes, numbers of things that all flows share, numbers of instances, days ahead without a partition,
-- connections of the server or of this database where it has fewer.
CREATE OR REPLACE FUNCTION wed.capacity() RETURNS TABLE (kind text, thing text, used double precision)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
  SELECT 'transaction_ids', format('database %s', datname),
    greatest(age(datfrozenxid), mxid_age(datminmxid))::double precision / 2147483648
  FROM pg_database WHERE datname = current_database()
  UNION ALL
  (SELECT 'numbers', format('sequence %s', sequencename), last_value::double precision / max_value
   FROM pg_sequences WHERE schemaname = 'wed' AND sequencename !~ '^started_' AND last_value IS NOT NULL
   ORDER BY 3 DESC LIMIT 1)
  UNION ALL
  (SELECT 'instances', format('flow %s of tenant %s', f.name, t.name), n.last::double precision / 2147483647
   FROM wed.flow f JOIN wed.tenant t USING (tenant_id)
   CROSS JOIN LATERAL (SELECT max(i.wid) AS last FROM wed.instance i WHERE i.flow_id = f.flow_id) n
   WHERE n.last IS NOT NULL ORDER BY n.last DESC LIMIT 1)
  UNION ALL
  SELECT 'partitions', 'the history', 1 - count(*) / 7.0
  FROM generate_series(1, 7) ahead
  WHERE to_regclass('wed.trace_' || to_char(current_date + ahead, 'YYYYMMDD')) IS NOT NULL
  UNION ALL
  (SELECT 'connections', c.thing, c.open::double precision / c.most FROM (
     SELECT 'the server', count(*), current_setting('max_connections')::integer
       - current_setting('superuser_reserved_connections')::integer
     -- Of others' sessions a role that is no superuser does not see the kind.
     FROM pg_stat_activity WHERE datid IS NOT NULL AND backend_type IS DISTINCT FROM 'autovacuum worker'
     UNION ALL
     SELECT format('database %s', d.datname), (SELECT count(*) FROM pg_stat_activity a WHERE a.datid = d.oid),
       d.datconnlimit
     FROM pg_database d WHERE d.datname = current_database() AND d.datconnlimit > 0) c(thing, open, most)
   ORDER BY 3 DESC LIMIT 1)
$$;

-- Names what is nearly used up, and how more is had. Numbers are warned of at four fifths, connections at nine tenths,
-- transaction ids at half: a server that vacuums stays far below.
CREATE OR REPLACE FUNCTION wed.capacity_problems() RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'capacity_low', format('%s has used %s %% of its %s', c.thing, floor(c.used * 100), k.what), k.hint
  FROM wed.capacity() c JOIN (VALUES
    ('transaction_ids', 0.5, 'transaction ids', 'Let autovacuum freeze old rows: end old transactions, drop unused '
      'replication slots, then VACUUM (FREEZE). At 100 % Postgres takes no changes.'),
    ('numbers', 0.8, 'numbers', 'Move tenants to another installation: `wed tenant move`.'),
    ('instances', 0.8, 'instance numbers', 'Make a new flow for new instances.'),
    ('connections', 0.9, 'connections', 'Bound those of tenants: `wed tenant quota --connections`. Or raise '
      'max_connections, or run hosts with fewer --lanes.')) k(kind, most, what, hint)
    ON k.kind = c.kind AND c.used >= k.most
  UNION ALL
  SELECT 'capacity_low', 'the history has no partition for the days to come',
    'A host makes them each minute: see its log. A reader''s long transaction is in the way of each.'
  FROM wed.capacity() c WHERE c.kind = 'partitions' AND c.used > 0.8 AND EXISTS (
    SELECT FROM wed.host h WHERE wed.host_runs(h) AND h.started < clock_timestamp() - interval '1 hour')
$$;
