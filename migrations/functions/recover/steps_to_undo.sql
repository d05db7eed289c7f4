-- Committed steps of an instance behind a trace row that have a compensation and are not undone yet, nor left as they
-- are because an operator skipped the compensation; newest first. A compensation's own trace row names the step that it
-- undid as the row that it started from.
CREATE OR REPLACE FUNCTION wed.steps_to_undo(_flow_id integer, _wid integer, _to_seq integer)
RETURNS TABLE (seq integer, tstmp timestamptz, tgid integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT r.seq, r.tstmp, c.tgid
  FROM wed.trace r JOIN wed.trigger_policy p ON p.tgid = r.tgid AND p.compensation IS NOT NULL
  CROSS JOIN LATERAL (SELECT wed.compensation_trigger(_flow_id, p.compensation) AS tgid) c
  WHERE r.flow_id = _flow_id AND r.wid = _wid AND r.seq > _to_seq AND r.trw NOT LIKE '\_%'
    AND NOT EXISTS (SELECT FROM wed.trace u WHERE u.flow_id = _flow_id AND u.wid = _wid AND u.seq > r.seq
                    AND u.tgid = c.tgid AND u.from_seq = r.seq
                    AND (u.trw NOT LIKE '\_%' OR u.trw = '_SKIP'))
  ORDER BY r.seq DESC
$$;
