-- The feed: what happens to instances of some flows, in an order in which no commit overtakes another.

-- Returns events of some flows after a position, oldest first: rows of the trace in the order of their transactions,
-- those of a transaction by flow, instance and row. Only those before the oldest transaction that is still open: any
-- that commits later has a place behind them, so who continues at the last position skips nothing and meets nothing
-- twice. The position is (transaction, flow, instance, row).
CREATE OR REPLACE FUNCTION wed.feed(_flow_ids integer[], _after bigint[], _limit integer)
RETURNS TABLE ("position" bigint[], flow text, wid integer, key text, seq integer, status text, transition text,
  fired text[], at text, writer text, note text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  _from xid8 := _after[1]::text::xid8;
  _end xid8 := pg_snapshot_xmin(pg_current_snapshot());
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

-- Returns the position at which the feed ends now: before the oldest transaction that is still open.
CREATE OR REPLACE FUNCTION wed.feed_end() RETURNS bigint[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY[pg_snapshot_xmin(pg_current_snapshot())::text::bigint, 0, 0, 0]
$$;
