-- Whether some transaction has been open since some 500 others that wrote: old versions of all rows that were changed
-- since then are kept too. Of other roles' sessions only pg_read_all_stats may know.
CREATE OR REPLACE FUNCTION wed.is_beside_old() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM pg_stat_activity
                 WHERE (datname = current_database() OR datname IS NULL) AND pid <> pg_backend_pid()
                   AND backend_type <> 'autovacuum worker'
                   AND greatest(age(backend_xmin), age(backend_xid)) > 500)
      OR EXISTS (SELECT FROM pg_prepared_xacts WHERE database = current_database() AND age(transaction) > 500)
      OR EXISTS (SELECT FROM pg_replication_slots WHERE age(xmin) > 500)
$$;
