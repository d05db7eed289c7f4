-- The hosts that jobs are leased to, one probe of the index for each.
CREATE OR REPLACE FUNCTION wed.hosts_with_jobs() RETURNS TABLE (host_id integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE n(host_id) AS (
    SELECT min(j.host_id) FROM wed.job j WHERE j.host_id IS NOT NULL
    UNION ALL
    SELECT (SELECT min(j.host_id) FROM wed.job j WHERE j.host_id IS NOT NULL AND j.host_id > n.host_id)
    FROM n WHERE n.host_id IS NOT NULL)
  SELECT n.host_id FROM n WHERE n.host_id IS NOT NULL
$$;
