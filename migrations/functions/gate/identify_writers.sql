-- Finds who writes some instances outside of a host's commit, ordered by wid: the job that each write ends, shown by
-- the papers' advisory lock (wid, tgid) of this session; none for an event. Decides too what each may set, and what
-- forbids it.
CREATE OR REPLACE FUNCTION wed.identify_writers(_flow_id integer, _wids integer[]) RETURNS wed.writing[]
LANGUAGE plpgsql AS $$
DECLARE
  _held wed.result[] := wed.locked_jobs();
  _open text[] := (SELECT open_attributes FROM wed.flow WHERE flow_id = _flow_id);
  _suspended boolean := wed.is_suspended(_flow_id);
BEGIN
  RETURN ARRAY(
    SELECT ROW(w.wid, j.tgid, g.trname, CASE WHEN j.tgid IS NULL THEN _open ELSE g.writes END,
               CASE WHEN _suspended THEN 'WF021' ELSE j.refusal END)::wed.writing
    FROM unnest(_wids) WITH ORDINALITY w(wid, at)
    CROSS JOIN LATERAL (
      SELECT min(q.tgid) FILTER (WHERE q.mine) AS tgid,
             CASE WHEN count(*) = 0 THEN 'WF002'
                  WHEN EXISTS (SELECT FROM wed.trace r WHERE r.flow_id = _flow_id AND r.wid = w.wid
                               AND r.seq = max(q.last_seq) AND r.tstmp >= now() AND r.xid = pg_current_xact_id()
                               AND r.trw IS NOT NULL) THEN 'WF006'
                  WHEN count(*) FILTER (WHERE q.mine) > 1 THEN 'WF005'
                  WHEN bool_or(q.mine AND q.host_id IS NOT NULL) THEN 'WF004'
                  WHEN bool_or(q.mine AND wed.is_held(q.flow_id, q.wid, q.tgid)) THEN 'WF081'
                  WHEN bool_or(q.mine AND q.blocked IS NOT NULL) THEN 'WF045'
                  WHEN NOT bool_or(q.mine) AND _open = '{}' THEN 'WF003' END AS refusal
      FROM (SELECT *, EXISTS (SELECT FROM unnest(_held) l WHERE l.wid = j.wid AND l.tgid = j.tgid) AS mine
            FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = w.wid) q) j
    LEFT JOIN wed.trigger g ON g.tgid = j.tgid ORDER BY w.at);
END $$;
