-- Pauses of tenants, flows, triggers and instances (decision 0033).

-- Pauses a tenant, a flow (_flow_id), a trigger of it (_trigger: its name, or its transition's) or an instance
-- (_wid), or resumes it. What is paused is not claimed; what a host has in flight is finished, but for an instance's:
-- it is given up and made anew after the pause, because the same host would run what it fired.
CREATE OR REPLACE FUNCTION wed.set_pause(
  _tenant_id integer, _flow_id integer, _trigger text, _wid integer, _pause boolean, _actor text, _reason text)
RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tgids integer[] := '{}';
  _changed bigint;
  _of integer;
BEGIN
  IF _pause THEN PERFORM wed.refuse_without_reason(_reason); END IF;
  IF _trigger IS NOT NULL THEN
    _tgids := ARRAY(SELECT tgid FROM wed.trigger WHERE flow_id = _flow_id AND NOT cfinal AND _trigger IN (tgname,
      trname, tgid::text));
    IF _tgids = '{}' THEN
      RAISE EXCEPTION 'the flow has no trigger "%"', left(_trigger, 80) USING ERRCODE = 'WF040',
        HINT = 'Show the flow: its triggers are listed.';
    END IF;
  -- An instance that has ended while it was paused is resumed too: its pause is no more.
  ELSIF _wid IS NOT NULL AND (_pause OR NOT EXISTS (SELECT FROM wed.instance
      WHERE flow_id = _flow_id AND wid = _wid AND status = 'F')) THEN
    PERFORM wed.operated(_flow_id, _wid);
  END IF;
  IF _pause THEN
    INSERT INTO wed.pause (tenant_id, flow_id, tgid, wid, actor, reason)
    SELECT _tenant_id, _flow_id, t, _wid, _actor, _reason FROM unnest(CASE WHEN _tgids = '{}'
      THEN ARRAY[NULL::integer] ELSE _tgids END) t
    ON CONFLICT DO NOTHING;
  ELSE
    PERFORM wed.refuse_foreign_pause(_flow_id, _actor, p.actor) FROM wed.pause p
    WHERE p.tenant_id = _tenant_id AND p.flow_id IS NOT DISTINCT FROM _flow_id
      AND p.wid IS NOT DISTINCT FROM _wid AND (_tgids = '{}' AND p.tgid IS NULL OR p.tgid = ANY (_tgids));
    DELETE FROM wed.pause p WHERE p.tenant_id = _tenant_id AND p.flow_id IS NOT DISTINCT FROM _flow_id
      AND p.wid IS NOT DISTINCT FROM _wid AND (_tgids = '{}' AND p.tgid IS NULL OR p.tgid = ANY (_tgids));
  END IF;
  GET DIAGNOSTICS _changed = ROW_COUNT;
  IF _changed = 0 THEN RETURN false; END IF;
  IF _pause AND _wid IS NOT NULL THEN
    PERFORM wed.give_up_attempts(_flow_id, _wid, 'paused by ' || wed.reasoned(_actor, _reason));
  END IF;
  FOR _of IN SELECT flow_id FROM wed.flow WHERE tenant_id = _tenant_id AND (_flow_id IS NULL
    OR flow_id = _flow_id) ORDER BY 1 LOOP
    PERFORM wed.keep_paused(_of);
  END LOOP;
  PERFORM wed.note(_actor, t.name, CASE WHEN _pause THEN 'pause' ELSE 'resume' END,
    concat_ws('/', coalesce((SELECT name FROM wed.flow WHERE flow_id = _flow_id), t.name), _trigger, _wid),
    jsonb_build_object('reason', _reason))
  FROM wed.tenant t WHERE t.tenant_id = _tenant_id;
  RETURN true;
END $$;

-- Refuses to let a flow's role take back a pause that somebody else made: a user, an operator, the owner.
CREATE OR REPLACE FUNCTION wed.refuse_foreign_pause(_flow_id integer, _actor text, _paused_by text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _actor <> _paused_by AND EXISTS (SELECT FROM wed.flow WHERE flow_id = _flow_id AND role_name = _actor) THEN
    RAISE EXCEPTION 'it was paused by %, and the flow''s role resumes only what it paused itself', _paused_by
      USING ERRCODE = 'insufficient_privilege', HINT = 'Resume it with `wed flow resume` or `wed instance resume`.';
  END IF;
END $$;

-- Makes a flow's triggers and unclaimed jobs what its pauses say: what is paused is due 8000 years later, and what a
-- paused trigger fires is fired so; what is resumed is due when it was. Jobs that are locked just now, or that another
-- session has fired and not committed, are left to the chore `pauses`. With _of, only jobs of these instances. Returns how many jobs changed.
CREATE OR REPLACE FUNCTION wed.keep_paused(_flow_id integer, _of integer[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _shift CONSTANT interval := '8000 years';
  _all boolean;
  _tgids integer[];
  _wids integer[];
  _changed bigint;
BEGIN
  SELECT coalesce(bool_or(p.tgid IS NULL AND p.wid IS NULL), false), coalesce(array_agg(p.tgid) FILTER (WHERE p.tgid
    IS NOT NULL), '{}'),
         coalesce(array_agg(p.wid) FILTER (WHERE p.wid IS NOT NULL), '{}')
  INTO _all, _tgids, _wids
  FROM wed.flow f JOIN wed.pause p ON p.tenant_id = f.tenant_id AND (p.flow_id IS NULL OR p.flow_id = f.flow_id)
  WHERE f.flow_id = _flow_id;
  UPDATE wed.trigger t SET delay = CASE WHEN t.delay < _shift THEN t.delay + _shift ELSE t.delay - _shift END
  WHERE t.flow_id = _flow_id AND (_all OR t.tgid = ANY (_tgids)) <> (t.delay >= _shift);
  WITH picked AS (
    SELECT j.ctid, wed.job_is_paused(j.due, j.paused_at) AS paused FROM wed.job j
    WHERE j.flow_id = _flow_id AND (_of IS NULL OR j.wid = ANY (_of)) AND j.host_id IS NULL
      AND (_all OR j.tgid = ANY (_tgids) OR j.wid = ANY (_wids)) <> wed.job_is_paused(j.due, j.paused_at)
    FOR UPDATE SKIP LOCKED)
  -- Infinity stays what it is.
  UPDATE wed.job j SET due = CASE WHEN p.paused THEN j.due - _shift ELSE j.due + _shift END,
    -- A job that was fired paused has been so since then.
    -- One that waited for no time was paused before, and has become due since.
    paused_for = CASE WHEN p.paused
      THEN coalesce(j.paused_for, '0') + (clock_timestamp() - coalesce(j.paused_at, j.fired_at))
      WHEN j.paused_at IS NOT NULL THEN coalesce(j.paused_for, '0') + (clock_timestamp() - j.paused_at)
      ELSE j.paused_for END,
    paused_at = CASE WHEN NOT p.paused THEN clock_timestamp() END
  FROM picked p WHERE j.ctid = p.ctid;
  GET DIAGNOSTICS _changed = ROW_COUNT;
  IF _changed > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  RETURN _changed;
END $$;

-- Returns the paused instances among some rows, by flow.
CREATE OR REPLACE FUNCTION wed.paused_among(_rows wed.evaluated[]) RETURNS TABLE (flow_id integer, wids integer[])
LANGUAGE plpgsql STABLE AS $$
BEGIN
  -- Nearly always no instance is paused, and the rows need no look.
  IF NOT EXISTS (SELECT FROM wed.pause p WHERE p.wid IS NOT NULL) THEN RETURN; END IF;
  RETURN QUERY
    SELECT r.flow_id, array_agg(r.wid) FROM unnest(_rows) r JOIN wed.pause p ON p.flow_id = r.flow_id AND p.wid = r.wid
    GROUP BY r.flow_id;
END $$;

-- Tells of a job whether it is paused: its due time is 8000 years later (decision 0033), or it waits for no time and
-- paused_at says so.
CREATE OR REPLACE FUNCTION wed.job_is_paused(_due timestamptz, _paused_at timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT _due >= '9000-01-01 00:00:00+00'::timestamptz AND (_due < 'infinity'::timestamptz OR _paused_at IS NOT NULL)
$$;

-- Tells of a due time whether it is that of a paused job. "infinity" is no pause.
CREATE OR REPLACE FUNCTION wed.is_paused(_due timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT _due >= '9000-01-01 00:00:00+00'::timestamptz AND _due < 'infinity'::timestamptz $$;

-- Flows with a pause: jobs that hosts give back, or that are fired meanwhile, are paused too. And flows with a paused
-- job: one that another session fired or held while its flow was resumed.
CREATE OR REPLACE FUNCTION wed.due_pauses()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, f.flow_id, 0::bigint, 0, now() FROM wed.pause p
  JOIN wed.flow f ON f.tenant_id = p.tenant_id AND (p.flow_id IS NULL OR p.flow_id = f.flow_id)
  UNION
  SELECT f.tenant_id, f.flow_id, 0::bigint, 0, now() FROM wed.flows_with_paused_jobs() p JOIN wed.flow f USING (flow_id)
$$;

-- Reads the first paused job of each flow from the index job_paused, so that it costs the flows and not their jobs.
CREATE OR REPLACE FUNCTION wed.flows_with_paused_jobs() RETURNS TABLE (flow_id integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE found AS (
    SELECT (SELECT min(j.flow_id) FROM wed.job j WHERE j.host_id IS NULL
            AND wed.job_is_paused(j.due, j.paused_at)) AS flow_id
    UNION ALL
    SELECT (SELECT min(j.flow_id) FROM wed.job j WHERE j.flow_id > f.flow_id AND j.host_id IS NULL
            AND wed.job_is_paused(j.due, j.paused_at))
    FROM found f WHERE f.flow_id IS NOT NULL)
  SELECT f.flow_id FROM found f WHERE f.flow_id IS NOT NULL
$$;

CREATE OR REPLACE FUNCTION wed.do_pauses(_tenant_id integer, _flow_id integer, _thing bigint, _tgid integer)
RETURNS jsonb LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT to_jsonb(wed.keep_paused(_flow_id))
$$;
