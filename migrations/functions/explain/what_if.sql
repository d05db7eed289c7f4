-- Foresees what would become of an instance if some attributes had other values: set by a pending transition (its
-- trigger named), by hand in an exception, or by an event. Decided as the gate decides, and nothing is written or locked.
CREATE OR REPLACE FUNCTION wed.what_if(_flow_id integer, _wid integer, _values jsonb, _trigger text DEFAULT NULL)
  RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _job wed.job;
  _rows wed.evaluated[];
  _results wed.result[];
  _passing wed.passing[];
  _as text;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  IF NOT EXISTS (SELECT FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid) THEN
    RAISE EXCEPTION 'there is no instance %', _wid USING ERRCODE = 'WF040',
      HINT = '`wed instance list FLOW` shows the instances there are.';
  END IF;
  PERFORM wed.refuse_values(_flow, _values);
  _job := wed.job_that_writes(_flow, _wid, _trigger);
  _as := CASE WHEN _job.trname = '_EXCPT' THEN '_ADHOC' ELSE coalesce(_job.trname, '_EVENT') END;
  EXECUTE format('SELECT %1$I.evaluate_%1$s(ARRAY(
      SELECT ROW(n.*)::%1$I.wed_flow FROM %2$I.wed_flow w CROSS JOIN LATERAL jsonb_populate_record(w, $1) n
      WHERE w.wid = $2))', _flow.shape_schema, _flow.schema_name) INTO _rows USING _values, _wid;
  IF _job.wid IS NOT NULL THEN _results := wed.result_of(_wid, _job.tgid, _job.token); END IF;
  _passing := wed.decide(_rows, _results, CASE WHEN _job.wid IS NULL THEN '_EVENT' END, NULL, false);
  RETURN jsonb_build_object('wid', _wid, 'as', _as, 'state', (_rows[1]).state::jsonb,
      'refused', wed.refusal_foreseen(_flow, _job, _values, _passing), 'fault', (_passing[1]).forced,
      'becomes', wed.status_word((_passing[1]).becomes),
      'fires', wed.would_fire((_passing[1]).fire), 'still_pending', ARRAY(
        SELECT j.trname FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.trname <> '_EXCPT'
          AND j.tgid IS DISTINCT FROM _job.tgid ORDER BY j.tgid),
      'triggers', wed.explain_triggers(_flow, NULL, (_rows[1]).state::jsonb));
END $$;

-- The job that a state is assumed to end: that of the trigger named, or the exception's; none for an event.
CREATE OR REPLACE FUNCTION wed.job_that_writes(_flow wed.flow, _wid integer, _trigger text) RETURNS wed.job
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job wed.job;
BEGIN
  SELECT j.* INTO _job FROM wed.job j JOIN wed.trigger t USING (tgid)
  WHERE j.flow_id = _flow.flow_id AND j.wid = _wid
    AND (wed.name_of_trigger(t) = _trigger OR j.trname = _trigger OR _trigger IS NULL AND j.trname = '_EXCPT')
  ORDER BY j.tgid LIMIT 1;
  IF NOT FOUND AND _trigger IS NOT NULL THEN
    RAISE EXCEPTION '"%" is not pending for instance %', left(_trigger, 80), _wid USING ERRCODE = 'WF040',
      HINT = 'Name a pending transition, or none: then the state is as an event would set it.';
  END IF;
  RETURN _job;
END $$;

-- The refusal that the gate would raise: its code, message and hint; null: none.
CREATE OR REPLACE FUNCTION wed.refusal_foreseen(_flow wed.flow, _job wed.job, _values jsonb, _passing wed.passing[])
  RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _hint text;
  _forbidden text := (
    SELECT string_agg(k, ', ' ORDER BY k)
    FROM jsonb_object_keys(_values) k LEFT JOIN wed.trigger t ON t.tgid = _job.tgid
    WHERE CASE WHEN _job.wid IS NULL THEN k <> ALL (_flow.open_attributes) ELSE k <> ALL (t.writes) END);
BEGIN
  IF _forbidden IS NOT NULL THEN
    RETURN jsonb_build_object('code', CASE WHEN _job.wid IS NULL THEN 'WF003' ELSE 'WF010' END,
      'message', CASE WHEN _job.wid IS NULL THEN format('an event may not set %s: not declared open', _forbidden)
        ELSE format('transition %s may not set %s', _job.trname, _forbidden) END,
      'hint', 'Declare the attribute open, or add it to the trigger''s writes.');
  END IF;
  IF (_passing[1]).refusal IS NULL THEN RETURN NULL; END IF;
  PERFORM wed.refuse_passing(_passing);
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS _hint = PG_EXCEPTION_HINT;
  RETURN jsonb_build_object('code', SQLSTATE, 'message', SQLERRM, 'hint', _hint);
END $$;

-- Triggers that would fire, with what each would reserve first.
CREATE OR REPLACE FUNCTION wed.would_fire(_tgids integer[]) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('trigger', wed.name_of_trigger(t), 'transition', t.trname,
    'reserves', c.keys, 'resource', c.resource, 'after', c.after) ORDER BY t.tgid), '[]')
  FROM wed.trigger t LEFT JOIN wed.trigger_constraint c USING (tgid) WHERE t.tgid = ANY (_tgids)
$$;

-- The live instances for which a condition would have another value if it read otherwise. It is checked as a definition
-- is, and what that wrote is taken back. At most 10 000 instances and 3 s are looked at, oldest first (`complete`), and
-- the first 100 that differ are listed.
CREATE OR REPLACE FUNCTION wed.what_if_condition(_flow_id integer, _trigger text, _condition text) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _instances_max CONSTANT integer := 10000;
  _listed_max CONSTANT integer := 100;
  _until timestamptz := clock_timestamp() + interval '3 s';
  _flow wed.flow;
  _old wed.trigger;
  _new record;
  _last integer := 0;
  _wids integer[];
  _seen integer := 0;
  _counts bigint[] := ARRAY[0, 0, 0, 0];
  _listed jsonb := '[]';
  _part record;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  SELECT t.* INTO _old FROM wed.trigger t WHERE t.flow_id = _flow_id AND wed.name_of_trigger(t) = _trigger
    AND t.predicate IS NOT NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'flow "%" has no trigger "%"', _flow.name, left(_trigger, 80) USING ERRCODE = 'WF040',
      HINT = 'Name a trigger, or `final`.';
  END IF;
  BEGIN
    _new := wed.check_predicate(_flow.shape_schema, 0, _condition);
    RAISE EXCEPTION 'a preview' USING ERRCODE = 'WFPRE';
  EXCEPTION WHEN SQLSTATE 'WFPRE' THEN
    NULL; -- the shape is as it was
  END;
  LOOP
    _wids := ARRAY(SELECT DISTINCT j.wid FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid > _last
                   ORDER BY j.wid LIMIT 250);
    EXIT WHEN _wids = '{}' OR _seen >= _instances_max OR clock_timestamp() > _until;
    _last := _wids[cardinality(_wids)];
    _seen := _seen + cardinality(_wids);
    _part := wed.compare_conditions(_flow, _old.guarded, _new.guarded, _wids);
    _counts := ARRAY(SELECT a + b FROM unnest(_counts, _part.counts) u(a, b));
    IF jsonb_array_length(_listed) < _listed_max THEN _listed := _listed || _part.differing; END IF;
  END LOOP;
  RETURN jsonb_build_object('trigger', _trigger, 'condition', _new.predicate, 'looked_at', _seen,
    'complete', _wids = '{}', 'holds_now', _counts[1], 'would_hold', _counts[2], 'differ', _counts[3],
    'faults', _counts[4], 'instances', (
      SELECT coalesce(jsonb_agg(l ORDER BY at), '[]') FROM jsonb_array_elements(_listed) WITH ORDINALITY u(l, at)
      WHERE at <= _listed_max));
END $$;

-- Two conditions over some instances: how many hold by the one, by the other, how many differ, how many have a value by
-- neither because one fails; and those that differ.
CREATE OR REPLACE FUNCTION wed.compare_conditions(
  _flow wed.flow, _old text, _new text, _wids integer[], OUT counts bigint[], OUT differing jsonb)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _states jsonb;
BEGIN
  EXECUTE format('SELECT jsonb_agg(to_jsonb(w) ORDER BY w.wid) FROM %I.wed_flow w WHERE w.wid = ANY ($1)',
    _flow.schema_name) INTO _states USING _wids;
  SELECT ARRAY[count(*) FILTER (WHERE o.old IS TRUE), count(*) FILTER (WHERE o.new IS TRUE),
           count(*) FILTER (WHERE o.old IS DISTINCT FROM o.new), 0],
         coalesce(jsonb_agg(jsonb_build_object('wid', o.wid, 'holds_now', o.old, 'would_hold', o.new) ORDER BY o.wid)
           FILTER (WHERE o.old IS DISTINCT FROM o.new), '[]')
  INTO counts, differing
  FROM (SELECT (_states -> (c.at - 1)::integer -> 'wid')::integer AS wid, c.answers[1] AS old, c.answers[2] AS new
        FROM wed.clause_values(_flow.shape_schema, ARRAY[_old, _new], _states) c) o;
EXCEPTION WHEN OTHERS THEN
  -- Some condition fails on some state: each by itself.
  IF cardinality(_wids) = 1 THEN
    counts := ARRAY[0, 0, 0, 1];
    differing := '[]';
    RETURN;
  END IF;
  SELECT ARRAY[sum(p.counts[1]), sum(p.counts[2]), sum(p.counts[3]), sum(p.counts[4])]::bigint[],
         coalesce((SELECT jsonb_agg(d) FROM jsonb_array_elements(jsonb_agg(p.differing)) a
                   CROSS JOIN LATERAL jsonb_array_elements(a) d), '[]')
  INTO counts, differing
  FROM unnest(_wids) w CROSS JOIN LATERAL wed.compare_conditions(_flow, _old, _new, ARRAY[w]) p;
END $$;
