-- Why a condition holds or not, clause by clause, and what another state or condition would do; nothing is written.

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
    'note', _row.note, 'exception', CASE WHEN _seq IS NULL AND _instance.status = 'E' THEN coalesce(
      'the instance is an exception ' || wed.way_back(_flow_id, _wid), format(
      'the instance is an exception, and its triggers fire nothing until it is mended: `wed instance retry %1$s %2$s` '
      'fires what its state satisfies, `wed instance set %1$s %2$s` gives it another state', _flow.name, _wid)) END,
    'triggers', (
      SELECT coalesce(jsonb_agg(t.doc || CASE WHEN _seq IS NULL
          THEN wed.present_outcome(_flow, _instance, _triggers, t.doc) ELSE wed.past_outcome(_row, t.doc) END
        ORDER BY t.at), '[]')
      FROM jsonb_array_elements(_triggers) WITH ORDINALITY t(doc, at)));
END $$;

-- Returns an instance's present state, as a document.
CREATE OR REPLACE FUNCTION wed.present_state(_flow wed.flow, _wid integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _state jsonb;
BEGIN
  EXECUTE format('SELECT to_jsonb(w.*) - ''wid'' FROM %I.wed_flow w WHERE w.wid = $1', _flow.schema_name)
    INTO _state USING _wid;
  RETURN _state;
END $$;

-- Returns the triggers of a flow, or the one of a name, explained over a state.
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

-- Returns the name by which a trigger is known: its own, or its transition's; `final` of the final condition.
CREATE OR REPLACE FUNCTION wed.name_of_trigger(_trigger wed.trigger) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN _trigger.cfinal THEN 'final' ELSE coalesce(nullif(_trigger.tgname, ''), _trigger.trname) END
$$;

-- Returns a condition over a state: its value, and its clauses with theirs, in reading order. A clause decides where
-- every joint above it has its value from it: the part of an AND or OR with the same value, and what NOT turns around.
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
  RETURN _answers[1] || jsonb_build_object('condition', _clauses -> 0 ->> 'text', 'clauses', _clauses,
    'needed', wed.change_needed(_clauses));
END $$;

-- Returns the change that a condition needs: the clauses that would have to become true for the clause at a path to be
-- true, or false, as wanted; null if it is.
CREATE OR REPLACE FUNCTION wed.change_needed(_clauses jsonb, _path text DEFAULT '', _wanted boolean DEFAULT true)
  RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _clause jsonb := (SELECT c FROM jsonb_array_elements(_clauses) c WHERE c ->> 'path' = _path);
  _kind text := _clause ->> 'kind';
  _joined text;
  _parts text[];
BEGIN
  IF _clause IS NULL OR _clause ->> 'value' = _wanted::text THEN RETURN NULL; END IF;
  IF _kind = 'test' THEN
    RETURN CASE WHEN _wanted THEN _clause ->> 'text' ELSE format('NOT (%s)', _clause ->> 'text') END;
  END IF;
  _parts := array_remove(ARRAY(
    SELECT CASE WHEN c.doc ->> 'path' <> '' AND regexp_replace(c.doc ->> 'path', '[.]?[0-9]+$', '') = _path
      THEN wed.change_needed(_clauses, c.doc ->> 'path', _wanted <> (_kind = 'not')) END
    FROM jsonb_array_elements(_clauses) WITH ORDINALITY c(doc, at) ORDER BY c.at), NULL);
  _joined := array_to_string(_parts, CASE WHEN (_kind = 'and') = _wanted THEN ' AND ' ELSE ' OR ' END);
  RETURN CASE WHEN _path = '' OR cardinality(_parts) = 1 THEN _joined ELSE format('(%s)', _joined) END;
END $$;

-- Returns the values of clauses over one state, each with why it has none: together, or singly where one fails.
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

-- Returns the outcome of a trigger for the present state, with its job while that is pending: `disabled`, `pending`,
-- `fault`, `false`, `unknown`, `final` (the instance has ended, or ends when its jobs have), `suppressed` by the final
-- condition, or `holds`: nothing is pending, because it was skipped, or time or a change of the model made the
-- condition true.
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

-- Returns a pending job: since when, how often it was tried, what it waits for.
CREATE OR REPLACE FUNCTION wed.explain_job(_job wed.job) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('fired_by', _job.seq, 'attempt', _job.attempt, 'running', _job.host_id IS NOT NULL,
    'due', CASE WHEN isfinite(_job.due) AND NOT wed.is_paused(_job.due) THEN wed.rfc3339(_job.due) END,
    'waits_for', w.code, 'waits_text', CASE WHEN _job.blocked IS NOT NULL OR w.code = 'event'
        THEN 'it waits for ' || wed.waits_on(_job.flow_id, _job.wid, _job.tgid)
      WHEN _job.not_runnable AND _job.put_off IS NOT NULL THEN _job.put_off
      WHEN w.code = 'nobody' THEN (
        wed.nobody_in_words(wed.item_for_nobody(_job.flow_id, _job.wid, _job.tgid))).reason
      ELSE wed.waiting_text(w.code, _job.tenant_id) END)
  FROM (SELECT wed.waiting_reason(_job.flow_id, _job.wid, _job.tgid) AS code) w
$$;

-- Returns the outcome of a trigger for a state of the trace: `fired`, or why not. One that held and did not fire was
-- pending already, or the state was final.
CREATE OR REPLACE FUNCTION wed.past_outcome(_row wed.trace, _one jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('outcome', CASE
    WHEN _one ->> 'transition' = ANY (_row.trf) THEN 'fired'
    WHEN NOT (_one ->> 'enabled')::boolean THEN 'disabled'
    WHEN _one ->> 'value' <> 'true' THEN _one ->> 'value'
    WHEN _row.status = 'F' THEN 'final'
    ELSE 'holds' END)
$$;

-- Returns a value as an explanation shows it: a long one is cut.
CREATE OR REPLACE FUNCTION wed.short_value(_value jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN length(_value::text) <= 200 THEN _value ELSE to_jsonb(left(_value #>> '{}', 200) || '…') END
$$;

-- Returns a status in a word.
CREATE OR REPLACE FUNCTION wed.status_word(_status "char") RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE _status WHEN 'F' THEN 'final' WHEN 'E' THEN 'exception' ELSE 'regular' END
$$;

-- Returns the clauses of a condition as Postgres deparsed it (wed.trigger.predicate, wed.trigger.guarded): what AND, OR
-- and NOT join, each with its path from the root. The deparser puts every AND, OR and NOT in brackets of its own and
-- writes them in capitals, and a string of its has no escapes, so a clause is a whole node of the checked tree. Of a
-- condition of more than 200 clauses the rest stays joined.
CREATE OR REPLACE FUNCTION wed.clauses(_sql text)
  RETURNS TABLE (path integer[], kind text, sql text, names text[])
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  _clauses_max CONSTANT integer := 200;
  _t text[] := wed.condition_tokens(_sql);
  _close integer[] := wed.closing_brackets(_t);
  _paths text[] := ARRAY[''];
  _from integer[] := ARRAY[1];
  _to integer[] := ARRAY[cardinality(_t)];
  _n integer := 1;
  _i integer := 0;
  _a integer;
  _b integer;
  _ends integer[];
BEGIN
  WHILE _i < _n LOOP
    _i := _i + 1;
    _a := _from[_i];
    _b := _to[_i];
    WHILE _t[_a] ~ '^\s' OR _t[_b] ~ '^\s' OR (_t[_a] = '(' AND _close[_a] = _b) LOOP
      IF _t[_a] = '(' AND _close[_a] = _b THEN _b := _b - 1; _a := _a + 1;
      ELSIF _t[_a] ~ '^\s' THEN _a := _a + 1;
      ELSE _b := _b - 1; END IF;
    END LOOP;
    path := string_to_array(_paths[_i], '.')::integer[];
    sql := array_to_string(_t[_a:_b], '');
    names := wed.names_in(_t[_a:_b]);
    _ends := wed.joints(_t, _close, _a, _b);
    kind := CASE WHEN _n + cardinality(_ends) >= _clauses_max THEN 'test'
      WHEN _ends <> '{}' THEN lower(_t[_ends[1]]) WHEN _t[_a] = 'NOT' THEN 'not' ELSE 'test' END;
    RETURN NEXT;
    CONTINUE WHEN kind = 'test';
    _ends := _ends || (_b + 1);
    IF kind = 'not' THEN _a := _a + 1; END IF;
    FOR _k IN 1 .. cardinality(_ends) LOOP
      _n := _n + 1;
      _paths[_n] := concat_ws('.', nullif(_paths[_i], ''), _k);
      _from[_n] := _a;
      _to[_n] := _ends[_k] - 1;
      _a := _ends[_k] + 1;
    END LOOP;
  END LOOP;
END $$;

-- Returns a deparsed condition, token by token.
CREATE OR REPLACE FUNCTION wed.condition_tokens(_sql text) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY(SELECT m[1] FROM regexp_matches(
    -- The limit of time stands around the whole condition (wed.guarded).
    CASE WHEN _sql LIKE 'wed\_bounded.in\_time(%)' THEN substr(_sql, 20) ELSE _sql END,
    $r$('(?:[^']|'')*'|"(?:[^"]|"")*"|(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*$r$
      || $r$|[0-9.]+|\s+|::|[-+*/<>=~!@#%^&|?]+|.)$r$, 'g') AS m)
$$;

-- Returns the token that closes each bracket, by the token that opens it.
CREATE OR REPLACE FUNCTION wed.closing_brackets(_t text[]) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _close integer[] := array_fill(NULL::integer, ARRAY[greatest(cardinality(_t), 1)]);
  _open integer[];
  _d integer := 0;
BEGIN
  FOR _i IN 1 .. cardinality(_t) LOOP
    IF _t[_i] IN ('(', '[') THEN
      _d := _d + 1;
      _open[_d] := _i;
    ELSIF _t[_i] IN (')', ']') AND _d > 0 THEN
      _close[_open[_d]] := _i;
      _d := _d - 1;
    END IF;
  END LOOP;
  RETURN _close;
END $$;

-- Returns the tokens AND and OR that join clauses between two tokens, outside of any bracket.
CREATE OR REPLACE FUNCTION wed.joints(_t text[], _close integer[], _from integer, _to integer) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _at integer := _from;
  _joints integer[] := '{}';
BEGIN
  WHILE _at <= _to LOOP
    IF _t[_at] IN ('AND', 'OR') THEN _joints := _joints || _at; END IF;
    _at := coalesce(_close[_at], _at) + 1;
  END LOOP;
  RETURN _joints;
END $$;

-- Returns the names in a clause that may be attributes: neither types nor functions.
CREATE OR REPLACE FUNCTION wed.names_in(_t text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY(
    SELECT DISTINCT CASE WHEN t LIKE '"%' THEN replace(substr(t, 2, length(t) - 2), '""', '"') ELSE t END
    FROM (SELECT t, lag(t) OVER w AS before, lead(t) OVER w AS after FROM unnest(_t) WITH ORDINALITY u(t, at)
          WINDOW w AS (ORDER BY at)) n
    WHERE t ~ $r$^([A-Za-z_"]|[^\x01-\x7f])$r$ AND coalesce(before, '') NOT IN ('::', '.')
      AND coalesce(after, '') NOT IN ('(', '.') ORDER BY 1)
$$;

-- Returns a clause as a person reads it: text is not said to be text.
CREATE OR REPLACE FUNCTION wed.readable(_sql text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT string_agg(t, '' ORDER BY at) FILTER (WHERE NOT is_type)
  FROM (SELECT t, at, t = '::' AND lag(t) OVER w LIKE '''%' AND lead(t) OVER w = 'text'
          OR t = 'text' AND lag(t) OVER w = '::' AND lag(t, 2) OVER w LIKE '''%' AS is_type
        FROM unnest(wed.condition_tokens(_sql)) WITH ORDINALITY u(t, at) WINDOW w AS (ORDER BY at)) n
$$;

-- Returns the values of some clauses over some states, an array for each state. They run as the role without rights,
-- and are parts of conditions that were checked when they were defined: nothing else calls this.
CREATE OR REPLACE FUNCTION wed.clause_values(_shape text, _clauses text[], _states jsonb)
  RETURNS TABLE (at bigint, answers boolean[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM set_config('wed.begun', extract(epoch FROM clock_timestamp())::text, true);
  RETURN QUERY EXECUTE format(
    -- In a query of its own, where an attribute's name means nothing else.
    'SELECT s.at, (SELECT ARRAY[%2$s]::boolean[] FROM jsonb_populate_record(NULL::%1$I.wed_flow, s.state) wed_flow)
     FROM jsonb_array_elements($1) WITH ORDINALITY s(state, at)',
    _shape, (SELECT string_agg(format('wed_bounded.in_time(%s)', c), ', ' ORDER BY n)
             FROM unnest(_clauses) WITH ORDINALITY u(c, n))) USING _states;
  PERFORM set_config('wed.begun', '', true);
END $$;

ALTER FUNCTION wed.clause_values(text, text[], jsonb) OWNER TO wed_predicate;

-- Foresees what would become of an instance if some attributes had other values: set by a pending transition (its
-- trigger named), by hand in an exception, or by an event. Decided as the gate decides, and nothing is written or
-- locked.
CREATE OR REPLACE FUNCTION wed.what_if(_flow_id integer, _wid integer, _values jsonb, _trigger text DEFAULT NULL)
  RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _job wed.job;
  _rows wed.evaluated[];
  _finished wed.finished[];
  _decision wed.decision;
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
      SELECT ROW(n.*)::%1$I.wed_flow FROM %2$I.wed_flow w CROSS JOIN LATERAL jsonb_populate_record(w.*, $1) n
      WHERE w.wid = $2))', _flow.shape_schema, _flow.schema_name) INTO _rows USING _values, _wid;
  IF _job.wid IS NOT NULL THEN _finished := wed.finished_job(_flow_id, _wid, _job.tgid, _job.token); END IF;
  _decision := (wed.decide(_rows, _finished,
    CASE WHEN _job.wid IS NULL THEN '_EVENT' ELSE 'transition' END::wed.cause, NULL, false))[1];
  RETURN jsonb_build_object('wid', _wid, 'as', _as, 'state', (_rows[1]).state::jsonb,
      'refused', wed.refusal_foreseen(_flow, _job, _values, _decision), 'fault', (_decision).outcome.forced,
      'becomes', wed.status_word((_decision).outcome.becomes),
      'fires', wed.would_fire((_decision).outcome.fire), 'still_pending', ARRAY(
        SELECT j.trname FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.trname <> '_EXCPT'
          AND j.tgid IS DISTINCT FROM _job.tgid AND j.tgid <> ALL ((_decision).outcome.ends) ORDER BY j.tgid),
      'stale', ARRAY(
        SELECT j.trname FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.trname <> '_EXCPT'
          AND j.tgid IS DISTINCT FROM _job.tgid AND j.tgid <> ALL ((_decision).outcome.ends)
          AND NOT EXISTS (SELECT FROM unnest((_rows[1]).fired) f WHERE (f & 4294967295) = j.tgid) ORDER BY j.tgid),
      'triggers', wed.explain_triggers(_flow, NULL, (_rows[1]).state::jsonb));
END $$;

-- Returns the job that a state is assumed to end: that of the trigger named, or the exception's; none for an event.
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

-- Returns the refusal that the gate would raise: its code, message and hint; null: none.
CREATE OR REPLACE FUNCTION wed.refusal_foreseen(_flow wed.flow, _job wed.job, _values jsonb, _decision wed.decision)
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
  IF (_decision).refusal IS NULL THEN RETURN NULL; END IF;
  PERFORM wed.refuse_decision(ARRAY[_decision]);
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

-- Returns what skipping a job, cancelling or going back would do to an instance: its status and pending transitions
-- afterwards, what is dropped, and the steps that compensations would undo, newest first. It is done, and taken back.
CREATE OR REPLACE FUNCTION wed.foresee_act(_flow_id integer, _wid integer, _act text, _transition text, _to_seq integer)
  RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _before text[] := wed.pending_work(_flow_id, _wid);
  _after text[];
  _becomes "char";
  _undoes jsonb := '[]';
BEGIN
  IF _act = 'back' THEN
    SELECT coalesce(jsonb_agg(jsonb_build_object('seq', s.seq, 'transition', t.trname) ORDER BY s.seq DESC), '[]')
    INTO _undoes FROM wed.steps_to_undo(_flow_id, _wid, _to_seq) s JOIN wed.trigger t USING (tgid);
  END IF;
  BEGIN
    IF _act = 'skip' THEN PERFORM wed.skip_job(_flow_id, _wid, _transition, 'preview', 'preview');
    ELSIF _act = 'cancel' THEN PERFORM wed.cancel_instance(_flow_id, _wid, 'preview', 'preview');
    ELSE PERFORM wed.go_back(_flow_id, _wid, _to_seq, 'preview', 'preview'); END IF;
    SELECT i.status, wed.pending_work(_flow_id, _wid) INTO _becomes, _after
    FROM wed.instance i WHERE i.flow_id = _flow_id AND i.wid = _wid;
    RAISE EXCEPTION 'a preview' USING ERRCODE = 'WFPRE';
  EXCEPTION WHEN SQLSTATE 'WFPRE' THEN
    NULL; -- the instance is as it was
  END;
  RETURN jsonb_build_object('becomes', wed.status_word(_becomes), 'pending', to_jsonb(_after), 'undoes', _undoes,
    'drops', ARRAY(SELECT unnest(_before) EXCEPT SELECT unnest(_after) ORDER BY 1));
END $$;

-- Returns the transitions that are pending for an instance.
CREATE OR REPLACE FUNCTION wed.pending_work(_flow_id integer, _wid integer) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY(SELECT j.trname FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.trname <> '_EXCPT'
               ORDER BY j.tgid)
$$;

-- Returns the live instances for which a condition would have another value if it read otherwise. It is checked as a
-- definition is, and what that wrote is taken back. At most 10 000 instances and 3 s are looked at, oldest first
-- (`complete`), and the first 100 that differ are listed.
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
  EXECUTE format('SELECT jsonb_agg(to_jsonb(w.*) ORDER BY w.wid) FROM %I.wed_flow w WHERE w.wid = ANY ($1)',
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

-- Returns the graph of a flow, derived from its definition: its triggers, and an edge where one writes what the other's
-- condition reads, with what the traces of its newest instances and its pending jobs say of them. At most 300
-- triggers, 2 000 rows of the trace, 100 000 jobs and 1 000 exceptions are looked at.
CREATE OR REPLACE FUNCTION wed.graph(_flow_id integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _nodes jsonb;
  _sample jsonb := wed.sample_trace(_flow_id) || jsonb_build_object('defaults', wed.definition_defaults(_flow_id));
BEGIN
  _nodes := wed.graph_nodes(_flow_id, _sample);
  RETURN jsonb_build_object('rows', _sample -> 'rows', 'triggers', _nodes,
    'edges', wed.graph_edges(_nodes, _sample -> 'fired'));
END $$;

-- Figures of the newest rows of a flow's traces: how often each transition (`from`; null: a new instance) fired which
-- other, and which attributes each one changed.
CREATE OR REPLACE FUNCTION wed.sample_trace(_flow_id integer) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH sample AS MATERIALIZED (
    SELECT wid, seq, trw, trf, status, state::jsonb AS state FROM wed.trace
    WHERE flow_id = _flow_id ORDER BY flow_id DESC, wid DESC, seq DESC LIMIT 2000
  ), step AS (
    SELECT *, lag(state) OVER (PARTITION BY wid ORDER BY seq) AS before FROM sample
    WHERE trw IS NULL OR wed.names_transition(trw)
  ), fired AS (
    SELECT s.trw, f.name, count(*) AS number FROM step s
    CROSS JOIN LATERAL (SELECT unnest(s.trf) UNION ALL SELECT 'final' WHERE s.status = 'F') f(name)
    WHERE f.name = 'final' OR f.name !~ '^_' GROUP BY 1, 2
  ), changed AS (
    SELECT s.trw, array_agg(DISTINCT e.key) AS names FROM step s CROSS JOIN LATERAL jsonb_each(s.state) e
    WHERE s.trw IS NOT NULL AND s.before IS NOT NULL AND s.before -> e.key IS DISTINCT FROM e.value GROUP BY 1
  )
  SELECT jsonb_build_object('rows', (SELECT count(*) FROM sample),
    'fired', (SELECT coalesce(jsonb_agg(jsonb_build_object('from', trw, 'to', name, 'number', number)), '[]')
              FROM fired),
    'changed', (SELECT coalesce(jsonb_object_agg(trw, names), '{}') FROM changed))
$$;

-- Returns the triggers of a flow as nodes: what each reads and writes, who performs it, and what is pending or failed.
CREATE OR REPLACE FUNCTION wed.graph_nodes(_flow_id integer, _sample jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH node AS (
    SELECT t.*, wed.name_of_trigger(t) AS named FROM wed.trigger t
    WHERE t.flow_id = _flow_id AND t.predicate IS NOT NULL ORDER BY t.cfinal, t.tgid LIMIT 300
  ), pending AS (
    SELECT j.tgid, count(*) AS jobs, count(j.host_id) AS running
    FROM (SELECT tgid, host_id FROM wed.job WHERE flow_id = _flow_id LIMIT 100000) j GROUP BY 1
  ), failed AS (
    SELECT m.transition, count(*) AS number FROM wed.matching_exceptions(_flow_id, NULL, NULL, NULL, 1000) m GROUP BY 1
  )
  SELECT coalesce(jsonb_agg(jsonb_build_object('trigger', n.named, 'transition', n.trname, 'final', n.cfinal,
      'enabled', n.enabled, 'condition', (
        SELECT wed.readable(c.sql) FROM wed.clauses(n.predicate) c WHERE c.path = '{}'),
      'reads', n.reads, 'guards', wed.guards_of(n.predicate, n.reads, _sample -> 'defaults'),
      'writes', coalesce(to_jsonb(n.writes), wed.declared_writes(n.component_id, n.trname), wed.given_back(s),
        _sample -> 'changed' -> n.trname, '[]'),
      'performer', CASE WHEN n.cfinal OR n.trname = '_WAIT' THEN 'gate' WHEN w.tgid IS NOT NULL THEN 'person'
        WHEN b.trname IS NOT NULL THEN 'component' WHEN s.trname IS NOT NULL THEN 'flow ' || s.starts
        ELSE 'worker' END, 'component', b.component_name,
      'jobs', coalesce(p.jobs, 0), 'running', coalesce(p.running, 0),
      'exceptions', coalesce(f.number, 0)) ORDER BY n.cfinal, n.tgid), '[]')
  FROM node n LEFT JOIN pending p USING (tgid) LEFT JOIN wed.work_task w USING (tgid)
  LEFT JOIN failed f ON f.transition = n.trname LEFT JOIN wed.binding b ON b.flow_id = _flow_id AND b.trname = n.trname
  LEFT JOIN wed.subprocess s ON s.flow_id = _flow_id AND s.trname = n.trname
$$;

-- Returns the default of each attribute of a flow.
CREATE OR REPLACE FUNCTION wed.definition_defaults(_flow_id integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _defaults jsonb;
BEGIN
  EXECUTE format('SELECT jsonb_object_agg(aname, adv) FROM %I.wed_attr',
    (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _defaults;
  RETURN coalesce(_defaults, '{}');
END $$;

-- Returns the attributes that only hold a condition back: every clause that names one asks that it still be null, or
-- have its default. Whoever writes it makes the condition false, not true.
CREATE OR REPLACE FUNCTION wed.guards_of(_predicate text, _reads text[], _defaults jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH clause AS MATERIALIZED (SELECT * FROM wed.clauses(_predicate)),
  test AS (
    SELECT c.names, wed.readable(c.sql) AS text, EXISTS (
      SELECT FROM clause n WHERE n.kind = 'not' AND c.path[1:cardinality(n.path)] = n.path) AS negated
    FROM clause c WHERE c.kind = 'test'
  )
  SELECT coalesce(jsonb_agg(r ORDER BY r), '[]') FROM unnest(_reads) r
  WHERE (SELECT bool_and(NOT t.negated AND t.text IN (format('%I IS NULL', r),
           format('%I = %L', r, _defaults ->> r), format('%I = %s', r, _defaults ->> r), CASE _defaults ->> r
             WHEN 'true' THEN quote_ident(r) END)) FROM test t WHERE r = ANY (t.names))
$$;

-- Returns the attributes that a component says its transition writes; null: it does not say.
CREATE OR REPLACE FUNCTION wed.declared_writes(_component_id integer, _transition text) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT (SELECT jsonb_agg(w -> 'name') FROM jsonb_array_elements(nullif(e -> 'writes', 'null')) w)
  FROM wed.component c CROSS JOIN LATERAL jsonb_array_elements(c.manifest -> 'transitions') e
  WHERE c.component_id = _component_id AND e ->> 'transition' = _transition
$$;

-- Returns the edges between triggers: those whose transition writes what the other's condition reads, other than as a
-- guard, and those that the trace shows; from a new instance (null) to what it fired. `number`: how often the sample
-- shows it.
CREATE OR REPLACE FUNCTION wed.graph_edges(_nodes jsonb, _fired jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH node AS MATERIALIZED (
    SELECT n ->> 'trigger' AS named, coalesce(n ->> 'transition', 'final') AS transition,
           ARRAY(SELECT jsonb_array_elements_text(n -> 'reads') EXCEPT SELECT jsonb_array_elements_text(n -> 'guards'))
             AS reads,
           ARRAY(SELECT jsonb_array_elements_text(n -> 'writes')) AS writes
    FROM jsonb_array_elements(_nodes) n
  ), fired AS MATERIALIZED (
    SELECT f ->> 'from' AS transition, f ->> 'to' AS fires, (f ->> 'number')::bigint AS number
    FROM jsonb_array_elements(_fired) f
  ), edge AS (
    SELECT a.named AS "from", b.named AS "to",
      ARRAY(SELECT unnest(a.writes) INTERSECT SELECT unnest(b.reads) ORDER BY 1) AS attributes,
      coalesce(f.number, 0) AS number
    FROM node a CROSS JOIN node b LEFT JOIN fired f ON f.transition = a.transition AND f.fires = b.transition
    WHERE a.writes && b.reads OR f.number > 0
    UNION ALL
    SELECT NULL, b.named, '{}', f.number FROM fired f JOIN node b ON b.transition = f.fires WHERE f.transition IS NULL
  )
  SELECT coalesce(jsonb_agg(to_jsonb(e) ORDER BY e."from" NULLS FIRST, e."to"), '[]') FROM edge e
$$;
