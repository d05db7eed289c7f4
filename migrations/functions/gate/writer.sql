-- Who writes some instances outside of a host's commit, ordered by wid: the job that each write ends,
-- shown by the papers' advisory lock (wid, tgid) of this session; null for an event. Of each instance whose
-- writer may not set every attribute, what it may set.
CREATE OR REPLACE FUNCTION wed.writer(_flow_id integer, _wids integer[], OUT tgids integer[], OUT allowed jsonb[])
LANGUAGE plpgsql AS $$
DECLARE
  _locked integer[];
  _of integer[];
  _open text[];
  _refusal text;
  _wid integer;
BEGIN
  SELECT array_agg(l.classid::bigint::integer), array_agg(l.objid::bigint::integer) INTO _of, _locked
  FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.pid = pg_backend_pid()
    AND l.mode = 'ExclusiveLock'
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database());
  SELECT open_attributes INTO _open FROM wed.flow WHERE flow_id = _flow_id;
  SELECT array_agg(j.tgid ORDER BY w.at),
         array_agg(CASE WHEN j.tgid IS NULL THEN jsonb_build_object('event', true, 'set', to_jsonb(_open))
                        WHEN g.writes IS NOT NULL THEN jsonb_build_object('transition', g.trname, 'set', to_jsonb(g.writes))
                   END ORDER BY w.at),
         min(j.refusal), min(w.wid) FILTER (WHERE j.refusal IS NOT NULL)
  INTO tgids, allowed, _refusal, _wid
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
    FROM (SELECT *, EXISTS (SELECT FROM ROWS FROM (unnest(_of), unnest(_locked)) AS l(wid, tgid)
                            WHERE l.wid = j.wid AND l.tgid = j.tgid) AS mine
          FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = w.wid) q) j
  LEFT JOIN wed.trigger g ON g.tgid = j.tgid;
  IF _refusal IS NOT NULL THEN
    PERFORM wed.refuse_update(_refusal, _wid);
  END IF;
  IF array_remove(allowed, NULL) = '{}' THEN
    allowed := NULL;
  END IF;
END $$;
