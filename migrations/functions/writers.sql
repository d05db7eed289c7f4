-- Writers of instances outside of a host's commit: the jobs that they end, what they may set, texts of refusals.

-- Returns whether the writer is no host: a host's batch takes its states through the gate itself (wed.write_results);
-- only a session of the owner is believed to be one. Every writer may call it, with whatever search_path. The condition
-- of a trigger is read from its text by every statement, so it is short.
DO $$ BEGIN
  EXECUTE format($f$CREATE OR REPLACE FUNCTION wed.is_by_hand() RETURNS boolean LANGUAGE plpgsql STABLE AS $b$
BEGIN
  RETURN session_user OPERATOR(pg_catalog.<>) %L::pg_catalog.name
    OR (pg_catalog.current_setting('wed.commit', true) OPERATOR(pg_catalog.=) 'batch') IS NOT TRUE;
END $b$ $f$, (SELECT r.rolname FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.nspname = 'wed'));
END $$;

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

-- Returns the jobs whose advisory locks (wid, tgid) this session holds.
CREATE OR REPLACE FUNCTION wed.locked_jobs() RETURNS wed.result[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT ROW(l.classid::bigint::integer, l.objid::bigint::integer, NULL, NULL, NULL, NULL, NULL)::wed.result
    FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.pid = pg_backend_pid()
      AND l.mode = 'ExclusiveLock'
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()));
END $$;

-- Refuses writes that a rule forbids, and attributes that their writers may not set: the first by wid.
CREATE OR REPLACE FUNCTION wed.refuse_writers(_writings wed.writing[], _changes wed.change[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _bad record;
BEGIN
  SELECT w.* INTO _bad FROM unnest(_writings) w WHERE w.refusal IS NOT NULL ORDER BY w.wid LIMIT 1;
  IF FOUND THEN
    PERFORM wed.refuse_update(_bad.refusal, _bad.wid);
  END IF;
  SELECT w.*, a.name INTO _bad
  FROM ROWS FROM (unnest(_writings), unnest(_changes)) AS w(wid, tgid, transition, may_set, refusal, of_wid, attributes)
  CROSS JOIN LATERAL unnest(w.attributes) a(name)
  WHERE a.name <> ALL (w.may_set) ORDER BY w.wid LIMIT 1;
  IF NOT FOUND THEN RETURN; END IF;
  IF _bad.tgid IS NOT NULL THEN
    PERFORM wed.refuse_write(_bad.wid, _bad.transition, _bad.name, _bad.may_set);
  END IF;
  RAISE EXCEPTION 'this session holds no lock on a pending job of instance %, and attribute "%" is not open', _bad.wid,
    _bad.name
    USING ERRCODE = 'WF003',
      HINT =
        'Take the job''s lock first, SELECT pg_try_advisory_xact_lock(wid, tgid) with a row of job_pool, or declare '
        'the attribute open (UPDATE wed_attr SET open = true).';
END $$;

-- Raises the refusal of an update: why, about what, and how to mend it.
CREATE OR REPLACE FUNCTION wed.refuse_update(_code text, _wid integer) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  CASE _code
    WHEN 'WF002' THEN
      RAISE EXCEPTION 'instance % is final and cannot be modified', _wid USING ERRCODE = 'WF002',
        HINT = 'Start a new instance.';
    WHEN 'WF003' THEN
      RAISE EXCEPTION 'this session holds no lock on a pending job of instance %', _wid USING ERRCODE = 'WF003',
        HINT =
          'Take the job''s lock first, SELECT pg_try_advisory_xact_lock(wid, tgid) with a row of job_pool, or '
          'declare the attribute open (UPDATE wed_attr SET open = true).';
    WHEN 'WF004' THEN
      RAISE EXCEPTION 'the job of instance % that this session has locked is in the hands of a host', _wid
        USING ERRCODE = 'WF004', HINT = 'Abort, and look for another job.';
    WHEN 'WF005' THEN
      RAISE EXCEPTION 'this session holds the locks of several pending jobs of instance %', _wid
        USING ERRCODE = 'WF005', HINT = 'One transaction finishes one job of an instance: lock only that one.';
    WHEN 'WF006' THEN
      RAISE EXCEPTION 'instance % was already updated in this transaction', _wid USING ERRCODE = 'WF006',
        HINT = 'One transaction finishes one job of an instance, with one UPDATE: commit, then continue.';
    WHEN 'WF007' THEN
      RAISE EXCEPTION 'the final condition of instance % would hold while other transitions of it are pending', _wid
        USING ERRCODE = 'WF007',
          HINT = 'Let the pending transitions in job_pool finish first, or skip them, then try again.';
    WHEN 'WF081' THEN
      RAISE EXCEPTION 'the job of instance % that this session has locked is held by a person', _wid
        USING ERRCODE = 'WF081',
          HINT = 'Abort, and look for another job; its holder reports it with `wed work report`.';
    WHEN 'WF021' THEN
      RAISE EXCEPTION 'the tenant is suspended' USING ERRCODE = 'WF021', HINT = 'The operator resumes it.';
    WHEN 'WF045' THEN
      RAISE EXCEPTION
        'the job of instance % that this session has locked waits: for its reservation, or for tasks before it', _wid
        USING ERRCODE = 'WF045', HINT = 'waits_for in job_pool says for what; take the lock when it is due.';
    WHEN '40001' THEN
      -- Its claim was lost, or the flow was changed just now: to be tried again with what is still held.
      RAISE EXCEPTION 'instance % moved on meanwhile', _wid USING ERRCODE = '40001';
  END CASE;
END $$;

CREATE OR REPLACE FUNCTION wed.refuse_write(_wid integer, _transition text, _attribute text,
  _allowed text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'transition % may not set attribute "%"', _transition, _attribute
    USING ERRCODE = 'WF010', DETAIL = format('Instance %s; it may set: %s.', _wid,
      coalesce(nullif(array_to_string(_allowed, ', '), ''), 'nothing')),
    HINT = 'Add the attribute to the trigger''s writes in wed_trig, or do not set it.';
END $$;
