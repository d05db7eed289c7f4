-- External workers: the papers' lock, made safe.

-- Grants the papers' lock of (wid, tgid), while the job is there, is nobody's, is due, its condition holds, and no
-- person holds its work item. It looks again after locking: a lock that was just freed may be that of a job just done.
-- Holds nothing else: the other branches of the instance proceed.
CREATE OR REPLACE FUNCTION wed.take_job(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _holds boolean;
BEGIN
  PERFORM FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id IS NULL
    AND due <= clock_timestamp();
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM wed.refuse_many_locks(_flow_id);
  IF NOT pg_try_advisory_xact_lock(_wid, _tgid) THEN RETURN false; END IF;
  PERFORM FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id IS NULL
    AND due <= clock_timestamp();
  IF NOT FOUND OR wed.is_held(_flow_id, _wid, _tgid) THEN RETURN false; END IF;
  _holds := wed.condition_holds(_flow_id, _wid, _tgid);
  IF NOT _holds THEN
    PERFORM wed.skip_stale_job(_flow_id, _wid, _tgid);
  END IF;
  RETURN coalesce(_holds, false);
END $$;

-- Tells whether some session has the papers' lock of a job. Takes none.
CREATE OR REPLACE FUNCTION wed.is_job_locked(_wid integer, _tgid integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.classid::bigint = _wid
      AND l.objid::bigint = _tgid AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))
$$;

-- Refuses another job lock where many are held: by the session, by all sessions of the tenant, or by all of the server.
-- Locks are in memory that all sessions share, room for max_locks_per_transaction of each connection; without any left,
-- nobody can even connect. Counting looks at all of them, so one grant in eight counts, by a random number that no
-- client can foresee; a limit is overrun by some dozens.
CREATE OR REPLACE FUNCTION wed.refuse_many_locks(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _session_max CONSTANT integer := 1000;
  _room CONSTANT integer := current_setting('max_locks_per_transaction')::integer
    * current_setting('max_connections')::integer;
  _held record;
BEGIN
  IF get_byte(uuid_send(gen_random_uuid()), 0) >= 32 THEN RETURN; END IF;
  SELECT count(*) FILTER (WHERE l.pid = pg_backend_pid()) AS session, count(*) FILTER (WHERE a.usename IN (
      SELECT f.role_name FROM wed.flow f JOIN wed.flow own USING (tenant_id) WHERE own.flow_id = _flow_id)) AS tenant,
    count(*) AS all_of_them
  INTO _held FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory';
  IF _held.session >= _session_max THEN
    RAISE EXCEPTION 'this session holds the locks of % jobs', _held.session USING ERRCODE = 'WF017',
      HINT = 'Finish these and commit; then take more.';
  ELSIF _held.tenant >= _room / 4 THEN
    RAISE EXCEPTION 'the sessions of the tenant hold the locks of % jobs', _held.tenant USING ERRCODE = 'WF017',
      HINT = format('At most %s together. Finish these and commit; then take more.', _room / 4);
  ELSIF _held.all_of_them >= _room / 2 THEN
    RAISE EXCEPTION 'the server has room for no more locks of jobs' USING ERRCODE = 'WF017',
      HINT = 'Try again when others have committed.';
  END IF;
END $$;
