-- Workers over HTTP: jobs leased to them, each until a moment of its own, fenced by its lease token.
--
-- Such a job has host_id 0. Its worker's result takes the way of a host's (wed.write_unlocked, wed.pass_gate), a failed
-- attempt that of a host's (wed.fail_attempt), and a lease that ended that of a lost host's (wed.do_abandoned).

-- Leases to a worker up to _limit due jobs of a flow's transitions that no component performs, by turns of the
-- transitions; without _lease, until each trigger's timeout. Skips what is locked, a person's work, or whose condition
-- no longer holds. A tenant's workers have 1000 jobs leased at the most; claims of the same instant may go over it.
CREATE OR REPLACE FUNCTION wed.lease_to_worker(
  _flow_id integer, _transitions text[], _limit integer, _worker text, _lease interval)
RETURNS TABLE (wid integer, tgid integer, trigger text, transition text, token bigint, attempt integer,
  attempts integer, lease_ends text, seq integer, state jsonb, progress jsonb)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  _leased_max CONSTANT integer := 1000;
  _now timestamptz := clock_timestamp();
  _job record;
  _left integer := least(_limit, _leased_max - (
    SELECT count(*) FROM wed.job j JOIN wed.flow f ON f.flow_id = _flow_id
    WHERE j.host_id = 0 AND j.tenant_id = f.tenant_id));
BEGIN
  IF _left <= 0 AND _limit > 0 THEN
    RAISE EXCEPTION 'workers of the tenant have % jobs leased', _leased_max USING ERRCODE = 'WF017',
      HINT = 'Complete these, or fail them; then claim more.';
  END IF;
  FOR _job IN SELECT c.* FROM wed.find_external_jobs(_flow_id, _transitions, _limit, _now) c LOOP
    EXIT WHEN _left = 0;
    CONTINUE WHEN NOT pg_try_advisory_xact_lock(_job.wid, _job.tgid)
      OR wed.is_persons_work(_flow_id, _job.wid, _job.tgid);
    IF wed.condition_holds(_flow_id, _job.wid, _job.tgid) IS NOT TRUE THEN
      PERFORM wed.skip_stale_job(_flow_id, _job.wid, _job.tgid);
      CONTINUE;
    END IF;
    PERFORM wed.renew_payload(_flow_id, _job.wid, _job.tgid);
    _left := _left - 1;
    RETURN QUERY
      UPDATE wed.job j SET host_id = 0, token = nextval('wed.fence'), attempt = j.attempt + 1, put_off = NULL,
        worker = _worker, lease_ends = _now + wed.lease_of(_lease, j.timeout)
      FROM wed.trigger t
      WHERE j.flow_id = _flow_id AND j.wid = _job.wid AND j.tgid = _job.tgid AND t.tgid = j.tgid
      RETURNING j.wid, j.tgid, coalesce(nullif(t.tgname, ''), t.tgid::text), j.trname, j.token, j.attempt, t.attempts,
        wed.rfc3339(j.lease_ends), j.seq,
        -- Of a compensation, the state that its step left.
        wed.with_present_names(j.flow_id, coalesce(j.payload, (SELECT r.state FROM wed.trace r
          WHERE r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq = j.seq AND r.tstmp = j.fired_at))::jsonb,
          CASE WHEN j.is_compensation THEN j.fired_at ELSE 'infinity' END),
        j.progress;
  END LOOP;
END $$;

-- Gives a job that was fired before an attribute changed the present state as payload (wed.renew_payloads).
CREATE OR REPLACE FUNCTION wed.renew_payload(_flow_id integer, _wid integer, _tgid integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _rows wed.evaluated[];
BEGIN
  PERFORM FROM wed.job j JOIN wed.trigger t ON t.tgid = j.tgid AND t.attributes_changed_at > j.fired_at
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid;
  IF NOT FOUND THEN RETURN; END IF;
  EXECUTE format('SELECT %1$I.current_%1$s($1)', (SELECT shape_schema FROM wed.flow WHERE flow_id = _flow_id))
    INTO _rows USING ARRAY[_wid];
  PERFORM wed.renew_payloads(_flow_id, _rows, ARRAY[_tgid]);
END $$;

-- Finds a flow's due jobs that no component performs and nobody has, of each transition as many as _limit, by turns; of
-- a transition's those of the highest priority and longest due. Their rows are locked; locked ones are left out.
CREATE OR REPLACE FUNCTION wed.find_external_jobs(
  _flow_id integer, _transitions text[], _limit integer, _now timestamptz) RETURNS TABLE (wid integer, tgid integer)
LANGUAGE sql AS $$
  SELECT c.wid, c.tgid FROM (
    SELECT j.wid, j.tgid, row_number() OVER (PARTITION BY j.trname ORDER BY j.priority DESC, j.due) AS turn, j.due
    FROM unnest(_transitions) n(trname) CROSS JOIN LATERAL (
      SELECT q.wid, q.tgid, q.trname, q.priority, q.due FROM wed.job q
      WHERE q.flow_id = _flow_id AND q.trname = n.trname AND q.host_id IS NULL AND q.component_id IS NULL
        AND q.due <= _now
      ORDER BY q.priority DESC, q.due LIMIT _limit FOR UPDATE SKIP LOCKED) j) c
  WHERE NOT wed.is_suspended(_flow_id)
  ORDER BY c.turn, c.due
$$;

-- Returns whether a job is on worklists.
CREATE OR REPLACE FUNCTION wed.is_persons_work(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM wed.work_item i WHERE i.flow_id = _flow_id AND i.wid = _wid AND i.tgid = _tgid
    AND i.ended_at IS NULL)
$$;

-- Returns how long a lease lasts: as asked, or the trigger's timeout; a second at the least, an hour at the most.
CREATE OR REPLACE FUNCTION wed.lease_of(_asked interval, _timeout interval) RETURNS interval
LANGUAGE sql IMMUTABLE AS $$
  SELECT make_interval(secs => greatest(1, least(3600,
    extract(epoch FROM coalesce(_asked, _timeout, '1 minute'))::double precision)))
$$;

-- Prolongs a worker's lease from now on, and keeps what it says of its progress (null: what it said before). Answers
-- when the lease ends.
CREATE OR REPLACE FUNCTION wed.extend_lease(
  _flow_id integer, _wid integer, _tgid integer, _token bigint, _lease interval, _progress jsonb) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _progress_bytes_max CONSTANT integer := 16384;
  _ends timestamptz;
BEGIN
  IF octet_length(_progress::text) > _progress_bytes_max THEN
    RAISE EXCEPTION 'the progress has % bytes, and % are allowed', octet_length(_progress::text), _progress_bytes_max
      USING ERRCODE = '22023', HINT = 'Keep what is large elsewhere, and say here where.';
  END IF;
  PERFORM wed.hold_lease(_flow_id, _wid, _tgid, _token);
  UPDATE wed.job SET lease_ends = clock_timestamp() + wed.lease_of(_lease, timeout),
    progress = coalesce(_progress, progress)
  WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid RETURNING lease_ends INTO _ends;
  RETURN wed.rfc3339(_ends);
END $$;

-- Returns the key under which the end of a lease is remembered. It has a space, which no key of a client has.
CREATE OR REPLACE FUNCTION wed.lease_key(_token bigint) RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT 'lease ' || _token $$;

-- Locks the job of a worker's lease, and refuses a lease that has ended, whoever has the job now.
CREATE OR REPLACE FUNCTION wed.hold_lease(_flow_id integer, _wid integer, _tgid integer, _token bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id = 0 AND token = _token
    AND lease_ends > clock_timestamp() FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the lease of this job has ended, or is none of it' USING ERRCODE = 'WF026',
      HINT = 'Drop the result; whoever claims the job does it again. Extend a lease before it ends.';
  END IF;
END $$;

-- Commits a worker's result: one group of one result. Once: the answer to a repetition is the first one's. The answer
-- says which row of the trace it wrote, and what became of the instance.
CREATE OR REPLACE FUNCTION wed.complete_job(
  _flow_id integer, _group wed.result_group, _actor text, _asked jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _result wed.result := _group.results[1];
  _tenant_id integer := (SELECT tenant_id FROM wed.flow WHERE flow_id = _flow_id);
  _key text := wed.lease_key(_result.token);
  _answer jsonb := wed.claim_key(_tenant_id, _actor, _key, _asked);
BEGIN
  IF _answer IS NOT NULL THEN RETURN _answer; END IF;
  PERFORM wed.hold_instance(_flow_id, _result.wid, false);
  PERFORM wed.hold_lease(_flow_id, _result.wid, _result.tgid, _result.token);
  PERFORM set_config('wed.actor', _actor, true);
  PERFORM wed.pass_gate(wed.write_unlocked(ARRAY[_group], true, false), wed.finished_jobs(ARRAY[_group]));
  SELECT jsonb_build_object('wid', i.wid, 'status', i.status, 'seq', (
    SELECT max(t.seq) FROM wed.trace t WHERE t.flow_id = i.flow_id AND t.wid = i.wid)) INTO _answer
  FROM wed.instance i WHERE i.flow_id = _flow_id AND i.wid = _result.wid;
  PERFORM wed.keep_answer(_tenant_id, _actor, _key, _answer);
  RETURN _answer;
END $$;

-- Records a worker's attempt that changed nothing: the job is tried again as its trigger says, or after _after; or its
-- instance is an exception. Once, as wed.complete_job.
CREATE OR REPLACE FUNCTION wed.fail_job(
  _flow_id integer, _wid integer, _tgid integer, _token bigint, _actor text, _message text, _retry boolean,
  _after interval, _asked jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tenant_id integer := (SELECT tenant_id FROM wed.flow WHERE flow_id = _flow_id);
  _key text := wed.lease_key(_token);
  _answer jsonb := wed.claim_key(_tenant_id, _actor, _key, _asked);
BEGIN
  IF _answer IS NOT NULL THEN RETURN _answer; END IF;
  PERFORM wed.hold_instance(_flow_id, _wid, false);
  PERFORM wed.hold_lease(_flow_id, _wid, _tgid, _token);
  PERFORM set_config('wed.actor', _actor, true);
  PERFORM wed.fail_attempt(0, ROW(_flow_id, _wid, _token, 'failed', _message, _retry,
    (extract(epoch FROM _after) * 1000000)::bigint, NULL, NULL, NULL)::wed.failure);
  SELECT jsonb_build_object('wid', i.wid, 'status', i.status, 'again_at', (
    SELECT wed.rfc3339(j.due) FROM wed.job j
    WHERE j.flow_id = i.flow_id AND j.wid = i.wid AND j.tgid = _tgid AND isfinite(j.due) AND j.trname <> '_EXCPT'))
  INTO _answer FROM wed.instance i WHERE i.flow_id = _flow_id AND i.wid = _wid;
  PERFORM wed.keep_answer(_tenant_id, _actor, _key, _answer);
  RETURN _answer;
END $$;
