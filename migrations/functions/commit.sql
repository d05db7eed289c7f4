-- A host's commit: states, conditions, next jobs and trace of a batch in one transaction, all or none.

-- Commits a host's finished transitions, all or none, at most one of an instance: states, trace and next jobs in one
-- transaction. Returns the jobs that were fired, leased to the host; without _lease they are left to whoever claims
-- them. With _careful, an instance whose condition fails becomes an exception instead of failing the batch. Groups are
-- in the order of their flows. Where a claim was lost nothing is committed (40001), and the host tries again with those
-- it still has.
CREATE OR REPLACE FUNCTION wed.commit_results(
  _host_id integer, _groups wed.result_group[], _careful boolean, _lease boolean, _records jsonb)
    RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _beside_old boolean := wed.hold_host(_host_id);
  _rows wed.evaluated[];
BEGIN
  IF _records IS NOT NULL THEN
    -- Before their jobs leave the pool.
    PERFORM wed.keep_records(_host_id, _records);
  END IF;
  _rows := wed.write_unlocked(_groups, _careful, _beside_old);
  RETURN QUERY SELECT * FROM wed.pass_gate(_rows, wed.finished_jobs(_groups), _host_id, _lease => _lease);
END $$;

-- Returns the jobs that end with the results of a batch.
CREATE OR REPLACE FUNCTION wed.finished_jobs(_groups wed.result_group[]) RETURNS wed.finished[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT ROW(f.flow_id, r.wid, r.tgid, r.token, r.fuel, r.elapsed_us, r.memory_bytes)::wed.finished
    FROM unnest(_groups) g
    CROSS JOIN LATERAL (SELECT flow_id FROM wed.flow WHERE shape_schema = g.shape_schema OFFSET 0) f
    CROSS JOIN LATERAL unnest(g.results) r);
END $$;

-- Holds a host's row until the transaction ends: nobody frees its jobs meanwhile (wed.do_abandoned). Returns whether
-- old versions of rows are kept (wed.is_beside_old).
CREATE OR REPLACE FUNCTION wed.hold_host(_host_id integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _beside_old boolean;
BEGIN
  SELECT beside_old INTO _beside_old FROM wed.host WHERE host_id = _host_id FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016', HINT = 'Enter anew.';
  END IF;
  RETURN _beside_old;
END $$;

-- Returns whether some transaction has been open since some 500 others that wrote: old versions of all rows that were
-- changed since then are kept too. Of other roles' sessions only pg_read_all_stats may know.
CREATE OR REPLACE FUNCTION wed.is_beside_old() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM pg_stat_activity
                 WHERE (datname = current_database() OR datname IS NULL) AND pid <> pg_backend_pid()
                   AND backend_type <> 'autovacuum worker'
                   AND greatest(age(backend_xmin), age(backend_xid)) > 500)
      OR EXISTS (SELECT FROM pg_prepared_xacts WHERE database = current_database() AND age(transaction) > 500)
      OR EXISTS (SELECT FROM pg_replication_slots WHERE age(xmin) > 500)
$$;

-- Writes the states of a batch (wed.write_results), unless another session holds a lock that is in the way for longer
-- than the session's lock_timeout. Then nothing is written, and the error's detail says which locks were met.
CREATE OR REPLACE FUNCTION wed.write_unlocked(_groups wed.result_group[], _careful boolean, _beside_old boolean)
RETURNS wed.evaluated[] LANGUAGE plpgsql AS $$
BEGIN
  RETURN wed.write_results(_groups, _careful, _beside_old);
EXCEPTION WHEN lock_not_available THEN
  PERFORM wed.refuse_locked(_groups);
END $$;

-- Writes the states of finished transitions and evaluates their conditions, group by group. Of a flow with several
-- groups all instances are held first, in order: each group's UPDATE takes its own in order, and two batches would wait
-- for each other.
CREATE OR REPLACE FUNCTION wed.write_results(_groups wed.result_group[], _careful boolean, _beside_old boolean)
  RETURNS wed.evaluated[]
LANGUAGE plpgsql AS $$
DECLARE
  _group wed.result_group;
  _several text[] := ARRAY(SELECT g.shape_schema FROM unnest(_groups) g GROUP BY g.shape_schema HAVING count(*) > 1);
  _some wed.evaluated[];
  _parts wed.part[] := '{}';
BEGIN
  PERFORM set_config('wed.commit', 'batch', true);
  FOREACH _group IN ARRAY _groups LOOP
    IF _group.shape_schema = ANY (_several) THEN
      PERFORM wed.hold_instances(_groups, _group.shape_schema);
      _several := array_remove(_several, _group.shape_schema);
    END IF;
    EXECUTE format('SELECT %1$I.apply_%1$s($1, $2, $3, $4, $5, $6)', _group.shape_schema) INTO _some
      USING _group.results, _group.assigned, _group.set_clause, _group.version, _careful, _beside_old;
    IF cardinality(_some) IS DISTINCT FROM cardinality(_group.results) THEN
      PERFORM wed.refuse_update('40001', (_group.results[1]).wid);
    END IF;
    _parts := _parts || ROW(_some)::wed.part;
  END LOOP;
  PERFORM set_config('wed.commit', '', true);
  IF cardinality(_groups) = 1 THEN RETURN _some; END IF;
  -- Put together once: a variable that grew flow by flow would be copied each time.
  RETURN ARRAY(SELECT r FROM unnest(_parts) p CROSS JOIN unnest(p.rows) r);
END $$;

-- Locks the instances of a flow that has several groups in a batch, in order.
CREATE OR REPLACE FUNCTION wed.hold_instances(_groups wed.result_group[], _shape_schema text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _wids integer[];
BEGIN
  _wids := ARRAY(SELECT r.wid FROM unnest(_groups) g CROSS JOIN LATERAL unnest(g.results) r
                 WHERE g.shape_schema = _shape_schema ORDER BY r.wid);
  EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE',
                 (SELECT schema_name FROM wed.flow f WHERE f.shape_schema = _shape_schema)) USING _wids;
END $$;

-- Refuses what met a lock of another session. The error's detail says which locks of flows they were (wed.locks_met);
-- where it names none, because they belong to something else or are gone, the host tries smaller parts.
CREATE OR REPLACE FUNCTION wed.refuse_locked(_groups wed.result_group[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'another session holds a lock that is in the way'
    USING ERRCODE = 'lock_not_available', DETAIL = wed.locks_met(_groups)::text;
END $$;

-- Returns which locks of others are in the way of a batch, as a JSON array: [flow, wid] for an instance, [flow, null]
-- for a flow whose table is locked. Takes every lock that it can have, and waits for none.
CREATE OR REPLACE FUNCTION wed.locks_met(_groups wed.result_group[]) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  _met jsonb := '[]';
  _some jsonb;
  _of record;
BEGIN
  FOR _of IN
    SELECT f.flow_id, f.schema_name, array_agg(r.wid ORDER BY r.wid) AS wids
    FROM unnest(_groups) g JOIN wed.flow f ON f.shape_schema = g.shape_schema CROSS JOIN LATERAL unnest(g.results) r
    GROUP BY f.flow_id, f.schema_name ORDER BY f.flow_id
  LOOP
    BEGIN
      EXECUTE format('LOCK TABLE %I.wed_flow IN ROW EXCLUSIVE MODE NOWAIT', _of.schema_name);
    EXCEPTION WHEN lock_not_available THEN
      _met := _met || jsonb_build_array(jsonb_build_array(_of.flow_id, NULL));
      CONTINUE;
    END;
    EXECUTE format(
      'WITH free AS MATERIALIZED (SELECT wid FROM %1$I.wed_flow WHERE wid = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED)
       SELECT jsonb_agg(jsonb_build_array($2, wid)) FROM %1$I.wed_flow
       WHERE wid = ANY ($1) AND wid NOT IN (SELECT wid FROM free)', _of.schema_name)
      INTO _some USING _of.wids, _of.flow_id;
    _met := _met || coalesce(_some, '[]');
  END LOOP;
  RETURN _met;
END $$;

-- Keeps what is to be kept of the attempts that this transaction deals with. Before their jobs leave the
-- pool: they say which component and state it was, and their tokens whether the host still holds them.
-- Items: {"flow", "wid", "tgid", "token", "keep", "deadline", "answers", "digest",
--   "logs": [{"severity", "message", "fields"}]}
CREATE OR REPLACE FUNCTION wed.keep_records(_host_id integer, _records jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO wed.recording (flow_id, wid, tgid, attempt, component_id, from_seq, deadline, answers, digest)
  SELECT j.flow_id, j.wid, j.tgid, j.attempt, j.component_id, j.seq, r.deadline, nullif(r.answers, 'null'), r.digest
  FROM jsonb_to_recordset(_records) AS r(flow integer, wid integer, tgid integer, token bigint, keep boolean,
    deadline bigint, answers jsonb, digest text)
  JOIN wed.job j ON j.flow_id = r.flow AND j.wid = r.wid AND j.tgid = r.tgid
    AND j.host_id = _host_id AND j.token = r.token
  WHERE r.keep;
  INSERT INTO wed.log (flow_id, wid, tgid, attempt, severity, message, fields)
  SELECT j.flow_id, j.wid, j.tgid, j.attempt, l.severity, l.message, l.fields
  FROM jsonb_to_recordset(_records) AS r(flow integer, wid integer, tgid integer, token bigint, logs jsonb)
  JOIN wed.job j ON j.flow_id = r.flow AND j.wid = r.wid AND j.tgid = r.tgid
    AND j.host_id = _host_id AND j.token = r.token
  CROSS JOIN LATERAL jsonb_array_elements(r.logs) WITH ORDINALITY e(line, at)
  CROSS JOIN LATERAL jsonb_to_record(e.line) AS l(severity text, message text, fields jsonb)
  ORDER BY j.flow_id, j.wid, e.at;
END $$;
