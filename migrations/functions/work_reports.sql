-- Reports of people: checked against the form, applied once, traced.

-- Reports an item's result: _values are set and the job ends through the gate, with its trace and the jobs that it
-- fires, in one transaction. With one key it is applied exactly once, however often it is sent. A result of
-- somebody who does not hold the item is not applied but kept: the answer says so ("applied": false) and shows both
-- versions. So is one that was made from the state _base when what it sets was changed by somebody else since.
-- _done_at is the time at which the person did it, by that person's clock.
CREATE OR REPLACE FUNCTION wed.report_work(
  _tenant text, _name text, _item_id bigint, _success boolean, _values jsonb, _key text, _reason text DEFAULT NULL,
  _claim integer DEFAULT NULL, _now timestamptz DEFAULT clock_timestamp(), _base integer DEFAULT NULL,
  _done_at timestamptz DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
  _print bytea := sha256(convert_to(concat_ws('|', _item_id, _success, _values::text, _reason), 'UTF8'));
  _prior wed.work_report;
  _changed jsonb;
  _answer jsonb;
BEGIN
  SELECT i.* INTO _item FROM wed.work_item i WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id;
  IF NOT FOUND THEN PERFORM wed.refuse_claim(_person, _item_id, 'SELECTED'); END IF;
  -- The instance first, as everywhere; two senders of one key wait for each other here.
  EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) USING _item.wid;
  SELECT * INTO _prior FROM wed.work_report WHERE person_id = _person.person_id AND key = _key;
  IF FOUND THEN
    IF _prior.fingerprint <> _print THEN
      RAISE EXCEPTION 'another result was sent under this key' USING ERRCODE = 'WF086',
        HINT = 'A form is sent once: the item says what became of its result. Use a new random key for each result.';
    END IF;
    RETURN _prior.answer || '{"replayed": true}';
  END IF;
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id FOR UPDATE;
  IF _item.holder IS DISTINCT FROM _person.person_id OR _item.ended_at IS NOT NULL
    OR _item.claim <> coalesce(_claim, _item.claim) THEN
    _answer := wed.refused_report(_item, _person, _values, NULL);
  ELSE
    _changed := CASE WHEN _success THEN wed.changed_meanwhile(_item, _base, _values) END;
    IF _changed IS NOT NULL THEN
      _answer := wed.refused_report(_item, _person, _values, _changed);
    ELSE
      _answer := wed.apply_report(_item, _person, _success, coalesce(_values, '{}'), _reason, _done_at, _now);
    END IF;
  END IF;
  INSERT INTO wed.work_report (person_id, key, item_id, flow_id, wid, fingerprint, applied, code, reason, result,
    answer, at)
  VALUES (_person.person_id, _key, _item_id, _item.flow_id, _item.wid, _print, (_answer ->> 'applied')::boolean,
    _answer ->> 'code',
          _answer ->> 'reason', jsonb_build_object('success', _success, 'values', _values, 'reason', _reason),
            _answer, _now);
  RETURN _answer;
END $$;

-- Ends an item whose holder reports it, whose rows are held: as a host's batch does, the state is written here and
-- taken through the gate. A failure that no rule expects makes the instance an exception, of which who is in charge
-- decides.
CREATE OR REPLACE FUNCTION wed.apply_report(
  _item wed.work_item, _person wed.person, _success boolean, _values jsonb, _reason text,
    _done_at timestamptz, _now timestamptz) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _task wed.work_task;
  _job wed.job;
  -- In the trace a minute's difference is no news.
  _done text := CASE WHEN _done_at < _now - interval '1 minute' THEN 'done at ' || wed.rfc3339(_done_at) END;
  _note text := wed.reasoned(_person.name, nullif(concat_ws('; ', _reason, _done), ''));
  _state text := CASE WHEN _success THEN 'SUCCEEDED' ELSE 'FAILED' END;
BEGIN
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  SELECT * INTO _job FROM wed.job WHERE flow_id = _item.flow_id AND wid = _item.wid AND tgid = _item.tgid FOR UPDATE;
  IF wed.is_paused(_job.due) THEN
    RAISE EXCEPTION 'instance % is paused', _item.wid USING ERRCODE = 'WF087',
      HINT = 'Report again when an operator resumed it.';
  END IF;
  PERFORM wed.refuse_performer(_item, _person.person_id);
  _values := wed.checked_values(_item, _task, _values);
  IF _success AND _task.form IS NOT NULL THEN
    PERFORM wed.check_form(_task.form, _values, _item.task);
  END IF;
  PERFORM wed.refuse_values(f, _values) FROM wed.flow f WHERE f.flow_id = _item.flow_id;
  UPDATE wed.work_item SET state = _state, ended_at = _now, alarm_at = NULL WHERE item_id = _item.item_id;
  DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
  IF _item.part > 0 AND NOT wed.answer_part(_item, _task, _person, _success, _values, _reason) THEN
    NULL;
  ELSIF _success OR _item.part > 0 OR _task.state_attribute IS NOT NULL AND _task.failure_expected THEN
    _values := CASE WHEN _item.part > 0 THEN '{}' ELSE _values END;
    IF _task.state_attribute IS NOT NULL THEN
      _values := _values || jsonb_build_object(_task.state_attribute,
        CASE WHEN _item.part > 0 THEN 'SUCCEEDED' ELSE _state END);
    END IF;
    PERFORM wed.write_values(_item.flow_id, _item.wid, _values);
    PERFORM wed.pass_gate(wed.as_it_stands(_item.flow_id, _item.wid),
      wed.finished_job(_item.flow_id, _item.wid, _job.tgid, _job.token), _note => _note);
  ELSE
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
    VALUES (_job.flow_id, _job.wid, _job.tgid, _job.trname, 1, 'failed', _note, session_user);
    PERFORM wed.pass_as_it_stands(_item.flow_id, _item.wid, _job.tgid, '_ABORT',
      format('%s: failed by %s', _job.trname, wed.reasoned(_person.name, _reason)), NULL, NULL);
  END IF;
  PERFORM wed.record_work(_item, _person.name, lower(_state),
    jsonb_build_object('set', (SELECT jsonb_agg(k ORDER BY k) FROM jsonb_object_keys(_values) k), 'reason',
      _reason, 'done_at', wed.rfc3339(_done_at)), _now);
  IF NOT _success THEN
    PERFORM wed.send_message(wed.in_charge(_item.flow_id, _item.wid), 'task_failed', wed.work_place(_item.flow_id,
      _item.wid),
      format('%s failed: %s', _item.task, wed.reasoned(_person.name, _reason)), _item.item_id, _now);
  END IF;
  PERFORM wed.tell_people(_item.tenant_id);
  RETURN jsonb_build_object('applied', true, 'item', _item.item_id, 'state', _state,
    'instance', (SELECT status FROM wed.instance WHERE flow_id = _item.flow_id AND wid = _item.wid));
END $$;

-- Keeps the answer of a part among the others, where it overwrites none. False while more answers are waited for: then
-- the state passes the gate as it does at an event, and the job stays.
CREATE OR REPLACE FUNCTION wed.answer_part(_item wed.work_item, _task wed.work_task, _person wed.person,
  _success boolean, _values jsonb, _reason text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _answer jsonb := _values || jsonb_strip_nulls(jsonb_build_object('by', _person.name, 'success', _success,
    'reason', _reason));
BEGIN
  PERFORM wed.write_values(_item.flow_id, _item.wid, jsonb_build_object(_task.collect,
    wed.collected(_item, _task, _answer)));
  IF wed.is_complete(_item, _task) THEN RETURN true; END IF;
  PERFORM wed.pass_gate(wed.as_it_stands(_item.flow_id, _item.wid), NULL, NULL, '_EVENT', NULL, _person.name);
  RETURN false;
END $$;

-- Returns a report's values by attribute; refused when they set what the task may not (WF010).
CREATE OR REPLACE FUNCTION wed.checked_values(_item wed.work_item, _task wed.work_task, _values jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _outputs text[] := array_remove(wed.work_outputs(_item), _task.state_attribute);
  _plan jsonb := (SELECT plan FROM wed.work_plan WHERE flow_id = _item.flow_id);
  _named jsonb;
  _wrong text;
BEGIN
  SELECT coalesce(jsonb_object_agg((wed.data_attributes(_plan, jsonb_build_array(v.key)))[1], v.value),
    '{}') INTO _named
  FROM jsonb_each(_values) v;
  SELECT min(k) INTO _wrong FROM jsonb_object_keys(_named) k WHERE k <> ALL (_outputs);
  IF _wrong IS NOT NULL THEN
    RAISE EXCEPTION 'the form of % has no field "%"', _item.task, left(_wrong, 80) USING ERRCODE = 'WF010',
      DETAIL = format('Instance %s; its fields are: %s.', _item.wid,
        coalesce(nullif(array_to_string(_outputs, ', '), ''), 'none')),
      HINT = 'Report what the form asks for: `wed work show`. Another field is added to the task''s outputs.';
  END IF;
  RETURN _named;
END $$;

-- Returns what is wrong with a value by its schema; null when nothing is. A null is right where the schema has a type
-- null or none.
CREATE OR REPLACE FUNCTION wed.form_complaint(_about jsonb, _value jsonb) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN jsonb_typeof(_about) IS DISTINCT FROM 'object' THEN NULL
    WHEN _about ? 'type' AND NOT EXISTS (
      SELECT FROM jsonb_array_elements_text(CASE jsonb_typeof(_about -> 'type') WHEN 'array' THEN _about -> 'type'
                                            ELSE jsonb_build_array(_about -> 'type') END) t
      WHERE t = jsonb_typeof(_value) OR t = 'integer' AND jsonb_typeof(_value) = 'number'
        AND (_value #>> '{}')::numeric % 1 = 0)
      THEN format('its type is not %s', _about -> 'type')
    WHEN jsonb_typeof(_value) = 'null' THEN NULL
    WHEN jsonb_typeof(_about -> 'enum') = 'array' AND NOT (_about -> 'enum') @> jsonb_build_array(_value)
      THEN format('it is none of %s', _about -> 'enum')
    WHEN jsonb_typeof(_value) = 'number' AND jsonb_typeof(_about -> 'minimum') = 'number'
         AND (_value #>> '{}')::numeric < (_about ->> 'minimum')::numeric
           THEN format('it is less than %s', _about -> 'minimum')
    WHEN jsonb_typeof(_value) = 'number' AND jsonb_typeof(_about -> 'maximum') = 'number'
         AND (_value #>> '{}')::numeric > (_about ->> 'maximum')::numeric
           THEN format('it is more than %s', _about -> 'maximum')
    WHEN jsonb_typeof(_value) = 'string' AND jsonb_typeof(_about -> 'minLength') = 'number'
         AND char_length(_value #>> '{}') < (_about ->> 'minLength')::numeric
           THEN format('it is shorter than %s characters', _about -> 'minLength')
    WHEN jsonb_typeof(_value) = 'string' AND jsonb_typeof(_about -> 'maxLength') = 'number'
         AND char_length(_value #>> '{}') > (_about ->> 'maxLength')::numeric
           THEN format('it is longer than %s characters', _about -> 'maxLength')
  END
$$;

-- Answers a report that is not applied, because the person does not hold the item or the state changed meanwhile: the
-- reason, the present version next to the refused one, the state that the report began from (base), what to do.
CREATE OR REPLACE FUNCTION wed.refused_report(_item wed.work_item, _person wed.person, _values jsonb, _changed jsonb)
  RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _holder text := (SELECT name FROM wed.person WHERE person_id = _item.holder);
  -- Whoever holds an item has an entry of its history, or is named as who got it.
  _never boolean := _item.holder IS DISTINCT FROM _person.person_id AND NOT EXISTS (
    SELECT FROM wed.work_event e WHERE e.item_id = _item.item_id AND e.action <> 'report_refused'
      AND _person.name IN (e.person, e.detail ->> 'to'));
  _state jsonb;
BEGIN
  EXECUTE format('SELECT to_jsonb(w.*) - ''wid'' FROM %I.wed_flow w WHERE wid = $1',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) INTO _state USING _item.wid;
  PERFORM wed.record_work(_item, _person.name, 'report_refused', '{}', clock_timestamp());
  RETURN CASE WHEN _changed IS NULL THEN '{}' ELSE jsonb_build_object('changed', _changed, 'base', (SELECT last_seq
    FROM wed.job j WHERE j.flow_id = _item.flow_id AND j.wid = _item.wid AND j.tgid = _item.tgid)) END
    || jsonb_build_object(
    'applied', false, 'item', _item.item_id, 'code', 'WF084', 'holder', _holder, 'state', _item.state,
    'reason', CASE
      WHEN _changed IS NOT NULL THEN format('work item %s (%s) changed while it was worked on: %s', _item.item_id,
        _item.task, (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(_changed) k))
      WHEN _never THEN format('work item %s (%s) is not held by %s: %s', _item.item_id, _item.task, _person.name,
        wed.told_state(_item, _holder))
      ELSE format('work item %s (%s) is no longer held by %s under the claim that was reported: %s', _item.item_id,
        _item.task, _person.name, wed.told_state(_item, _holder)) END,
    'hint', CASE
      WHEN _changed IS NOT NULL THEN 'The result is kept. Compare both versions; send yours again to overwrite the '
        'present one, or edit it first.'
      WHEN _never AND _item.state = 'READY' THEN 'The result is kept. Take the item first: `wed work select`; then '
        'report it again.'
      WHEN _item.state = 'WITHDRAWN' THEN 'The result is kept. Nothing is left to report: tell who is in charge, then '
        'forget it.'
      WHEN _item.holder = _person.person_id THEN 'The result is kept. It was reported from another machine, or under '
        'another claim: compare both versions, then send yours again while you hold the item, or forget it.'
      ELSE 'The result is kept. Compare both versions, then hand yours to the present holder, or ask who is in charge '
        'to take the item over and report it.' END,
    'yours', coalesce(_values, '{}'),
    'present', (SELECT coalesce(jsonb_object_agg(k, _state -> k), '{}') FROM unnest(wed.work_outputs(_item)) k
      WHERE _state ? k));
END $$;

-- Returns an item's state in words: who holds it, who ended it and why.
CREATE OR REPLACE FUNCTION wed.told_state(_item wed.work_item, _holder text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN _item.state = 'WITHDRAWN' THEN 'it was withdrawn'
      || coalesce((SELECT ': ' || r.note FROM wed.trace r WHERE r.flow_id = _item.flow_id AND r.wid = _item.wid
                   AND r.tstmp BETWEEN _item.ended_at - interval '1 minute' AND _item.ended_at + interval '1 minute'
                   AND r.note IS NOT NULL ORDER BY r.seq DESC LIMIT 1), '')
    WHEN _item.ended_at IS NOT NULL THEN 'it is ' || _item.state || coalesce(', reported by ' || _holder, '')
    ELSE 'it is ' || _item.state || coalesce(', held by ' || _holder, '') END
$$;

-- Returns the attributes of a report that somebody else changed since the state _base to another value: the former, the
-- present and the reported one of each. Null when there are none, or the state is no longer kept.
CREATE OR REPLACE FUNCTION wed.changed_meanwhile(_item wed.work_item, _base integer, _values jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_object_agg(v.key, jsonb_build_object('was', was.state -> v.name, 'present', now.state -> v.name,
    'yours', v.value))
  FROM (SELECT wed.with_present_names(r.flow_id, r.state::jsonb, r.tstmp) AS state FROM wed.trace r
        WHERE r.flow_id = _item.flow_id AND r.wid = _item.wid AND r.seq = _base) was
  CROSS JOIN (SELECT wed.with_present_names(r.flow_id, r.state::jsonb, r.tstmp) AS state
              FROM wed.trace r JOIN wed.job j USING (flow_id, wid)
              WHERE j.flow_id = _item.flow_id AND j.wid = _item.wid AND j.tgid = _item.tgid
                AND r.seq = j.last_seq AND j.last_seq > _base) now
  CROSS JOIN LATERAL (
    SELECT e.key, e.value, coalesce((SELECT d ->> 'attribute' FROM jsonb_array_elements(p.plan -> 'data') d
                                     WHERE d ->> 'name' = e.key LIMIT 1), e.key) AS name
    FROM jsonb_each(coalesce(_values, '{}')) e
    LEFT JOIN wed.work_plan p ON p.flow_id = _item.flow_id AND jsonb_typeof(p.plan -> 'data') = 'array') v
  WHERE was.state -> v.name IS DISTINCT FROM now.state -> v.name AND now.state -> v.name IS DISTINCT FROM v.value
    AND was.state ? v.name
$$;

-- Writes attributes of an instance whose row is held, for who takes the state through the gate next.
CREATE OR REPLACE FUNCTION wed.write_values(_flow_id integer, _wid integer, _values jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _columns text;
BEGIN
  SELECT string_agg(format('%I = n.%1$I', k), ', ') INTO _columns FROM jsonb_object_keys(_values) k;
  IF _columns IS NULL THEN RETURN; END IF;
  PERFORM set_config('wed.commit', 'batch', true);
  EXECUTE format('UPDATE %1$I.wed_flow w SET %2$s FROM %1$I.wed_flow o
                  CROSS JOIN LATERAL jsonb_populate_record(o.*, $1) n
                    WHERE o.wid = $2 AND w.wid = o.wid', _schema, _columns)
    USING _values, _wid;
  PERFORM set_config('wed.commit', '', true);
  EXECUTE format('SELECT wed_bounded.measure_row(w.wid, (w.*)::text) FROM %I.wed_flow w WHERE w.wid = $1', _schema)
    USING _wid;
END $$;

-- Returns the attributes that a report of an item may set: those of its plan, else what its trigger writes, else all.
CREATE OR REPLACE FUNCTION wed.work_outputs(_item wed.work_item) RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _outputs text[];
BEGIN
  SELECT coalesce(w.outputs, t.writes) INTO _outputs FROM wed.work_task w JOIN wed.trigger t USING (tgid)
    WHERE w.tgid = _item.tgid;
  IF _outputs IS NULL THEN
    EXECUTE format('SELECT array_agg(aname ORDER BY aname) FROM %I.wed_attr',
                   (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) INTO _outputs;
  END IF;
  RETURN coalesce(_outputs, '{}');
END $$;

-- Returns a form for a task's outputs as JSON Schema, generated from the attributes' types.
CREATE OR REPLACE FUNCTION wed.work_form(_task wed.work_task, _outputs text[], _types jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('$schema', 'https://json-schema.org/draft/2020-12/schema', 'type', 'object',
    'title', _task.task, 'description', _task.description, 'additionalProperties', false,
    'properties', coalesce((
      SELECT jsonb_object_agg(o, CASE
        WHEN k.type LIKE '%[]' THEN '{"type": ["array", "null"]}'::jsonb
        WHEN k.type ~ '^enum' THEN jsonb_build_object('enum', to_jsonb((wed.attribute_type(k.type)).labels))
        WHEN k.type ~ '^(integer|bigint|smallint)' THEN '{"type": ["integer", "null"]}'
        WHEN k.type ~ '^(numeric|real|double)' THEN '{"type": ["number", "null"]}'
        WHEN k.type = 'boolean' THEN '{"type": ["boolean", "null"]}'
        WHEN k.type = 'date' THEN '{"type": ["string", "null"], "format": "date"}'
        WHEN k.type ~ '^timestamp' THEN '{"type": ["string", "null"], "format": "date-time"}'
        WHEN k.type ~ '^json' THEN '{}'
        ELSE '{"type": ["string", "null"]}' END)
      FROM unnest(_outputs) o CROSS JOIN LATERAL (SELECT _types ->> o AS type) k
        WHERE o <> coalesce(_task.state_attribute, '')), '{}'))
$$;
