-- Why an instance's triggers fired, or did not: the conditions of a flow over its present state, or over that of a row
-- of its trace, clause by clause; what became of each trigger; and what a pending job waits for. The conditions are
-- those of today, of past states too. At most 200 triggers, the final condition last.
CREATE OR REPLACE FUNCTION wed.why(
  _flow_id integer, _wid integer, _trigger text DEFAULT NULL, _seq integer DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _instance wed.instance;
  _row wed.trace;
  _triggers jsonb;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  SELECT * INTO _instance FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no instance %', _wid USING ERRCODE = 'WF040',
      HINT = '`wed instance list FLOW` shows the instances there are.';
  END IF;
  SELECT * INTO _row FROM wed.trace
  WHERE flow_id = _flow_id AND wid = _wid AND (seq = _seq OR _seq IS NULL) ORDER BY seq DESC LIMIT 1;
  IF NOT FOUND AND _seq IS NOT NULL THEN
    RAISE EXCEPTION 'instance % has no state %', _wid, _seq USING ERRCODE = 'WF040',
      HINT = '`wed instance trace FLOW WID` shows the states there are; old ones may be dropped.';
  END IF;
  _triggers := wed.explain_triggers(_flow, _trigger,
    CASE WHEN _seq IS NULL THEN wed.present_state(_flow, _wid) ELSE _row.state::jsonb END);
  RETURN jsonb_build_object('wid', _wid, 'seq', _row.seq, 'present', _seq IS NULL, 'status', wed.status_word(CASE
      WHEN _seq IS NULL THEN _instance.status ELSE _row.status END),
    'state', CASE WHEN _seq IS NULL THEN wed.present_state(_flow, _wid) ELSE _row.state::jsonb END,
    'note', _row.note, 'triggers', (
      SELECT coalesce(jsonb_agg(t.doc || CASE WHEN _seq IS NULL
          THEN wed.present_outcome(_flow, _instance, _triggers, t.doc) ELSE wed.past_outcome(_row, t.doc) END
        ORDER BY t.at), '[]')
      FROM jsonb_array_elements(_triggers) WITH ORDINALITY t(doc, at)));
END $$;

-- An instance's present state, as a document.
CREATE OR REPLACE FUNCTION wed.present_state(_flow wed.flow, _wid integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _state jsonb;
BEGIN
  EXECUTE format('SELECT to_jsonb(w) - ''wid'' FROM %I.wed_flow w WHERE w.wid = $1', _flow.schema_name)
    INTO _state USING _wid;
  RETURN _state;
END $$;

-- The triggers of a flow, or the one of a name, explained over a state.
CREATE OR REPLACE FUNCTION wed.explain_triggers(_flow wed.flow, _trigger text, _state jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _triggers_max CONSTANT integer := 200;
  _explained jsonb := '[]';
  _one record;
BEGIN
  FOR _one IN
    SELECT t.*, wed.name_of_trigger(t) AS named FROM wed.trigger t
    WHERE t.flow_id = _flow.flow_id AND t.predicate IS NOT NULL
      AND (_trigger IS NULL OR wed.name_of_trigger(t) = _trigger OR t.trname = _trigger OR t.tgid::text = _trigger)
    ORDER BY t.cfinal, t.tgid LIMIT _triggers_max
  LOOP
    _explained := _explained || (jsonb_build_object('trigger', _one.named, 'tgid', _one.tgid,
      'transition', _one.trname, 'final', _one.cfinal, 'enabled', _one.enabled)
      || wed.explain_condition(_flow.shape_schema, _one.predicate, _one.guarded, _state));
  END LOOP;
  IF _trigger IS NOT NULL AND _explained = '[]' THEN
    RAISE EXCEPTION 'flow "%" has no trigger "%"', _flow.name, left(_trigger, 80) USING ERRCODE = 'WF040',
      HINT = 'Name a trigger, its transition, or `final`.';
  END IF;
  RETURN _explained;
END $$;

-- The name by which a trigger is known: its own, or its transition's; `final` of the final condition.
CREATE OR REPLACE FUNCTION wed.name_of_trigger(_trigger wed.trigger) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN _trigger.cfinal THEN 'final' ELSE coalesce(nullif(_trigger.tgname, ''), _trigger.trname) END
$$;

-- A condition over a state: its value, and its clauses with theirs, in reading order. A clause decides where every
-- joint above it has its value from it: the part of an AND or OR with the same value, and what NOT turns around.
CREATE OR REPLACE FUNCTION wed.explain_condition(_shape text, _predicate text, _guarded text, _state jsonb)
  RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _answers jsonb[];
  _clauses jsonb;
BEGIN
  _answers := wed.clause_answers(_shape, ARRAY(SELECT c.sql FROM wed.clauses(_guarded) c ORDER BY c.path), _state);
  WITH RECURSIVE clause AS MATERIALIZED (
    -- The text is that of the condition without its bounds, which has the same clauses.
    SELECT g.at, g.path, g.kind, coalesce(p.sql, g.sql) AS sql, coalesce(p.names, g.names) AS names,
           _answers[g.at] AS answer
    FROM (SELECT c.*, row_number() OVER (ORDER BY c.path) AS at FROM wed.clauses(_guarded) c) g
    LEFT JOIN wed.clauses(_predicate) p ON p.path = g.path AND p.kind = g.kind
  ), deciding AS (
    SELECT c.path, c.kind, c.answer FROM clause c WHERE c.path = '{}'
    UNION ALL
    SELECT c.path, c.kind, c.answer FROM deciding d JOIN clause c
      ON cardinality(c.path) = cardinality(d.path) + 1 AND c.path[1:cardinality(d.path)] = d.path
      AND (d.kind = 'not' OR c.answer ->> 'value' = d.answer ->> 'value')
  )
  SELECT jsonb_agg(jsonb_build_object('path', array_to_string(c.path, '.'), 'kind', c.kind,
      'text', wed.readable(c.sql), 'decides', EXISTS (SELECT FROM deciding d WHERE d.path = c.path),
      'reads', CASE WHEN c.kind = 'test' THEN (
        SELECT coalesce(jsonb_object_agg(n, wed.short_value(_state -> n)), '{}') FROM unnest(c.names) n
        WHERE _state ? n) END) || c.answer ORDER BY c.at)
  INTO _clauses FROM clause c;
  RETURN _answers[1] || jsonb_build_object('condition', _clauses -> 0 ->> 'text', 'clauses', _clauses);
END $$;

-- The values of clauses over one state, each with why it has none: together, or singly where one fails.
CREATE OR REPLACE FUNCTION wed.clause_answers(_shape text, _sql text[], _state jsonb) RETURNS jsonb[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _states jsonb := jsonb_build_array(_state);
  _answers jsonb[] := '{}';
BEGIN
  BEGIN
    RETURN ARRAY(SELECT jsonb_build_object('value', coalesce(v.value::text, 'unknown'))
                 FROM wed.clause_values(_shape, _sql, _states) c
                 CROSS JOIN LATERAL unnest(c.answers) WITH ORDINALITY v(value, at) ORDER BY v.at);
  EXCEPTION WHEN OTHERS THEN
    NULL; -- one of them fails on this state
  END;
  FOR _i IN 1 .. cardinality(_sql) LOOP
    BEGIN
      _answers := _answers || (SELECT jsonb_build_object('value', coalesce(c.answers[1]::text, 'unknown'))
                               FROM wed.clause_values(_shape, _sql[_i:_i], _states) c);
    EXCEPTION WHEN OTHERS THEN
      _answers := _answers || jsonb_build_object('value', 'fault', 'fault', SQLERRM);
    END;
  END LOOP;
  RETURN _answers;
END $$;

-- The outcome of a trigger for the present state, with its job while that is pending: `disabled`, `pending`, `fault`,
-- `false`, `unknown`, `final` (the instance has ended, or ends when its jobs have), `suppressed` by the final
-- condition, or `holds`: nothing is pending, because it was skipped, or time or a change of the model made
-- the condition true.
CREATE OR REPLACE FUNCTION wed.present_outcome(_flow wed.flow, _instance wed.instance, _all jsonb, _one jsonb)
  RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _job wed.job;
BEGIN
  SELECT * INTO _job FROM wed.job
  WHERE flow_id = _flow.flow_id AND wid = _instance.wid AND tgid = (_one ->> 'tgid')::integer;
  IF FOUND THEN
    RETURN jsonb_build_object('outcome', 'pending', 'job', wed.explain_job(_job));
  END IF;
  RETURN jsonb_build_object('outcome', CASE
    WHEN NOT (_one ->> 'enabled')::boolean THEN 'disabled'
    WHEN _one ->> 'value' <> 'true' THEN _one ->> 'value'
    WHEN (_one ->> 'final')::boolean OR _instance.status = 'F' THEN 'final'
    WHEN EXISTS (SELECT FROM jsonb_array_elements(_all) a WHERE (a ->> 'final')::boolean
      AND (a ->> 'enabled')::boolean AND a ->> 'value' = 'true') THEN 'suppressed'
    ELSE 'holds' END);
END $$;

-- A pending job: since when, how often it was tried, what it waits for.
CREATE OR REPLACE FUNCTION wed.explain_job(_job wed.job) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('fired_by', _job.seq, 'attempt', _job.attempt, 'running', _job.host_id IS NOT NULL,
    'due', CASE WHEN isfinite(_job.due) AND NOT wed.is_paused(_job.due) THEN wed.rfc3339(_job.due) END,
    'waits_for', w.code, 'waits_text', CASE WHEN _job.blocked IS NOT NULL
        THEN 'it waits for ' || wed.waits_on(_job.flow_id, _job.wid, _job.tgid)
      WHEN _job.put_off LIKE 'it cannot run: %' THEN _job.put_off ELSE wed.waiting_text(w.code, _job.tenant_id) END)
  FROM (SELECT wed.waiting_reason(_job.flow_id, _job.wid, _job.tgid) AS code) w
$$;

-- The outcome of a trigger for a state of the trace: `fired`, or why not. One that held and did not fire was pending
-- already, or the state was final.
CREATE OR REPLACE FUNCTION wed.past_outcome(_row wed.trace, _one jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('outcome', CASE
    WHEN _one ->> 'transition' = ANY (_row.trf) THEN 'fired'
    WHEN NOT (_one ->> 'enabled')::boolean THEN 'disabled'
    WHEN _one ->> 'value' <> 'true' THEN _one ->> 'value'
    WHEN _row.status = 'F' THEN 'final'
    ELSE 'holds' END)
$$;

-- A value as an explanation shows it: a long one is cut.
CREATE OR REPLACE FUNCTION wed.short_value(_value jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN length(_value::text) <= 200 THEN _value ELSE to_jsonb(left(_value #>> '{}', 200) || '…') END
$$;

-- A status in a word.
CREATE OR REPLACE FUNCTION wed.status_word(_status "char") RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE _status WHEN 'F' THEN 'final' WHEN 'E' THEN 'exception' ELSE 'regular' END
$$;
