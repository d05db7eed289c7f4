-- Attempts that changed nothing: their record, another attempt later, or the end as an exception.

-- Records attempts of a host that changed nothing, and decides what becomes of their jobs: another attempt later, or,
-- when those are used up, an exception. after_us is when the transition wants to be tried again instead of after the
-- trigger's backoff. The outcome 'final_pending' is no failure: the result makes the instance final while others of it
-- are pending, so it waits until one of them has left the pool; when all of them wait for each other so, the instance
-- is an exception. Where another session holds a lock that is in the way, none is recorded (wed.refuse_locked).
CREATE OR REPLACE FUNCTION wed.fail_attempts(_host_id integer, _failures jsonb, _records jsonb DEFAULT NULL)
  RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _failure wed.failure;
BEGIN
  IF _records IS NOT NULL THEN
    PERFORM wed.keep_records(_host_id, _records);
  END IF;
  FOR _failure IN SELECT * FROM jsonb_populate_recordset(NULL::wed.failure, _failures) ORDER BY flow, wid LOOP
    PERFORM wed.fail_attempt(_host_id, _failure);
  END LOOP;
EXCEPTION WHEN lock_not_available THEN
  PERFORM wed.refuse_locked(ARRAY(
    SELECT ROW(NULL, f.shape_schema, NULL, NULL,
      array_agg(ROW(x.wid, NULL, NULL, NULL, NULL, NULL, NULL)::wed.result))::wed.result_group
    FROM jsonb_populate_recordset(NULL::wed.failure, _failures) x JOIN wed.flow f ON f.flow_id = x.flow
    GROUP BY f.shape_schema));
END $$;

-- Records one attempt that changed nothing, unless the host's claim was lost: its new holder has the job. Host 0 stands
-- for a worker over HTTP.
CREATE OR REPLACE FUNCTION wed.fail_attempt(_host_id integer, _failure wed.failure) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _job wed.job;
  _attempts integer;
BEGIN
  IF NOT EXISTS (SELECT FROM wed.flow WHERE flow_id = _failure.flow) THEN RETURN; END IF;
  PERFORM wed.hold_instance(_failure.flow, _failure.wid, false);
  SELECT * INTO _job FROM wed.job
  WHERE flow_id = _failure.flow AND wid = _failure.wid AND host_id = _host_id AND token = _failure.token FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT attempts INTO _attempts FROM wed.trigger WHERE tgid = _job.tgid;
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, fuel, elapsed_us, memory_bytes,
    writer)
  VALUES (_job.flow_id, _job.wid, _job.tgid, _job.trname, _job.attempt, _failure.outcome, left(_failure.message, 8192),
          _failure.fuel, _failure.us, _failure.mem, wed.writer_of(_host_id));
  IF _failure.outcome = 'final_pending' THEN
    IF wed.await_siblings(_job) THEN RETURN; END IF;
  ELSIF _failure.retry AND _job.attempt < _attempts THEN
    PERFORM wed.retry_later(_job, _failure.after_us);
    RETURN;
  END IF;
  PERFORM wed.pass_as_it_stands(_job.flow_id, _job.wid, _job.tgid, '_ABORT',
    CASE _failure.outcome WHEN 'final_pending'
      THEN format('%s: it would end the instance, and so would each other transition that is pending', _job.trname)
      ELSE format('%s: %s after %s: %s', _job.trname, _failure.outcome, wed.attempts_in_words(_job.attempt),
        left(_failure.message, 1000)) END,
    NULL, nullif(_host_id, 0), _failure.fuel, _failure.us, _failure.mem);
END $$;

-- Returns a number of attempts in words.
CREATE OR REPLACE FUNCTION wed.attempts_in_words(_attempts integer) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _attempts || CASE _attempts WHEN 1 THEN ' attempt' ELSE ' attempts' END
$$;

-- Names who writes: a host, who acts (wed.actor), or the session's role. A worker over HTTP is no host.
CREATE OR REPLACE FUNCTION wed.writer_of(_host_id integer) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce('host:' || nullif(_host_id, 0),
    CASE WHEN session_user = current_user THEN nullif(current_setting('wed.actor', true), '') END, session_user::text);
END $$;

-- Gives a job back for another attempt: after _after_us microseconds where the transition said so, else after its
-- trigger's backoff (wed.backoff_of).
CREATE OR REPLACE FUNCTION wed.retry_later(_job wed.job, _after_us bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _trigger wed.trigger;
  _due timestamptz;
BEGIN
  SELECT * INTO _trigger FROM wed.trigger WHERE tgid = _job.tgid;
  _due := clock_timestamp() + CASE WHEN _after_us IS NULL THEN wed.backoff_of(_trigger.backoff, _job.attempt)
                                   ELSE least(_after_us, 86400000000) * interval '1 microsecond' END;
  UPDATE wed.job SET host_id = NULL, token = 0, due = _due, put_off = NULL
  WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
  -- A definition that came while it was in flight may have changed its condition.
  INSERT INTO wed.stale (flow_id, wid, tgid) SELECT f.flow_id, _job.wid, _job.tgid FROM wed.flow f
  WHERE f.flow_id = _job.flow_id AND f.version <> _job.version AND NOT _job.is_compensation ON CONFLICT DO NOTHING;
  IF _trigger.constrained THEN PERFORM wed.ask_again(_job.flow_id, ARRAY[_job.wid], ARRAY[_job.tgid], _due); END IF;
END $$;

-- Returns how long a job waits after its nth attempt: its trigger's backoff, twice as long each time, at most a day,
-- and up to a quarter longer by chance, so that jobs that failed together do not come back together. (Of seconds,
-- since an interval's months and days may each be out of range.)
CREATE OR REPLACE FUNCTION wed.backoff_of(_backoff interval, _attempt integer) RETURNS interval
LANGUAGE sql VOLATILE AS $$
  SELECT make_interval(secs => least(86400, (1 + random() / 4) * 2 ^ least(greatest(_attempt, 1) - 1, 30)
    * least(86400, greatest(0, extract(epoch FROM _backoff)::double precision))))
$$;

-- Lets a job whose result is final wait until another one of its instance has left the pool; without any it is due at
-- once. False when all others wait so too.
CREATE OR REPLACE FUNCTION wed.await_siblings(_job wed.job) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _others integer;
  _running integer;
BEGIN
  SELECT count(*), count(*) FILTER (WHERE NOT awaits_siblings) INTO _others, _running
  FROM wed.job WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid <> _job.tgid;
  IF _others > 0 AND _running = 0 THEN RETURN false; END IF;
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1, awaits_siblings = _others > 0,
    put_off = NULL, due = CASE WHEN _others > 0 THEN 'infinity' ELSE clock_timestamp() END
  WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
  PERFORM pg_notify('wed_jobs', '') WHERE _others = 0;
  RETURN true;
END $$;

-- Gives jobs back unrun, for a while, and says for what they wait: the host cannot run them, or a lock is in the way.
-- No attempt is counted. Another version of its component that came into use meanwhile is tried at once. Waits for
-- nobody: a job whose row is held stays the host's, which finds it again.
CREATE OR REPLACE FUNCTION wed.put_off(
  _host_id integer, _tokens bigint[], _reason text, _pause interval, _not_runnable boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.job j SET host_id = NULL, token = 0, attempt = j.attempt - 1, component_id = l.component_id,
    due = clock_timestamp() + CASE WHEN l.is_replaced THEN interval '0' ELSE _pause END,
    put_off = left(_reason, 1000), not_runnable = _not_runnable
  FROM (SELECT q.ctid AS at, t.component_id, t.component_id IS DISTINCT FROM q.component_id AS is_replaced
        FROM wed.job q JOIN wed.trigger t USING (tgid)
        WHERE q.host_id = _host_id AND q.token = ANY (_tokens) FOR UPDATE OF q SKIP LOCKED) l
  WHERE j.ctid = l.at;
END $$;

-- Says of jobs that a host holds that their results wait for a lock of another session (job_pool's waits_for). They
-- stay leased; whoever commits them or gives them back takes it off. Waits for nobody: a job whose row is held is left
-- out.
CREATE OR REPLACE FUNCTION wed.note_locked(
  _host_id integer, _flow_ids integer[], _wids integer[], _tokens bigint[], _reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.job j SET put_off = _reason, not_runnable = false
  FROM (SELECT q.ctid AS at FROM unnest(_flow_ids, _wids, _tokens) n(flow_id, wid, token)
        JOIN wed.job q ON q.flow_id = n.flow_id AND q.wid = n.wid AND q.token = n.token
        WHERE q.host_id = _host_id AND q.put_off IS NULL FOR UPDATE OF q SKIP LOCKED) l
  WHERE j.ctid = l.at;
END $$;

-- Gives jobs back unrun, as if they had not been claimed.
CREATE OR REPLACE FUNCTION wed.release(_host_id integer, _tokens bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1, put_off = NULL
  WHERE host_id = _host_id AND token = ANY (_tokens);
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;

-- Returns the attempts that hosts made at an instance's transitions, in order: those that were committed, by the
-- trace row that they wrote, and those that changed nothing, by their number. Of an attempt without a
-- record that changed nothing (its host died) the component is the version that was the newest then (exact
-- is false), and the state the last one before that fired a transition of that name.
CREATE OR REPLACE FUNCTION wed.attempts_of(_flow_id integer, _wid integer)
RETURNS TABLE (
  seq integer, attempt_id bigint, tgid integer, trigger text, trname text, attempt integer, outcome text,
  message text, fuel bigint, elapsed_us bigint, memory_bytes bigint, writer text, tstmp timestamptz,
  timeout_ms bigint, component_id integer, component text, version integer, exact boolean, from_seq integer,
  recorded boolean, deadline bigint, answers jsonb, digest text, xid xid8)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH made AS (
    SELECT t.seq, NULL::bigint AS attempt_id, t.tgid, t.trw AS trname, t.attempt, 'returned' AS outcome,
           NULL::text AS message, t.fuel, t.elapsed_us, t.memory_bytes, t.writer, t.tstmp, t.xid,
           t.component_id, t.from_seq
    FROM wed.trace t
    WHERE t.flow_id = _flow_id AND t.wid = _wid AND t.tgid IS NOT NULL AND t.trw !~ '^_(ABORT|SKIP|EVENT|REMATCH)$'
      AND t.writer LIKE 'host:%'
    UNION ALL
    SELECT NULL, a.attempt_id, a.tgid, a.trname, a.attempt, a.outcome, a.message, a.fuel, a.elapsed_us,
           a.memory_bytes, a.writer, a.tstmp, a.xid, NULL, NULL
    FROM wed.attempt a WHERE a.flow_id = _flow_id AND a.wid = _wid
  )
  SELECT m.seq, m.attempt_id, m.tgid, coalesce(nullif(g.tgname, ''), m.tgid::text), m.trname, m.attempt, m.outcome,
         m.message, m.fuel, m.elapsed_us, m.memory_bytes, m.writer, m.tstmp, g.timeout_ms, c.component_id, c.name,
         c.version, coalesce(m.component_id, r.component_id) IS NOT NULL, coalesce(m.from_seq, r.from_seq, f.seq),
         r.xid IS NOT NULL, r.deadline, r.answers, r.digest, m.xid
  FROM made m
  LEFT JOIN wed.trigger g ON g.tgid = m.tgid
  LEFT JOIN wed.recording r ON r.flow_id = _flow_id AND r.wid = _wid AND r.xid = m.xid AND r.tgid = m.tgid
  LEFT JOIN LATERAL (
    SELECT max(t.seq) AS seq FROM wed.trace t
    WHERE t.flow_id = _flow_id AND t.wid = _wid AND m.trname = ANY (t.trf) AND t.tstmp <= m.tstmp
      AND t.seq < coalesce(m.seq, 2147483647)) f ON true
  LEFT JOIN LATERAL (
    SELECT c.component_id FROM wed.binding b
    JOIN wed.flow w ON w.flow_id = b.flow_id
    JOIN wed.component c ON c.tenant_id = w.tenant_id AND c.name = b.component_name AND c.created_at <= m.tstmp
    WHERE b.flow_id = _flow_id AND b.trname = m.trname
    ORDER BY c.version DESC LIMIT 1) n ON true
  LEFT JOIN wed.component c ON c.component_id = coalesce(m.component_id, r.component_id, n.component_id)
  ORDER BY m.tstmp, m.seq, m.attempt_id
$$;
