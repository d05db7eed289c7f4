-- Makes a flow's triggers and unclaimed jobs what its pauses say: what is paused is due PAUSE_SHIFT later, and what a
-- paused trigger fires is fired so; what is resumed is due when it was. Jobs that are locked just now are left to the
-- next call (the chore pauses). With _of, only jobs of these instances. Returns how many jobs changed.
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
    SELECT j.ctid, wed.is_paused(j.due) AS paused FROM wed.job j
    WHERE j.flow_id = _flow_id AND (_of IS NULL OR j.wid = ANY (_of)) AND j.host_id IS NULL AND j.due < 'infinity'
      AND (_all OR j.tgid = ANY (_tgids) OR j.wid = ANY (_wids)) <> wed.is_paused(j.due)
    FOR UPDATE SKIP LOCKED)
  UPDATE wed.job j SET due = CASE WHEN p.paused THEN j.due - _shift ELSE j.due + _shift END,
    -- A job that was fired paused has been so since then.
    paused_for = CASE WHEN p.paused
      THEN coalesce(j.paused_for, '0') + (clock_timestamp() - coalesce(j.paused_at, j.fired_at)) ELSE j.paused_for END,
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
