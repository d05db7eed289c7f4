-- What operators do to an instance by hand: retry, skip, cancel, set a state, send an event; each is on record.

-- Holds an instance for an operator: its row is locked, so that no commit comes between. Answers its status; refuses
-- one that there is not, and one that is final.
CREATE OR REPLACE FUNCTION wed.operated(_flow_id integer, _wid integer) RETURNS "char"
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _status "char";
BEGIN
  EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) USING _wid;
  SELECT status INTO _status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no instance %', _wid USING ERRCODE = 'WF040',
      HINT = '`wed instance list FLOW` shows the instances there are.';
  ELSIF _status = 'F' THEN
    RAISE EXCEPTION 'instance % is final and cannot be changed', _wid USING ERRCODE = 'WF002',
      HINT = 'Start a new instance.';
  END IF;
  RETURN _status;
END $$;

-- Returns the text of an operator's action in the trace: who and why.
CREATE OR REPLACE FUNCTION wed.reasoned(_actor text, _reason text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _actor || coalesce(': ' || left(nullif(btrim(_reason), ''), 1000), '')
$$;

CREATE OR REPLACE FUNCTION wed.refuse_without_reason(_reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF coalesce(btrim(_reason), '') = '' THEN
    RAISE EXCEPTION 'this action needs a reason' USING ERRCODE = 'WF041',
      HINT = 'Say in a few words why; it is kept in the trace and in the audit log.';
  END IF;
END $$;

-- Retries an instance. An exception passes the gate anew, unchanged: what its state satisfies is fired, and the
-- exception's job is done by that. A regular instance's jobs that wait after an attempt, or for what could not run, are
-- due at once and have all their attempts again; a job whose delay has not passed keeps it. Returns the transitions
-- that were fired or hurried.
CREATE OR REPLACE FUNCTION wed.retry_instance(_flow_id integer, _wid integer, _actor text, _reason text) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _status "char" := wed.operated(_flow_id, _wid);
  _fired text[];
BEGIN
  IF _status = 'E' THEN
    DELETE FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid;
    _fired := wed.retry_exception(_flow_id, _wid, _actor, _reason);
  ELSE
    WITH hurried AS (
      UPDATE wed.job SET attempt = 0, due = CASE WHEN due < '9000-01-01' THEN least(due, now()) ELSE due END
      WHERE flow_id = _flow_id AND wid = _wid AND host_id IS NULL AND blocked IS NULL AND NOT awaits_siblings
        AND (attempt > 0 OR put_off IS NOT NULL OR due <= now()) RETURNING trname)
    SELECT coalesce(array_agg(trname ORDER BY trname), '{}') INTO _fired FROM hurried;
    IF _fired = '{}' THEN
      RAISE EXCEPTION 'instance % has no job that waits after an attempt', _wid USING ERRCODE = 'WF040',
        HINT = 'Its jobs are being run, or wait for something else: `wed instance show` says for what.';
    END IF;
    PERFORM pg_notify('wed_jobs', '');
  END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.retry', _wid::text,
                        jsonb_build_object('transitions', _fired, 'reason', _reason));
  RETURN _fired;
END $$;

-- Lets an exception, whose row is held, pass the gate unchanged, traced as _RETRY.
CREATE OR REPLACE FUNCTION wed.retry_exception(_flow_id integer, _wid integer, _actor text, _reason text) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _rows wed.evaluated[] := wed.as_it_stands(_flow_id, _wid);
  _job wed.job;
  _fired text[];
BEGIN
  SELECT * INTO STRICT _job FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND trname = '_EXCPT' FOR UPDATE;
  IF _rows[1].fault IS NOT NULL THEN
    RAISE EXCEPTION 'instance % cannot be evaluated: %', _wid, _rows[1].fault USING ERRCODE = 'WF042',
      HINT = 'Set a state for which every condition can be evaluated, or mend the condition; then retry.';
  ELSIF _rows[1].fired = '{}' AND NOT _rows[1].final
        AND NOT EXISTS (SELECT FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND trname <> '_EXCPT') THEN
    RAISE EXCEPTION 'the state of instance % satisfies no condition', _wid USING ERRCODE = 'WF042',
      HINT = 'Set another state, go back to an earlier step, or change the flow; then retry.';
  END IF;
  PERFORM wed.pass_gate(_rows, wed.finished_job(_flow_id, _wid, _job.tgid, _job.token), NULL, '_RETRY', NULL,
    wed.reasoned(_actor, _reason));
  SELECT trf INTO _fired FROM wed.trace
  WHERE flow_id = _flow_id AND wid = _wid AND seq = _job.last_seq + 1 AND tstmp >= now();
  RETURN coalesce(_fired, '{}');
END $$;

-- Retries the exceptions that match (wed.matching_exceptions), or shows what that would do: each is retried by itself,
-- and taken back in a preview. One that cannot proceed delays no other, and says why it is refused.
CREATE OR REPLACE FUNCTION wed.retry_matching(
  _flow_id integer, _transition text, _message text, _since timestamptz, _limit integer, _actor text, _reason text,
    _preview boolean)
RETURNS TABLE (wid integer, failed text, said text, refused text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  FOR wid, failed, said IN
    SELECT m.wid, m.transition, m.message FROM wed.matching_exceptions(_flow_id, _transition, _message, _since,
      _limit) m
  LOOP
    refused := NULL;
    BEGIN
      PERFORM wed.retry_instance(_flow_id, wid, _actor, _reason);
      IF _preview THEN RAISE EXCEPTION 'a preview' USING ERRCODE = 'WFPRE'; END IF;
    EXCEPTION
      WHEN SQLSTATE 'WFPRE' THEN NULL;
      WHEN OTHERS THEN refused := SQLERRM;
    END;
    RETURN NEXT;
  END LOOP;
END $$;

-- Exceptions of a flow that match: the transition whose failure made them (null: any), a part of what was said (null:
-- any), and since when; oldest first.
CREATE OR REPLACE FUNCTION wed.matching_exceptions(
  _flow_id integer, _transition text, _message text, _since timestamptz, _limit integer)
RETURNS TABLE (wid integer, transition text, message text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT i.wid, g.trname, r.note
  FROM wed.instance i
  CROSS JOIN LATERAL (
    SELECT t.tgid, t.trw, t.note FROM wed.trace t
    WHERE t.flow_id = i.flow_id AND t.wid = i.wid AND t.status = 'E' ORDER BY t.seq DESC LIMIT 1) r
  LEFT JOIN wed.trigger g ON g.tgid = r.tgid
  WHERE i.flow_id = _flow_id AND i.status = 'E'
    AND (_transition IS NULL OR g.trname = _transition)
    AND (_message IS NULL OR strpos(coalesce(r.note, ''), _message) > 0)
    AND (_since IS NULL OR i.changed >= _since)
  ORDER BY i.changed, i.wid LIMIT _limit
$$;

-- Takes a pending job out of the pool without running it. The state is the same, so nothing is fired: what it satisfies
-- was fired when it was written. Traced as _SKIP; with nothing left to do the instance is an exception. Tasks that come
-- after it wait for it no longer.
CREATE OR REPLACE FUNCTION wed.skip_job(_flow_id integer, _wid integer, _transition text, _actor text, _reason text)
RETURNS "char" LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job wed.job;
  _rows wed.evaluated[];
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  PERFORM wed.operated(_flow_id, _wid);
  SELECT * INTO _job FROM wed.job
  WHERE flow_id = _flow_id AND wid = _wid AND trname = _transition AND trname <> '_EXCPT' ORDER BY tgid LIMIT 1 FOR
    UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'instance % has no pending job of transition "%"', _wid, left(_transition, 80)
      USING ERRCODE = 'WF040', HINT = 'Its pending transitions: ' || coalesce((SELECT string_agg(trname,
        ', ' ORDER BY trname)
        FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND trname <> '_EXCPT'), 'none') || '.';
  END IF;
  INSERT INTO wed.task_done (flow_id, wid, tgid)
  SELECT flow_id, _wid, _job.tgid FROM wed.flow WHERE flow_id = _flow_id AND ordered ON CONFLICT DO NOTHING;
  _rows := wed.as_it_stands(_flow_id, _wid);
  _rows[1].fired := ARRAY(SELECT f FROM unnest(_rows[1].fired) f JOIN wed.job j ON j.tgid = (f & 4294967295)::integer
    WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid <> _job.tgid);
  -- No version has this number: the next state's conditions are all evaluated.
  _rows[1].version := 0;
  PERFORM wed.pass_gate(_rows, wed.finished_job(_flow_id, _wid, _job.tgid, _job.token), NULL, '_SKIP', NULL,
                     format('%s was skipped by %s', _job.trname, wed.reasoned(_actor, _reason)));
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  VALUES (_flow_id, _wid, _job.tgid, _job.trname, _job.attempt, 'skipped', wed.reasoned(_actor, _reason), session_user);
  PERFORM wed.note_flow(_actor, _flow_id, 'job.skip', _wid || '/'
    || _job.trname, jsonb_build_object('reason', _reason));
  RETURN (SELECT status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid);
END $$;

-- Ends an instance without running what is pending: its jobs leave the pool, it is final, traced as _CANCEL with who
-- and why. The result of a job that a host or worker had in flight is refused.
CREATE OR REPLACE FUNCTION wed.cancel_instance(_flow_id integer, _wid integer, _actor text, _reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _last integer;
  _left text[];
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  PERFORM wed.operated(_flow_id, _wid);
  PERFORM wed.give_up_attempts(_flow_id, _wid, 'cancelled by ' || wed.reasoned(_actor, _reason));
  WITH gone AS (DELETE FROM wed.job WHERE flow_id = _flow_id AND wid = _wid RETURNING last_seq, trname)
  SELECT max(last_seq), array_agg(trname ORDER BY trname) INTO _last, _left FROM gone;
  INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, writer, note)
  SELECT _flow_id, _wid, _last + 1, 'F', '_CANCEL', '{}', r.state, _now, session_user, wed.reasoned(_actor, _reason)
  FROM unnest(wed.as_it_stands(_flow_id, _wid)) r;
  PERFORM wed.tell_changes(ARRAY[jsonb_populate_record(NULL::wed.decision, jsonb_build_object('instance', to_jsonb(r),
    'outcome', jsonb_build_object('seq', _last + 1, 'becomes', 'F'), 'trw', '_CANCEL'))], _now)
  FROM unnest(wed.as_it_stands(_flow_id, _wid)) r;
  UPDATE wed.instance SET status = 'F', changed = _now WHERE flow_id = _flow_id AND wid = _wid;
  IF EXISTS (SELECT FROM wed.flow WHERE flow_id = _flow_id AND constrained) THEN
    PERFORM wed.free(f, ARRAY[_wid], ARRAY[NULL::integer], false) FROM wed.flow f WHERE f.flow_id = _flow_id;
  END IF;
  DELETE FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid;
  DELETE FROM wed.pause WHERE flow_id = _flow_id AND wid = _wid;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.cancel', _wid::text,
                        jsonb_build_object('pending', _left, 'reason', _reason));
END $$;

-- Sets attributes of an exception by hand: an ad hoc state, which passes the gate and is traced as _ADHOC with who and
-- why. What the new state satisfies is fired; an exception that satisfies nothing stays one.
CREATE OR REPLACE FUNCTION wed.set_state(_flow_id integer, _wid integer, _values jsonb, _actor text, _reason text)
RETURNS "char" LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _columns text;
  _job wed.job;
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  IF wed.operated(_flow_id, _wid) <> 'E' THEN
    RAISE EXCEPTION 'instance % is no exception', _wid USING ERRCODE = 'WF043',
      HINT = 'A state is set by hand in an exception only; a running instance is paused, cancelled or sent an event.';
  END IF;
  DELETE FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid;
  PERFORM wed.refuse_values(f, _values) FROM wed.flow f WHERE f.flow_id = _flow_id;
  IF _values = '{}' THEN
    RAISE EXCEPTION 'no attribute is given' USING ERRCODE = '42703',
      HINT = 'Name attributes of the flow with their new values.';
  END IF;
  SELECT string_agg(format('%I = n.%1$I', k), ', ') INTO _columns FROM jsonb_object_keys(_values) k;
  -- The exception's job is ended by the write, as by a worker that holds its lock; the trace says who it was.
  SELECT * INTO STRICT _job FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND trname = '_EXCPT' FOR UPDATE;
  IF NOT pg_try_advisory_xact_lock(_wid, _job.tgid) THEN
    RAISE EXCEPTION 'a worker is at the exception of instance %', _wid USING ERRCODE = 'WF004',
      HINT = 'Try again when it has ended.';
  END IF;
  EXECUTE format('UPDATE %1$I.wed_flow w SET %2$s FROM %1$I.wed_flow o
                  CROSS JOIN LATERAL jsonb_populate_record(o.*, $1) n
                    WHERE o.wid = $2 AND w.wid = o.wid', _schema, _columns)
    USING _values, _wid;
  UPDATE wed.trace SET trw = '_ADHOC', tgid = NULL, attempt = NULL,
    note = concat_ws('; ', wed.reasoned(_actor, _reason), note)
  WHERE flow_id = _flow_id AND wid = _wid AND seq = _job.last_seq + 1 AND tstmp >= now();
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.set', _wid::text,
    jsonb_build_object('attributes', ARRAY(SELECT jsonb_object_keys(_values) ORDER BY 1), 'reason', _reason));
  RETURN (SELECT status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid);
END $$;

-- Refuses values of attributes that a flow has not, and values that are none of their attribute's type, by its name.
CREATE OR REPLACE FUNCTION wed.refuse_values(_flow wed.flow, _values jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _known text[];
  _unknown text;
  _one record;
BEGIN
  IF jsonb_typeof(_values) IS DISTINCT FROM 'object' THEN
    RAISE EXCEPTION 'the values are no JSON object' USING ERRCODE = '22023', HINT = 'For example: {"qty": 3}';
  END IF;
  EXECUTE format('SELECT coalesce(array_agg(aname ORDER BY aname), ''{}'') FROM %I.wed_attr', _flow.schema_name)
    INTO _known;
  SELECT min(k) INTO _unknown FROM jsonb_object_keys(_values) k WHERE k <> ALL (_known);
  IF _unknown IS NOT NULL THEN
    RAISE EXCEPTION 'flow "%" has no attribute "%"', _flow.name, left(_unknown, 80) USING ERRCODE = '42703',
      HINT = format('It has: %s.', array_to_string(_known, ', '));
  END IF;
  FOR _one IN EXECUTE format('SELECT a.aname, a.atype, t.labels, v.value FROM jsonb_each($1) v
    JOIN %I.wed_attr a ON a.aname = v.key CROSS JOIN LATERAL wed.attribute_type(a.atype) t ORDER BY 1',
    _flow.schema_name) USING _values
  LOOP
    BEGIN
      EXECUTE format('SELECT FROM jsonb_populate_record(NULL::%I.wed_flow, $1)', _flow.schema_name)
        USING jsonb_build_object(_one.aname, _one.value);
    EXCEPTION WHEN data_exception THEN
      RAISE EXCEPTION 'attribute "%" has type %: %', _one.aname, _one.atype, SQLERRM USING ERRCODE = SQLSTATE,
        HINT = format('Give a value of type %s, or null.', _one.atype);
    END;
    IF jsonb_typeof(_one.value) = 'string' AND _one.atype !~ '\]\s*$'
        AND (_one.value #>> '{}') <> ALL (_one.labels) THEN
      RAISE EXCEPTION 'attribute "%" has no value "%"', _one.aname, left(_one.value #>> '{}', 80)
        USING ERRCODE = '23514', HINT = format('It is one of %s.', array_to_string(_one.labels, ', '));
    END IF;
  END LOOP;
END $$;

-- Takes an instance's jobs out of the hosts' hands. What the hosts make of them is refused; the attempts do not count,
-- and are on record with who took them away and why: what they did outside may have happened.
CREATE OR REPLACE FUNCTION wed.give_up_attempts(_flow_id integer, _wid integer, _why text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  SELECT flow_id, wid, tgid, trname, attempt, 'given_up', _why, session_user FROM wed.job
  WHERE flow_id = _flow_id AND wid = _wid AND host_id IS NOT NULL;
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = greatest(attempt - 1, 0), put_off = NULL
  WHERE flow_id = _flow_id AND wid = _wid AND host_id IS NOT NULL
$$;

-- Returns the enabled conditions of a flow over an instance's present state, the final one last: the trigger's name, or
-- its transition's; the condition as it was written; whether it holds, null where the state cannot be evaluated; and
-- why.
CREATE OR REPLACE FUNCTION wed.conditions_of(_flow_id integer, _wid integer)
  RETURNS TABLE (trigger text, condition text, cfinal boolean, holds boolean, fault text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid) THEN
    RAISE EXCEPTION 'there is no instance %', _wid USING ERRCODE = 'WF040',
      HINT = '`wed instance list FLOW` shows the instances there are.';
  END IF;
  RETURN QUERY EXECUTE format('
    SELECT CASE WHEN w.cfinal THEN ''final'' ELSE coalesce(nullif(w.tgname, ''''), w.trname) END, w.cpred, w.cfinal,
      CASE WHEN r.fault IS NULL THEN CASE WHEN w.cfinal THEN r.final
        ELSE w.tgid IN (SELECT (f & 4294967295)::integer FROM unnest(r.fired) f) END END, r.fault
    FROM unnest($1) r CROSS JOIN %I.wed_trig w WHERE w.enabled ORDER BY w.cfinal, w.tgid',
    (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) USING wed.as_it_stands(_flow_id, _wid);
END $$;

-- After a change of the model: which live instances, or only _wid, would fire what, or, without preview, fires it, on
-- record with who asked for it.
CREATE OR REPLACE FUNCTION wed.rematch(
  _flow_id integer, _preview boolean, _actor text DEFAULT session_user::text, _wid integer DEFAULT NULL)
RETURNS TABLE (wid integer, fires text[], becomes text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  _flow wed.flow;
  _last integer := 0;
  _changed integer := 0;
  _wids integer[];
  _rows wed.evaluated[];
  _done wed.finished[];
  _decisions wed.decision[];
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  LOOP
    -- A thousand at a time; their rows are held, unless they are only looked at.
    _wids := ARRAY(SELECT i.wid FROM wed.instance i
                   WHERE i.flow_id = _flow_id AND i.wid > _last AND (_wid IS NULL OR i.wid = _wid) AND i.status <> 'F'
                   ORDER BY i.wid LIMIT 1000);
    EXIT WHEN _wids = '{}';
    _last := _wids[cardinality(_wids)];
    IF NOT _preview THEN
      EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE', _flow.schema_name)
        USING _wids;
      _wids := ARRAY(SELECT i.wid FROM wed.instance i
                     WHERE i.flow_id = _flow_id AND i.wid = ANY (_wids) AND i.status <> 'F' ORDER BY i.wid);
    END IF;
    EXECUTE format('SELECT %1$I.current_%1$s($1)', _flow.shape_schema) INTO _rows USING _wids;
    CONTINUE WHEN _rows = '{}';
    _done := wed.exceptions_done(_rows);
    _decisions := ARRAY(SELECT d FROM unnest(wed.decide(_rows, _done, '_REMATCH', NULL, false)) d
                        WHERE (d.outcome).changes OR (d.outcome).fire <> '{}' ORDER BY (d.instance).wid);
    RETURN QUERY
      SELECT (d.instance).wid,
             ARRAY(SELECT t.trname FROM wed.trigger t WHERE t.tgid = ANY ((d.outcome).fire) ORDER BY t.tgid),
             (d.outcome).becomes::text
      FROM unnest(_decisions) d;
    IF NOT _preview AND _decisions <> '{}' THEN
      _wids := ARRAY(SELECT (d.instance).wid FROM unnest(_decisions) d);
      PERFORM wed.pass_gate(ARRAY(SELECT r FROM unnest(_rows) r WHERE r.wid = ANY (_wids)),
        ARRAY(SELECT f FROM unnest(_done) f WHERE f.wid = ANY (_wids)), _cause => '_REMATCH', _note => _actor);
      _changed := _changed + cardinality(_decisions);
    END IF;
  END LOOP;
  IF NOT _preview THEN
    PERFORM wed.note_flow(_actor, _flow_id, 'flow.rematch', _wid::text, jsonb_build_object('instances', _changed));
  END IF;
END $$;

-- Returns the jobs that a rematch ends: those of exceptions that the new model leads out of.
CREATE OR REPLACE FUNCTION wed.exceptions_done(_rows wed.evaluated[]) RETURNS wed.finished[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _jobs wed.finished[] := ARRAY(
    SELECT ROW(j.flow_id, j.wid, j.tgid, 0, NULL, NULL, NULL)::wed.finished FROM unnest(_rows) r
    JOIN wed.job j ON j.flow_id = r.flow_id AND j.wid = r.wid AND j.trname = '_EXCPT' AND j.host_id IS NULL);
BEGIN
  RETURN ARRAY(
    SELECT d.finished FROM unnest(wed.decide(_rows, _jobs, '_REMATCH', NULL, false)) d
    WHERE (d.finished).tgid IS NOT NULL AND (d.outcome).becomes <> 'E');
END $$;

-- Lists, as a document, the live instances that a re-match would touch, with what each would fire.
CREATE OR REPLACE FUNCTION wed.rematch_preview(_flow_id integer) RETURNS jsonb
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(jsonb_agg(r ORDER BY r.wid), '[]') FROM wed.rematch(_flow_id, true) r
$$;

-- Installs what a flow's schema has for operators: its role retries, cancels, pauses, skips, sets, goes back, sends
-- events, starts with a key and asks why nothing is fired, as the command line does. Does nothing for a flow that has
-- it.
CREATE OR REPLACE FUNCTION wed.install_operations(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _operation record;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  FOR _operation IN
    SELECT * FROM (VALUES
      ('wed_retry(wid integer, reason text DEFAULT '''')', 'text[]', 'wed.retry_instance(%1$s, $1, %2$s, $2)'),
      ('wed_cancel(wid integer, reason text)', 'void', 'wed.cancel_instance(%1$s, $1, %2$s, $2)'),
      ('wed_skip(wid integer, transition text, reason text)', 'text', 'wed.skip_job(%1$s, $1, $2, %2$s, $3)::text'),
      ('wed_set(wid integer, state jsonb, reason text)', 'text', 'wed.set_state(%1$s, $1, $2, %2$s, $3)::text'),
      ('wed_back(wid integer, seq integer, reason text)', 'integer', 'wed.go_back(%1$s, $1, $2, %2$s, $3)'),
      ('wed_pause(wid integer, reason text)', 'boolean', 'wed.set_pause(%3$s, %1$s, NULL, $1, true, %2$s, $2)'),
      ('wed_resume(wid integer)', 'boolean', 'wed.set_pause(%3$s, %1$s, NULL, $1, false, %2$s, '''')'),
      ('wed_pause_flow(reason text, "trigger" text DEFAULT NULL)', 'boolean',
        'wed.set_pause(%3$s, %1$s, $2, NULL, true, %2$s, $1)'),
      ('wed_resume_flow("trigger" text DEFAULT NULL)', 'boolean',
        'wed.set_pause(%3$s, %1$s, $1, NULL, false, %2$s, '''')'),
      ('wed_start(state jsonb, key text DEFAULT NULL)', 'integer', 'wed.start_once(%1$s, $1, %2$s, $2)'),
      ('wed_event(wid integer, state jsonb, key text DEFAULT NULL)', 'boolean',
        'wed.send_event(%1$s, $1, $2, %2$s, $3)'),
      ('wed_why(wid integer, "trigger" text DEFAULT NULL, seq integer DEFAULT NULL)', 'jsonb',
        'wed.why(%1$s, $1, $2, $3)'),
      ('wed_what_if(wid integer, state jsonb, transition text DEFAULT NULL)', 'jsonb',
        'wed.what_if(%1$s, $1, $2, $3)'),
      ('wed_what_if_condition("trigger" text, condition text)', 'jsonb', 'wed.what_if_condition(%1$s, $1, $2)')
    ) o(signature, answer, body)
  LOOP
    EXECUTE format('CREATE OR REPLACE FUNCTION %I.%s RETURNS %s LANGUAGE sql SECURITY DEFINER
                    SET search_path = pg_catalog, pg_temp AS %L',
                      _flow.schema_name, _operation.signature, _operation.answer,
      format('SELECT ' || _operation.body, _flow_id, 'session_user::text', _flow.tenant_id));
  END LOOP;
  EXECUTE format('CREATE OR REPLACE FUNCTION %I.wed_retry_matching(
      transition text DEFAULT NULL, message text DEFAULT NULL, since timestamptz DEFAULT NULL,
        preview boolean DEFAULT true,
      reason text DEFAULT '''')
    RETURNS TABLE (wid integer, failed text, said text, refused text) LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS %L', _flow.schema_name,
    format('SELECT * FROM wed.retry_matching(%s, $1, $2, $3, 10000, session_user::text, $5, $4)', _flow_id));
  EXECUTE format('CREATE OR REPLACE FUNCTION %I.wed_conditions(wid integer)
    RETURNS TABLE ("trigger" text, condition text, cfinal boolean, holds boolean, fault text) LANGUAGE sql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L', _flow.schema_name,
    format('SELECT * FROM wed.conditions_of(%s, $1)', _flow_id));
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %1$I FROM PUBLIC', _flow.schema_name);
  EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %1$I TO %1$I', _flow.schema_name);
END $$;

-- Removes one final instance with all that is recorded of it, but for the audit log.
CREATE OR REPLACE FUNCTION wed.delete_instance(_flow_id integer, _wid integer, _actor text, _reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _status "char";
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  SELECT status INTO _status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no instance %', _wid USING ERRCODE = 'WF040',
      HINT = '`wed instance list` shows the instances there are.';
  ELSIF _status <> 'F' THEN
    RAISE EXCEPTION 'instance % is not final', _wid USING ERRCODE = 'WF002', HINT = 'Cancel it first.';
  END IF;
  IF wed.remove_instances(_flow_id, ARRAY[_wid]) = '{}' THEN
    RAISE EXCEPTION 'another session holds instance %', _wid USING ERRCODE = '55P03', HINT = 'Try again in a moment.';
  END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.delete', _wid::text, jsonb_build_object('reason', _reason));
END $$;

-- Removes final instances of a flow with all that is recorded of them, and leaves those that another session holds.
-- Returns the removed ones.
CREATE OR REPLACE FUNCTION wed.remove_instances(_flow_id integer, _wids integer[]) RETURNS integer[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _table text;
  _removed integer[];
BEGIN
  PERFORM set_config('wed.commit', 'expire', true);
  EXECUTE format('WITH gone AS (DELETE FROM %1$I.wed_flow WHERE wid = ANY (ARRAY(
      SELECT wid FROM %1$I.wed_flow WHERE wid = ANY ($1) FOR UPDATE SKIP LOCKED)) RETURNING wid)
    SELECT coalesce(array_agg(wid), ''{}'') FROM gone',
    (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _removed USING _wids;
  FOREACH _table IN ARRAY ARRAY['trace', 'attempt', 'log', 'recording', 'pause', 'precedence', 'task_done',
    'request', 'lost_reservation', 'work_note', 'work_report', 'work_event', 'work_item', 'work_reservation',
    'work_instance', 'instance_name', 'instance'] LOOP
    EXECUTE format('DELETE FROM wed.%I WHERE flow_id = $1 AND wid = ANY ($2)', _table) USING _flow_id, _removed;
  END LOOP;
  DELETE FROM wed.child WHERE flow_id = _flow_id AND wid = ANY (_removed) AND state IN ('returned', 'cancelled');
  PERFORM set_config('wed.commit', '', true);
  RETURN _removed;
END $$;
