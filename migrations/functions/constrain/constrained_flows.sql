-- The constrained flows of some new states, each with its instances and the triggers of the jobs that ended; of them,
-- those whose conditions ask for keys, and those that may have held some.
CREATE OR REPLACE FUNCTION wed.constrained_flows(_rows wed.evaluated[], _tgids integer[])
RETURNS TABLE (
  flow wed.flow, wids integer[], tgids integer[], asking integer[], ending integer[], ending_tgids integer[])
LANGUAGE sql STABLE ROWS 10 AS $$
  SELECT f, array_agg(r.wid ORDER BY r.at), array_agg(_tgids[r.at] ORDER BY r.at),
    coalesce(array_agg(r.wid ORDER BY r.at) FILTER (WHERE r.fired && f.reserving), '{}'),
    coalesce(array_agg(r.wid ORDER BY r.at) FILTER (WHERE f.holds_longer OR _tgids[r.at] = ANY (f.reserving)), '{}'),
    coalesce(array_agg(_tgids[r.at] ORDER BY r.at)
             FILTER (WHERE f.holds_longer OR _tgids[r.at] = ANY (f.reserving)), '{}')
  FROM unnest(_rows) WITH ORDINALITY r(flow_id, version, wid, state, payload, fired, kept, final, fault, at)
  JOIN wed.flow f ON f.flow_id = r.flow_id AND f.constrained
  GROUP BY f.flow_id ORDER BY f.flow_id
$$;
