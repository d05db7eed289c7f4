-- The feed: what happens to instances of a tenant's flows, in an order in which no commit overtakes another.

-- Returns events of a tenant's flows after a position, oldest first: rows of the trace in the order of their
-- transactions, those of a transaction by flow, instance and row. Only those before the oldest transaction that is
-- open and may write to these flows (wed.feed_horizon): any that commits later has a place behind them, so who
-- continues at the last position skips nothing and meets nothing twice. The position is (transaction, flow, instance,
-- row).
CREATE OR REPLACE FUNCTION wed.feed(_flow_ids integer[], _after bigint[], _limit integer)
RETURNS TABLE ("position" bigint[], flow text, wid integer, key text, seq integer, status text, transition text,
  fired text[], at text, writer text, note text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  _from xid8 := _after[1]::text::xid8;
  _end xid8 := wed.feed_horizon(_flow_ids);
BEGIN
  RETURN QUERY
    SELECT ARRAY[e.xid::text::bigint, e.flow_id, e.wid, e.seq], f.name, e.wid, i.key, e.seq, e.status::text, e.trw,
      e.trf, wed.rfc3339(e.tstmp), e.writer, e.note
    FROM (
      SELECT n.* FROM unnest(_flow_ids) w(flow_id) CROSS JOIN LATERAL (
        SELECT t.flow_id, t.wid, t.seq, t.xid, t.status, t.trw, t.trf, t.tstmp, t.writer, t.note FROM wed.trace t
        WHERE t.flow_id = w.flow_id AND t.xid >= _from AND t.xid < _end
          AND (t.xid > _from OR (t.flow_id, t.wid, t.seq) > (_after[2], _after[3], _after[4]))
        ORDER BY t.xid, t.wid, t.seq LIMIT _limit) n
      ORDER BY n.xid, n.flow_id, n.wid, n.seq LIMIT _limit) e
    JOIN wed.flow f ON f.flow_id = e.flow_id
    LEFT JOIN wed.instance i ON i.flow_id = e.flow_id AND i.wid = e.wid
    ORDER BY e.xid, e.flow_id, e.wid, e.seq;
END $$;

-- Returns the position at which the feed of a tenant's flows ends now.
CREATE OR REPLACE FUNCTION wed.feed_end(_flow_ids integer[] DEFAULT '{}') RETURNS bigint[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY[wed.feed_horizon(_flow_ids)::text::bigint, 0, 0, 0]
$$;

-- Returns the oldest transaction that is open and may write to a tenant's flows; the next one where there is none. One
-- of another tenant's flow's role, or of another database, cannot. A transaction of which nobody says whose it is
-- counts. A server in recovery does not list transactions, and its oldest stands for them.
CREATE OR REPLACE FUNCTION wed.feed_horizon(_flow_ids integer[]) RETURNS xid8
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH open AS (
    SELECT x.xid, (x.xid::text::numeric % 4294967296)::text AS number FROM pg_snapshot_xip(pg_current_snapshot()) x(xid)
  ), tenant AS (
    SELECT min(tenant_id) AS tenant_id FROM wed.flow WHERE flow_id = ANY (_flow_ids)
  ), elsewhere AS (
    SELECT w.number FROM wed.writing() w CROSS JOIN tenant t LEFT JOIN wed.flow f ON f.role_name = w.role_name
    WHERE w.database <> current_database() OR f.tenant_id <> t.tenant_id)
  SELECT CASE WHEN pg_is_in_recovery() THEN pg_snapshot_xmin(pg_current_snapshot())
    ELSE coalesce((
      SELECT min(o.xid) FROM open o WHERE NOT EXISTS (SELECT FROM elsewhere e WHERE e.number = o.number)),
      pg_snapshot_xmax(pg_current_snapshot())) END
$$;

-- Open transactions of the server that have written: of sessions, and prepared ones (gid), whose session has gone.
CREATE OR REPLACE FUNCTION wed.writing()
RETURNS TABLE (number text, pid integer, gid text, database name, role_name name, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT backend_xid::text, pid, NULL, datname, usename, xact_start FROM pg_stat_activity WHERE backend_xid IS NOT NULL
  UNION ALL
  SELECT transaction::text, NULL, gid, database, owner, prepared FROM pg_prepared_xacts
$$;
