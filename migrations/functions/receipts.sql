-- Receipts: what a day's commits and failed attempts used, by tenant, flow and transition.

-- Returns what a day (UTC) used, of one tenant or of all (null), in the order of tenant, flow and transition, from the
-- trace and the attempts that are kept. A start has the transition ''. An attempt whose failure ended its instance as
-- an exception stands in both: its use is taken from the attempt. Of today, a flow has one more row, of the transition
-- null: the bytes that its instances take on disk now.
CREATE OR REPLACE FUNCTION wed.receipts_of_day(_tenant text, _day date)
RETURNS TABLE (tenant text, flow text, transition text, commits bigint, failures bigint, fuel bigint,
  elapsed_us bigint, memory_max_bytes bigint, memory_byte_seconds bigint, written_bytes bigint, stored_bytes bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH committed AS (
    SELECT t.flow_id, coalesce(t.trw, '') AS transition, count(*) AS commits, 0::bigint AS failures,
      sum(t.fuel) FILTER (WHERE t.trw <> '_ABORT') AS fuel,
      sum(t.elapsed_us) FILTER (WHERE t.trw <> '_ABORT') AS elapsed_us,
      max(t.memory_bytes) FILTER (WHERE t.trw <> '_ABORT') AS memory_max_bytes,
      sum(t.memory_bytes / 1e6 * t.elapsed_us) FILTER (WHERE t.trw <> '_ABORT') AS memory_byte_seconds,
      sum(pg_column_size(t.state)) AS written_bytes
    FROM wed.trace t
    WHERE t.tstmp >= _day::timestamp AT TIME ZONE 'UTC' AND t.tstmp < (_day + 1)::timestamp AT TIME ZONE 'UTC'
    GROUP BY t.flow_id, t.trw
  ), failed AS (
    SELECT a.flow_id, a.trname, 0::bigint, count(*), sum(a.fuel), sum(a.elapsed_us), max(a.memory_bytes),
      sum(a.memory_bytes / 1e6 * a.elapsed_us), sum(pg_column_size(a.message))
    FROM wed.attempt a
    WHERE a.tstmp >= _day::timestamp AT TIME ZONE 'UTC' AND a.tstmp < (_day + 1)::timestamp AT TIME ZONE 'UTC'
    GROUP BY a.flow_id, a.trname
  )
  SELECT t.name, f.name, u.transition, sum(u.commits)::bigint, sum(u.failures)::bigint,
    coalesce(sum(u.fuel), 0)::bigint, coalesce(sum(u.elapsed_us), 0)::bigint,
    coalesce(max(u.memory_max_bytes), 0)::bigint, coalesce(sum(u.memory_byte_seconds), 0)::bigint,
    coalesce(sum(u.written_bytes), 0)::bigint, NULL::bigint
  FROM (SELECT * FROM committed UNION ALL SELECT * FROM failed) u
  JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id)
  WHERE _tenant IS NULL OR t.name = _tenant
  GROUP BY t.name, f.name, u.transition
  UNION ALL
  SELECT t.name, f.name, NULL, 0, 0, 0, 0, 0, 0, 0, wed.table_bytes(f.schema_name)
  FROM wed.flow f JOIN wed.tenant t USING (tenant_id)
  WHERE _day = (now() AT TIME ZONE 'UTC')::date AND (_tenant IS NULL OR t.name = _tenant)
  ORDER BY 1, 2, 3 NULLS FIRST
$$;
