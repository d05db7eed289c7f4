-- Conditions that look at the clock and have become true for some running instances: their trigger is not pending, and
-- the present state has not fired it already (its job may have been skipped).
CREATE OR REPLACE FUNCTION wed.newly_true(_flow wed.flow, _wids integer[]) RETURNS TABLE (wid integer, tgids integer[])
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY EXECUTE format($q$
    SELECT c.wid, n.tgids FROM %1$I.clock_%1$s(ARRAY(
      SELECT ROW(w.*)::%1$I.wed_flow FROM %2$I.wed_flow w WHERE w.wid = ANY ($2) ORDER BY w.wid)) c
    CROSS JOIN LATERAL (
      SELECT array_agg(g.tgid ORDER BY g.tgid) AS tgids FROM unnest(c.tgids) g(tgid)
      WHERE NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = $1 AND j.wid = c.wid AND j.tgid = g.tgid)
        AND NOT EXISTS (SELECT FROM wed.trace s WHERE s.flow_id = $1 AND s.wid = c.wid AND s.tgid = g.tgid
          AND s.trw = '_SKIP'
                        AND NOT EXISTS (SELECT FROM wed.trace l WHERE l.flow_id = $1 AND l.wid = c.wid AND l.seq > s.seq
                                        AND (l.trw !~ '^_' OR l.trw IN ('_EVENT', '_ADHOC'))))) n
    WHERE n.tgids IS NOT NULL $q$, _flow.shape_schema, _flow.schema_name) USING _flow.flow_id, _wids;
END $$;
