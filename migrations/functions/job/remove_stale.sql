-- Looks at the jobs that would be claimed next whose state has changed since they were fired, or whose condition
-- depends on the time, flow by flow: those whose condition no longer holds are skipped, those that cannot be looked at
-- now are put off. Returns whether any was removed.
CREATE OR REPLACE FUNCTION wed.remove_stale(
  _rooms wed.room[], _share integer, _left integer, _now timestamptz, _until timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _of record;
  _begun boolean := false;
  _removed boolean := false;
BEGIN
  FOR _of IN
    SELECT c.tenant_id, c.flow_id, array_agg(c.wid) AS wids, array_agg(c.tgid) AS tgids FROM (
      SELECT n.turn, j.* FROM unnest(_rooms) WITH ORDINALITY n(tenant_id, jobs, turn)
      CROSS JOIN LATERAL (
        SELECT q.tenant_id, q.flow_id, q.wid, q.tgid, q.last_seq > q.seq AS changed FROM wed.job q
        WHERE q.host_id IS NULL AND q.component_id IS NOT NULL AND q.tenant_id = n.tenant_id AND q.due <= _now
        ORDER BY q.priority DESC, q.due, q.flow_id LIMIT least(_share, n.jobs)) j
      CROSS JOIN LATERAL (SELECT timely, recheck FROM wed.trigger WHERE tgid = j.tgid OFFSET 0) t
      WHERE t.recheck AND (j.changed OR t.timely) LIMIT _left) c
    GROUP BY c.tenant_id, c.flow_id ORDER BY min(c.turn)
  LOOP
    _removed := wed.remove_stale_of(_of.tenant_id, _of.flow_id, _of.wids, _of.tgids, _begun, _until) OR _removed;
    _begun := true;
  END LOOP;
  RETURN _removed;
END $$;

-- Does so with jobs of one flow, some more at a time, until _until; the rest is put off. The first few of a claim are
-- looked at whatever the time (_begun: they were). A flow whose table is locked
-- or whose conditions raise is left out for a second, and twice as long each time; a tenant at whose jobs the time
-- ends, for ten times as long as it took.
CREATE OR REPLACE FUNCTION wed.remove_stale_of(
  _tenant_id integer, _flow_id integer, _wids integer[], _tgids integer[], _begun boolean, _until timestamptz)
  RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _later timestamptz := (SELECT max(until) FROM wed.postponed WHERE kind = 'look' AND flow_id IN (0, _flow_id)
    AND thing = 0 AND tgid = 0 AND tenant_id = _tenant_id);
  _was_postponed boolean := _later IS NOT NULL;
  _at integer := 1;
  _some integer := 4;
  _removed boolean := false;
BEGIN
  IF _later < _now THEN _later := NULL; END IF;
  WHILE _later IS NULL AND _at <= cardinality(_wids) LOOP
    IF (_begun OR _at > 1) AND clock_timestamp() > _until THEN
      _later := wed.leave_out(_tenant_id, clock_timestamp() - _now);
      EXIT;
    END IF;
    BEGIN
      _removed := wed.skip_stale_among(_flow_id, _wids[_at : _at + _some - 1], _tgids[_at : _at + _some - 1])
        OR _removed;
      _at := _at + _some;
      _some := 2 * _some;
    EXCEPTION WHEN OTHERS OR query_canceled THEN
      _later := wed.postpone('look', _tenant_id, _flow_id, 0, 0, SQLERRM);
    END;
  END LOOP;
  IF _later IS NOT NULL THEN
    PERFORM wed.put_off_jobs(_flow_id, _wids[_at :], _tgids[_at :], _later);
    RETURN true;
  ELSIF _was_postponed THEN
    DELETE FROM wed.postponed WHERE kind = 'look' AND flow_id IN (0, _flow_id) AND tenant_id = _tenant_id;
  END IF;
  RETURN _removed;
END $$;

-- Skips those jobs of a flow whose condition no longer holds. One that another session holds, or its instance, is put
-- off by a second. Returns whether there was any.
CREATE OR REPLACE FUNCTION wed.skip_stale_among(_flow_id integer, _wids integer[], _tgids integer[]) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '20ms' AS $$
DECLARE
  _rows wed.evaluated[];
  _job record;
  _removed boolean := false;
BEGIN
  EXECUTE format('SELECT %1$I.current_%1$s($1)', (SELECT shape_schema FROM wed.flow WHERE flow_id = _flow_id))
    INTO _rows USING ARRAY(SELECT DISTINCT w FROM unnest(_wids) w ORDER BY w);
  FOR _job IN
    SELECT j.wid, j.tgid FROM ROWS FROM (unnest(_wids), unnest(_tgids)) j(wid, tgid)
    EXCEPT
    SELECT r.wid, (f & 4294967295)::integer FROM unnest(_rows) r CROSS JOIN LATERAL unnest(r.fired) f
  LOOP
    _removed := true;
    IF NOT pg_try_advisory_xact_lock(_job.wid, _job.tgid)
       OR NOT wed.skip_stale_job(_flow_id, _job.wid, _job.tgid) THEN
      PERFORM wed.put_off_jobs(_flow_id, ARRAY[_job.wid], ARRAY[_job.tgid], clock_timestamp() + interval '1 second');
    END IF;
  END LOOP;
  RETURN _removed;
END $$;

-- Puts jobs off that could not be looked at; one whose row another session holds stays due.
CREATE OR REPLACE FUNCTION wed.put_off_jobs(_flow_id integer, _wids integer[], _tgids integer[], _until timestamptz)
RETURNS void LANGUAGE sql AS $$
  UPDATE wed.job j SET due = _until, put_off = 'a lock that another session holds on its instance'
  FROM (SELECT q.at FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
        CROSS JOIN LATERAL (
          SELECT q.ctid AS at FROM wed.job q WHERE q.flow_id = _flow_id AND q.wid >= u.wid AND q.wid <= u.wid
            AND q.tgid = u.tgid AND q.host_id IS NULL FOR UPDATE SKIP LOCKED) q) l
  WHERE j.ctid = l.at
$$;

-- Leaves a tenant's jobs out of looks for ten times as long as they took. Returns until when.
CREATE OR REPLACE FUNCTION wed.leave_out(_tenant_id integer, _took interval) RETURNS timestamptz
LANGUAGE sql AS $$
  INSERT INTO wed.postponed AS p (kind, tenant_id, flow_id, thing, tgid, until)
  VALUES ('look', _tenant_id, 0, 0, 0, clock_timestamp() + 10 * _took)
  ON CONFLICT (kind, flow_id, thing, tgid, tenant_id) DO UPDATE SET until = excluded.until RETURNING until
$$;
