-- The gate: what every change of a state passes, in the transaction that writes it.
--
-- An INSERT or UPDATE of wed_flow comes here by the flow's own triggers (templates), a host's batch by
-- wed.commit_results (commit.sql). wed.pass_gate decides (decide.sql), refuses what a rule forbids, and writes: jobs
-- out and in, status, trace, reservations.

-- Takes new instances through the gate.
CREATE OR REPLACE FUNCTION wed.gate_insert(_flow_id integer, _rows wed.evaluated[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM wed.refuse_initial(_flow_id, _rows);
  INSERT INTO wed.instance (flow_id, wid, status, key)
  SELECT _flow_id, r.wid, 'R', n.key FROM wed.new_key(_flow_id) n(key) CROSS JOIN unnest(_rows) r;
  IF EXISTS (SELECT FROM wed.work_plan WHERE flow_id = _flow_id) THEN
    PERFORM wed.name_instances(_flow_id, ARRAY(SELECT r.wid FROM unnest(_rows) r ORDER BY r.wid));
  END IF;
  PERFORM wed.pass_gate(_rows, NULL);
  PERFORM wed.note_given_wid(_flow_id, (SELECT max(r.wid) FROM unnest(_rows) r));
END $$;

-- Refuses new instances that may not be: of a suspended tenant, with a number out of bounds, whose state cannot be
-- evaluated or satisfies nothing. A number given by hand leaves as many to the sequence as there are below it.
CREATE OR REPLACE FUNCTION wed.refuse_initial(_flow_id integer, _rows wed.evaluated[]) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _given_max CONSTANT integer := 1000000000;
  _last bigint := coalesce(pg_sequence_last_value(wed.wid_sequence(_flow_id)), 0);
  _bad wed.evaluated;
BEGIN
  IF wed.is_suspended(_flow_id) THEN
    RAISE EXCEPTION 'the tenant is suspended' USING ERRCODE = 'WF021', HINT = 'The operator resumes it.';
  END IF;
  SELECT * INTO _bad FROM unnest(_rows) r
  WHERE r.wid < 1 OR r.wid > greatest(_given_max, _last) OR r.fault IS NOT NULL OR (r.fired = '{}' AND NOT r.final)
  ORDER BY r.wid LIMIT 1;
  IF _bad.wid IS NULL THEN
    RETURN;
  ELSIF _bad.wid > greatest(_given_max, _last) THEN
    RAISE EXCEPTION 'the wid of an instance, where it is given, is at most %, and % is more', _given_max, _bad.wid
      USING ERRCODE = '23514', HINT = 'Leave it out: the next free one is taken.';
  ELSIF _bad.wid < 1 THEN
    RAISE EXCEPTION 'the wid of an instance is a positive number, and % is none', _bad.wid USING ERRCODE = '23514',
      HINT = 'Leave it out: the next free one is taken.';
  ELSIF _bad.fault IS NOT NULL THEN
    RAISE EXCEPTION 'the initial state of instance % cannot be evaluated: %', _bad.wid, _bad.fault
      USING ERRCODE = 'WF014', HINT = 'Mend the values, or write the condition so that it holds for them too.';
  END IF;
  RAISE EXCEPTION 'the initial state of instance % satisfies no condition', _bad.wid
    USING ERRCODE = 'WF001', DETAIL = left(_bad.state::jsonb::text, 1000),
      HINT = 'A new instance must fire at least one transition, or be final; see wed_trig.';
END $$;

-- Takes changed states through the gate, ordered by wid, unless their writers may not set what they set
-- (wed.identify_writers). Events pass separately: their cause is no job's transition.
CREATE OR REPLACE FUNCTION wed.gate_update(_rows wed.evaluated[], _writings wed.writing[], _changes wed.change[])
  RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _flow_id CONSTANT integer := (_rows[1]).flow_id;
  _events integer[] := ARRAY(SELECT w.wid FROM unnest(_writings) w WHERE w.tgid IS NULL);
  _finished wed.finished[] := ARRAY(
    SELECT ROW(_flow_id, w.wid, w.tgid, 0, NULL, NULL, NULL)::wed.finished FROM unnest(_writings) w
    WHERE w.tgid IS NOT NULL);
BEGIN
  PERFORM wed.refuse_writers(_writings, _changes);
  IF _events <> '{}' THEN
    PERFORM wed.pass_gate(ARRAY(SELECT r FROM unnest(_rows) r WHERE r.wid = ANY (_events)), NULL, _cause => '_EVENT');
    _rows := ARRAY(SELECT r FROM unnest(_rows) r WHERE r.wid <> ALL (_events));
  END IF;
  IF _finished <> '{}' THEN PERFORM wed.pass_gate(_rows, _finished); END IF;
END $$;

-- Takes new states through the gate, for every way into it: decides (wed.decide), refuses, writes. In a host's commit
-- the row of the job that ends becomes that of the first fired one, leased to the same host, unless it wants others to
-- have a turn (_lease false) or the batch has a paused instance, whose jobs are fired paused. Returns the jobs that
-- were leased. _finished are the jobs that end; null: none.
--
-- The functions in here have no search_path of their own, for a setting of one costs microseconds a call; whoever calls
-- them has set it.
CREATE OR REPLACE FUNCTION wed.pass_gate(
  _rows wed.evaluated[], _finished wed.finished[], _host_id integer DEFAULT NULL,
  _cause wed.cause DEFAULT 'transition', _forced text DEFAULT NULL, _note text DEFAULT NULL,
  _lease boolean DEFAULT true) RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _keeps boolean := _lease AND NOT EXISTS (SELECT FROM wed.paused_among(_rows));
  _decisions wed.decision[] := wed.decide(_rows, _finished, _cause, _forced, _keeps AND _host_id IS NOT NULL);
  _to record;
  _leased wed.claimed[];
  _constrained wed.claimed[];
  _reused bigint := 0;
  _deleted bigint := 0;
BEGIN
  SELECT count(*) FILTER (WHERE (d.next_job).reuses_row) AS reuse,
         count(*) FILTER (WHERE (d.pool).row_id IS NOT NULL) AS finish,
         bool_or((d.next_job).fire <> '{}') AS fire, bool_or((d.outcome).fires_exception) AS "except",
         bool_or((d.outcome).changes) AS change, bool_or((d.pool).others > 0) AS inform,
         sum(cardinality((d.outcome).ends)) AS "end", bool_or(d.refusal IS NOT NULL) AS refuse
  INTO _to FROM unnest(_decisions) d;
  IF _to.refuse THEN PERFORM wed.refuse_decision(_decisions); END IF;

  IF _to."end" > 0 THEN PERFORM wed.end_waits(_decisions, _to."end"); END IF;
  IF _to.inform THEN PERFORM wed.update_siblings(_decisions); END IF;
  IF _to.reuse > 0 THEN
    WITH reused AS (
      UPDATE wed.job j SET tgid = n.tgid, trname = n.trname, timeout = n.timeout, seq = o.seq, last_seq = o.seq,
        priority = n.priority, fired_at = _now, attempt = 1, component_id = n.component_id,
        token = nextval('wed.fence'), version = i.version, satisfied = o.satisfied, beside = o.siblings,
        payload = NULL, put_off = NULL, paused_for = NULL, paused_at = NULL, is_wait = false
      FROM unnest(_decisions) d
      CROSS JOIN LATERAL (SELECT (d.instance).*) i CROSS JOIN LATERAL (SELECT (d.outcome).*) o
      CROSS JOIN LATERAL (SELECT (d.next_job).*) n
      WHERE n.reuses_row AND j.ctid = (d.pool).row_id
      RETURNING n.constrained, ROW(i.flow_id, i.wid, n.tgid, n.tgname, n.trname, j.token, 1, n.timeout_ms,
        coalesce(i.payload, i.state), n.component_id, i.version, o.seq)::wed.claimed AS job)
    SELECT count(*), array_agg(r.job) FILTER (WHERE NOT r.constrained), array_agg(r.job) FILTER (WHERE r.constrained)
    INTO _reused, _leased, _constrained FROM reused r;
  END IF;
  IF _to.finish > _to.reuse THEN
    DELETE FROM wed.job j USING unnest(_decisions) d
    WHERE j.ctid = (d.pool).row_id AND NOT (d.next_job).reuses_row;
    GET DIAGNOSTICS _deleted = ROW_COUNT;
  END IF;
  IF _reused <> _to.reuse OR _reused + _deleted <> _to.finish THEN
    -- Somebody changed a job's row in the same moment: a statement that finds it moved leaves it out.
    PERFORM wed.refuse_update('40001', (_rows[1]).wid);
  END IF;
  IF _to.fire THEN
    SELECT _leased || array_agg(f.job) FILTER (WHERE NOT f.constrained),
           _constrained || array_agg(f.job) FILTER (WHERE f.constrained)
    INTO _leased, _constrained FROM wed.fire_jobs(_decisions, _host_id, _keeps, _cause, _now) f;
    PERFORM wed.tell_workers(_decisions, _host_id, _keeps);
  END IF;
  IF _to."except" THEN PERFORM wed.fire_exceptions(_decisions, _now); END IF;
  IF _to.change THEN PERFORM wed.change_status(_decisions, _now); END IF;
  PERFORM wed.append_trace(_decisions, _cause, _now, wed.writer_of(_host_id), _note);
  RETURN QUERY SELECT * FROM unnest(_leased);
  IF EXISTS (SELECT FROM wed.flow WHERE timed) OR EXISTS (SELECT FROM wed.flow WHERE constrained) THEN
    RETURN QUERY SELECT * FROM wed.apply_constraints(_rows, _finished, _host_id, _keeps, _cause, _constrained,
      cardinality(_rows) - coalesce(cardinality(_leased), 0));
  END IF;
  PERFORM wed.keep_paused(p.flow_id, p.wids) FROM wed.paused_among(_rows) p;
END $$;

-- Lets what depends on the flows' other rules follow: conditions on the clock are looked at anew, reservations are
-- freed and asked for. Of the jobs that were leased before they have their reservation (_constrained), returns those
-- that have it; and jobs of other instances that get a key only now, up to the host's _room.
CREATE OR REPLACE FUNCTION wed.apply_constraints(
  _rows wed.evaluated[], _finished wed.finished[], _host_id integer, _keeps boolean, _cause wed.cause,
  _constrained wed.claimed[], _room bigint) RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _tgids integer[];
BEGIN
  INSERT INTO wed.clock_changed (flow_id)
  SELECT f.flow_id FROM wed.flow f WHERE f.timed AND f.flow_id IN (SELECT r.flow_id FROM unnest(_rows) r);
  IF NOT EXISTS (SELECT FROM wed.flow WHERE constrained) THEN RETURN; END IF;
  -- FULL, though each job that ends has a state (wed.decide): LEFT would compare each row with each job here.
  _tgids := ARRAY(
    SELECT f.tgid FROM unnest(_rows) WITH ORDINALITY r FULL JOIN unnest(_finished) f USING (flow_id, wid)
    ORDER BY r.ordinality);
  -- What a commit leases of constrained jobs is theirs only if they can have what they reserve. (Where attempts
  -- failed, more follows in the transaction.)
  IF _keeps AND _host_id IS NOT NULL AND _cause = 'transition' THEN
    RETURN QUERY SELECT * FROM wed.constrain_batch(_host_id, _rows, _tgids, _constrained, _room);
  ELSE
    PERFORM wed.constrain(_rows, _tgids, _cause IN ('transition', '_EVENT'));
  END IF;
END $$;

-- Refuses what a rule forbids (wed.decide), naming the first instance.
CREATE OR REPLACE FUNCTION wed.refuse_decision(_decisions wed.decision[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _bad record;
BEGIN
  SELECT d.refusal, coalesce((d.instance).wid, (d.finished).wid) AS wid INTO _bad
  FROM unnest(_decisions) d WHERE d.refusal IS NOT NULL LIMIT 1;
  IF FOUND THEN
    PERFORM wed.refuse_update(_bad.refusal, _bad.wid);
  END IF;
END $$;

-- Takes waits, and what an event ended (wed.event_ends_jobs), out of the pool. A job that was claimed meanwhile stays,
-- and the writer tries again.
CREATE OR REPLACE FUNCTION wed.end_waits(_decisions wed.decision[], _count bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _ended bigint;
BEGIN
  DELETE FROM wed.job j USING unnest(_decisions) d
  WHERE j.flow_id = (d.instance).flow_id AND j.wid = (d.instance).wid AND j.tgid = ANY ((d.outcome).ends)
    AND j.host_id IS NULL
    -- A worker gets none of them any more, nor has one just now.
    AND CASE WHEN j.component_id IS NULL AND j.tgid = ANY ((d.outcome).ends)
      THEN pg_try_advisory_xact_lock(j.wid, j.tgid) ELSE true END;
  GET DIAGNOSTICS _ended = ROW_COUNT;
  IF _ended <> _count THEN
    PERFORM wed.refuse_update('40001', (SELECT min((d.instance).wid) FROM unnest(_decisions) d
      WHERE (d.outcome).ends <> '{}'));
  END IF;
END $$;

-- Brings the other jobs of instances up to their newest trace rows. Those that waited for a job to leave the pool try
-- again; those whose condition does not hold in the new state, and that nobody has, are listed as stale (wed.do_stale).
CREATE OR REPLACE FUNCTION wed.update_siblings(_decisions wed.decision[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH updated AS (
    UPDATE wed.job j SET last_seq = (d.outcome).seq, version = (d.instance).version,
      satisfied = (d.outcome).satisfied, beside = (d.outcome).siblings,
      due = CASE WHEN j.awaits_siblings THEN clock_timestamp() ELSE j.due END, awaits_siblings = false
    FROM unnest(_decisions) d
    WHERE (d.pool).others > 0 AND j.flow_id = (d.instance).flow_id AND j.wid = (d.instance).wid
      AND ((d.pool).row_id IS NULL OR j.ctid <> (d.pool).row_id)
    RETURNING j.flow_id, j.wid, j.tgid, j.trname, j.satisfied, j.host_id, j.is_compensation)
  INSERT INTO wed.stale (flow_id, wid, tgid)
  SELECT u.flow_id, u.wid, u.tgid FROM updated u
  CROSS JOIN LATERAL (SELECT recheck FROM wed.trigger WHERE tgid = u.tgid OFFSET 0) t
  WHERE t.recheck AND u.trname <> '_EXCPT' AND u.host_id IS NULL AND NOT u.is_compensation
    AND NOT EXISTS (SELECT FROM unnest(u.satisfied) x WHERE (x & 4294967295) = u.tgid)
  ON CONFLICT DO NOTHING;
  PERFORM pg_notify('wed_jobs', '') WHERE EXISTS (SELECT FROM unnest(_decisions) d WHERE (d.pool).has_waiting);
END $$;

-- Fires jobs for all satisfied triggers but those that took the row of a job that ended. Returns those that it leased
-- to the host; of them, constrained ones are its own only with their reservation (wed.constrain_batch). A trigger's
-- delay counts from now on.
CREATE OR REPLACE FUNCTION wed.fire_jobs(_decisions wed.decision[], _host_id integer, _lease boolean, _cause wed.cause,
  _now timestamptz)
RETURNS TABLE (job wed.claimed, constrained boolean) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
    WITH f AS MATERIALIZED (
      SELECT t.*, l.leased, i.wid, i.version, coalesce(i.payload, i.state) AS payload, o.seq, o.satisfied, o.siblings,
             CASE WHEN l.leased THEN nextval('wed.fence') ELSE 0 END AS token
      FROM unnest(_decisions) d
      CROSS JOIN LATERAL (SELECT (d.instance).*) i CROSS JOIN LATERAL (SELECT (d.outcome).*) o
      CROSS JOIN LATERAL unnest((d.next_job).fire) x(tgid)
      CROSS JOIN LATERAL (SELECT * FROM wed.trigger WHERE tgid = x.tgid OFFSET 0) t
      CROSS JOIN LATERAL (SELECT _lease AND _host_id IS NOT NULL AND t.component_id IS NOT NULL AND t.delay = '0'
                                 AND (NOT t.constrained OR _cause = 'transition') AS leased) l
    ), fired AS (
      INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at,
                           attempt, component_id, host_id, token, version, satisfied, beside, blocked, is_wait)
      SELECT f.flow_id, f.tenant_id, f.wid, f.tgid, f.trname, f.timeout, f.seq, f.seq, f.priority,
             CASE WHEN f.constrained AND NOT f.leased OR f.trname = '_WAIT' THEN 'infinity' ELSE _now + f.delay END,
             _now, f.leased::integer,
             f.component_id, CASE WHEN f.leased THEN _host_id END, f.token, f.version, f.satisfied, f.siblings,
             CASE WHEN f.constrained AND NOT f.leased THEN 'a'::"char" END, f.waits_for IS NOT NULL
      FROM f)
    SELECT ROW(f.flow_id, f.wid, f.tgid, f.tgname, f.trname, f.token, 1, f.timeout_ms, f.payload, f.component_id,
      f.version, f.seq)::wed.claimed, f.constrained
    FROM f WHERE f.leased;
END $$;

-- Tells of jobs that were fired and leased to nobody: external workers by the papers' channel, one notification a job;
-- hosts by one for the whole transaction (Postgres drops equal ones). Notifications carry numbers only. A transaction
-- that notifies keeps all others that do waiting while it commits, so a host that leaves jobs to others tells them
-- afterwards (wed.tell_hosts).
CREATE OR REPLACE FUNCTION wed.tell_workers(_decisions wed.decision[], _host_id integer, _lease boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM CASE WHEN t.component_id IS NULL
               THEN pg_notify(t.trname, format('{"wid":%s,"tgid":%s}', (d.instance).wid, t.tgid))
               ELSE pg_notify('wed_jobs', '') END
  FROM unnest(_decisions) d CROSS JOIN LATERAL unnest((d.next_job).fire) x(tgid)
  CROSS JOIN LATERAL (SELECT * FROM wed.trigger WHERE tgid = x.tgid OFFSET 0) t
  WHERE NOT t.constrained AND t.trname <> '_WAIT'
    AND (t.component_id IS NULL OR t.delay > '0' OR _host_id IS NULL AND _lease);
END $$;

-- Fires the job of instances that become exceptions: it is served like a transition, by whoever is bound to _EXCPT.
CREATE OR REPLACE FUNCTION wed.fire_exceptions(_decisions wed.decision[], _now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _job record;
BEGIN
  FOR _job IN
    INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at,
                         component_id, version, satisfied, beside)
    SELECT t.flow_id, t.tenant_id, (d.instance).wid, t.tgid, t.trname, t.timeout, o.seq, o.seq, t.priority, _now, _now,
           t.component_id, (d.instance).version, o.satisfied, o.siblings
    FROM unnest(_decisions) d CROSS JOIN LATERAL (SELECT (d.outcome).*) o
    JOIN wed.flow f ON f.flow_id = (d.instance).flow_id JOIN wed.trigger t ON t.tgid = f.excpt_tgid
    WHERE o.fires_exception
    RETURNING trname, wid, tgid, component_id
  LOOP
    PERFORM CASE WHEN _job.component_id IS NULL
      THEN pg_notify(_job.trname, format('{"wid":%s,"tgid":%s}', _job.wid, _job.tgid))
                 ELSE pg_notify('wed_jobs', '') END;
  END LOOP;
END $$;

-- Writes the status of instances whose status changes.
CREATE OR REPLACE FUNCTION wed.change_status(_decisions wed.decision[], _now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  -- An exception that ends before the chore `exceptions` has seen it is announced now.
  PERFORM wed.do_exceptions(f.tenant_id, f.flow_id, (d.instance).wid, 0)
  FROM unnest(_decisions) d JOIN wed.flow f ON f.flow_id = (d.instance).flow_id
  WHERE (d.pool).status = 'E' AND (d.outcome).becomes <> 'E';
  UPDATE wed.instance i SET status = (d.outcome).becomes, changed = _now
  FROM unnest(_decisions) d
  WHERE (d.outcome).changes AND i.flow_id = (d.instance).flow_id AND i.wid = (d.instance).wid;
END $$;

-- Appends a row to the trace of each instance: its new state, what wrote it, what it fired.
CREATE OR REPLACE FUNCTION wed.append_trace(
  _decisions wed.decision[], _cause wed.cause, _now timestamptz, _writer text, _note text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, tgid, attempt, fuel, elapsed_us,
                         memory_bytes, component_id, from_seq, writer, note)
  SELECT i.flow_id, i.wid, o.seq, o.becomes, d.trw,
         CASE WHEN cardinality(o.fire) = 1 THEN ARRAY[(d.next_job).trname]
              ELSE ARRAY(SELECT t.trname FROM unnest(o.fire) WITH ORDINALITY f(tgid, at)
                         JOIN wed.trigger t ON t.tgid = f.tgid ORDER BY f.at) END
           || CASE WHEN o.fires_exception THEN ARRAY['_EXCPT'] END,
         i.state, _now, f.tgid, greatest(p.attempt, 1), f.fuel, f.elapsed_us, f.memory_bytes,
         CASE WHEN _cause = 'transition' THEN p.component_id END, p.from_seq, _writer, coalesce(o.forced, _note)
  FROM unnest(_decisions) d
  CROSS JOIN LATERAL (SELECT (d.instance).*) i CROSS JOIN LATERAL (SELECT (d.finished).*) f
  CROSS JOIN LATERAL (SELECT (d.pool).*) p CROSS JOIN LATERAL (SELECT (d.outcome).*) o;
  PERFORM wed.tell_changes(_decisions, _now);
END $$;

-- Tells what the trace names as a state's cause: a job's transition, or another cause (wed.cause).
CREATE OR REPLACE FUNCTION wed.names_transition(_trw text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT _trw NOT LIKE '\_%' $$;

-- Lets an instance pass the gate with the state that it has: the named job leaves the pool. Its row is locked first.
-- False when there was nothing to do, since the instance is final or the job is gone.
CREATE OR REPLACE FUNCTION wed.pass_as_it_stands(
  _flow_id integer, _wid integer, _tgid integer, _cause wed.cause, _forced text, _note text, _host_id integer,
  _fuel bigint DEFAULT NULL, _us bigint DEFAULT NULL, _memory bigint DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _token bigint;
BEGIN
  PERFORM wed.hold_instance(_flow_id, _wid, false);
  SELECT token INTO _token FROM wed.job
  WHERE flow_id = _flow_id AND wid = _wid AND (tgid = _tgid OR _tgid IS NULL) ORDER BY tgid LIMIT 1;
  IF NOT FOUND THEN RETURN false; END IF;
  IF _cause = '_ABORT' AND wed.fail_task(_flow_id, _wid, _tgid, _token, _forced, _host_id, _fuel, _us, _memory) THEN
    RETURN true;
  END IF;
  PERFORM wed.pass_gate(wed.as_it_stands(_flow_id, _wid),
    wed.finished_job(_flow_id, _wid, _tgid, _token, _fuel, _us, _memory), _host_id, _cause, _forced, _note);
  RETURN true;
END $$;

-- Locks an instance's row until the transaction ends. With _skip_locked it waits for nobody: false when another session
-- holds it.
CREATE OR REPLACE FUNCTION wed.hold_instance(_flow_id integer, _wid integer, _skip_locked boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _found integer;
BEGIN
  EXECUTE format('SELECT wid FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _schema)
    || CASE WHEN _skip_locked THEN ' SKIP LOCKED' ELSE '' END INTO _found USING _wid;
  RETURN _found IS NOT NULL;
END $$;

-- Refuses to delete instances, but for the owner's removal of finished ones that are old enough (wed.do_expired).
CREATE OR REPLACE FUNCTION wed.refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF pg_catalog.current_setting('wed.commit', true) = 'expire'
     AND current_user = (SELECT r.rolname FROM pg_catalog.pg_namespace n
       JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
                         WHERE n.nspname = 'wed') THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'instances are not deleted (instance %)', OLD.wid USING ERRCODE = 'WF009',
    HINT = 'Let the instance reach its final state; `wed db retention --instances` removes finished ones after a time.';
END $$;

-- Returns whether the tenant of a flow is suspended: nothing of it is started or changed.
CREATE OR REPLACE FUNCTION wed.is_suspended(_flow_id integer) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM wed.flow f JOIN wed.tenant t USING (tenant_id)
                 WHERE f.flow_id = _flow_id AND t.suspended_at IS NOT NULL);
END $$;

-- Returns the sequence that numbers a flow's instances.
CREATE OR REPLACE FUNCTION wed.wid_sequence(_flow_id integer) RETURNS regclass
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT pg_get_serial_sequence(format('%I.wed_flow', schema_name), 'wid')::regclass FROM wed.flow
    WHERE flow_id = _flow_id);
END $$;

-- Lets a flow's sequence follow the largest number of new instances, where that was given by hand. What a sequence has
-- counted no rollback takes back, so it moves at once by a little only; else when the transaction commits
-- (wed.follow_given_wid).
CREATE OR REPLACE FUNCTION wed.note_given_wid(_flow_id integer, _wid integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _lost_max CONSTANT integer := 1000;
  _sequence regclass := wed.wid_sequence(_flow_id);
  _last bigint := coalesce(pg_sequence_last_value(_sequence), 0);
BEGIN
  IF _wid > _last + _lost_max THEN
    INSERT INTO wed.given_wid (flow_id, wid) VALUES (_flow_id, _wid);
  ELSIF _wid > _last THEN
    PERFORM setval(_sequence, _wid);
  END IF;
END $$;

-- Moves a flow's sequence to a number that was given by hand, when its transaction commits.
CREATE OR REPLACE FUNCTION wed.follow_given_wid() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _sequence regclass := wed.wid_sequence(NEW.flow_id);
BEGIN
  DELETE FROM wed.given_wid WHERE flow_id = NEW.flow_id AND wid = NEW.wid;
  PERFORM setval(_sequence, NEW.wid) WHERE NEW.wid > coalesce(pg_sequence_last_value(_sequence), 0);
  RETURN NULL;
END $$;
