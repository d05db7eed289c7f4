-- Receipts: what a day's commits and failed attempts used, by tenant, flow and transition.

-- Returns what a day (UTC) used, of one tenant or of all (null), in the order of tenant, flow and transition, from the
-- trace and the attempts that are kept, and from the receipts of removed flows. A start has the transition ''. Of
-- today, a flow has one more row, of the transition null: the bytes that its instances take on disk now.
CREATE OR REPLACE FUNCTION wed.receipts_of_day(_tenant text, _day date)
RETURNS TABLE (tenant text, flow text, transition text, commits bigint, failures bigint, fuel bigint,
  elapsed_us bigint, memory_max_bytes bigint, memory_byte_seconds bigint, written_bytes bigint, stored_bytes bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH used AS (
    SELECT f.tenant_id, f.flow, u.transition, u.commits, u.failures, u.fuel, u.elapsed_us, u.memory_max_bytes,
      u.memory_byte_seconds, u.written_bytes
    FROM wed.consumption_of_day(_day) u
    JOIN (SELECT flow_id, tenant_id, name AS flow FROM wed.flow
          UNION ALL SELECT flow_id, tenant_id, flow FROM wed.residue) f USING (flow_id)
    UNION ALL
    SELECT tenant_id, flow, transition, commits, failures, fuel, elapsed_us, memory_max_bytes,
      memory_byte_seconds, written_bytes
    FROM wed.receipt WHERE day = _day
  )
  SELECT t.name, u.flow, u.transition, sum(u.commits)::bigint, sum(u.failures)::bigint, sum(u.fuel)::bigint,
    sum(u.elapsed_us)::bigint, max(u.memory_max_bytes), sum(u.memory_byte_seconds)::bigint,
    sum(u.written_bytes)::bigint, NULL::bigint
  FROM used u JOIN wed.tenant t USING (tenant_id)
  WHERE _tenant IS NULL OR t.name = _tenant
  GROUP BY t.name, u.flow, u.transition
  UNION ALL
  SELECT t.name, f.name, NULL, 0, 0, 0, 0, 0, 0, 0, wed.table_bytes(f.schema_name)
  FROM wed.flow f JOIN wed.tenant t USING (tenant_id)
  WHERE _day = (now() AT TIME ZONE 'UTC')::date AND (_tenant IS NULL OR t.name = _tenant)
  ORDER BY 1, 2, 3 NULLS FIRST
$$;

-- Adds up what a day (UTC) used, by flow and transition.
CREATE OR REPLACE FUNCTION wed.consumption_of_day(_day date)
RETURNS TABLE (flow_id integer, transition text, commits bigint, failures bigint, fuel bigint, elapsed_us bigint,
  memory_max_bytes bigint, memory_byte_seconds bigint, written_bytes bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT flow_id, transition, sum(commits), sum(failures), coalesce(sum(fuel), 0)::bigint,
    coalesce(sum(elapsed_us), 0)::bigint, coalesce(max(memory_bytes), 0),
    coalesce(sum(memory_bytes / 1e6 * elapsed_us), 0)::bigint, coalesce(sum(written_bytes), 0)::bigint
  FROM wed.consumption
  WHERE tstmp >= _day::timestamp AT TIME ZONE 'UTC' AND tstmp < (_day + 1)::timestamp AT TIME ZONE 'UTC'
  GROUP BY flow_id, transition
$$;

-- Adds what some instances of a removed flow used to its tenant's receipts, before they go.
CREATE OR REPLACE FUNCTION wed.keep_receipts(_flow_id integer, _wids integer[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.receipt AS r
  SELECT x.tenant_id, (c.tstmp AT TIME ZONE 'UTC')::date, x.flow, c.transition, sum(c.commits), sum(c.failures),
    coalesce(sum(c.fuel), 0)::bigint, coalesce(sum(c.elapsed_us), 0)::bigint, coalesce(max(c.memory_bytes), 0),
    coalesce(sum(c.memory_bytes / 1e6 * c.elapsed_us), 0)::bigint, coalesce(sum(c.written_bytes), 0)::bigint
  FROM wed.residue x JOIN wed.tenant USING (tenant_id) JOIN wed.consumption c USING (flow_id)
  WHERE x.flow_id = _flow_id AND c.wid = ANY (_wids)
  GROUP BY 1, 2, 3, 4
  ON CONFLICT (tenant_id, day, flow, transition) DO UPDATE SET commits = r.commits + excluded.commits,
    failures = r.failures + excluded.failures, fuel = r.fuel + excluded.fuel,
    elapsed_us = r.elapsed_us + excluded.elapsed_us,
    memory_max_bytes = greatest(r.memory_max_bytes, excluded.memory_max_bytes),
    memory_byte_seconds = r.memory_byte_seconds + excluded.memory_byte_seconds,
    written_bytes = r.written_bytes + excluded.written_bytes
$$;

-- Removes receipts of removed flows that are too old for a request to name their day, at most _limit. Answers how many.
CREATE OR REPLACE FUNCTION wed.expire_receipts(_limit integer) RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH gone AS (DELETE FROM wed.receipt WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM wed.receipt WHERE day < (now() AT TIME ZONE 'UTC')::date - 732 LIMIT _limit FOR UPDATE SKIP LOCKED))
    RETURNING 1)
  SELECT count(*) FROM gone
$$;
