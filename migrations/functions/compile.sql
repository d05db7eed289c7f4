-- A flow's conditions as one generated function, and the statements that write its states.

-- Makes the functions of a flow anew that are its own part of the gate (templates), and raises its version. Aliases in
-- them begin with an underscore, which no attribute does. Their names hold their schema's: Postgres goes through all
-- functions of one name to find one, whatever schema is named.
CREATE OR REPLACE FUNCTION wed.compile(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
  SET quote_all_identifiers = off AS $$
DECLARE
  _flow wed.flow;
  _values jsonb;
  _name text;
BEGIN
  UPDATE wed.flow f SET version = version + 1 WHERE f.flow_id = _flow_id RETURNING * INTO _flow;
  PERFORM wed.bound_conditions(_flow);
  PERFORM wed.check_waits(_flow);
  PERFORM wed.mark_constrained(_flow_id);
  PERFORM wed.compile_keys(_flow);
  PERFORM wed.compile_clock(_flow);
  PERFORM wed.group_conditions(_flow_id);
  _values := jsonb_build_object('flow_id', _flow_id, 'version', _flow.version, 'attributes_version',
    _flow.attributes_version,
      'schema', quote_ident(_flow.schema_name), 'shape', quote_ident(_flow.shape_schema))
    || wed.match_values(_flow) || wed.apply_values(_flow) || wed.gate_values(_flow);
  FOREACH _name IN ARRAY ARRAY['match', 'apply', 'gate_insert', 'gate_update'] LOOP
    EXECUTE wed.fill_template(_name, _values);
  END LOOP;
  PERFORM wed.pin_settings(format('%I.%I()', _flow.shape_schema, f)::regprocedure, true)
  FROM unnest(ARRAY['gate_insert', 'gate_update']) f;
END $$;

-- Groups the conditions of a flow that has many: those that read the same attributes are a group, which is left out
-- where none of these has changed. Group 0 is always evaluated; conditions that depend on the time are in it. Only rows
-- whose group is another one now are written.
CREATE OR REPLACE FUNCTION wed.group_conditions(_flow_id integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _triggers_min CONSTANT integer := 16;
  _members_min CONSTANT integer := 4;
  _groups_max CONSTANT integer := 32;
BEGIN
  WITH t AS (
    SELECT tgid, condition_group, reads, enabled AND NOT cfinal AS fires,
           enabled AND NOT cfinal AND predicate IS NOT NULL AND NOT timely AND NOT constrained AS may
    FROM wed.trigger WHERE flow_id = _flow_id
  ), g AS (
    SELECT reads, row_number() OVER (ORDER BY count(*) DESC, reads) AS number FROM t
    WHERE may AND (SELECT count(*) FROM t WHERE fires) > _triggers_min
    GROUP BY reads HAVING count(*) >= _members_min LIMIT _groups_max
  ), n AS (
    SELECT t.tgid, coalesce(g.number, 0) AS number, t.condition_group FROM t LEFT JOIN g ON t.may AND t.reads = g.reads)
  UPDATE wed.trigger w SET condition_group = n.number FROM n WHERE w.tgid = n.tgid AND n.condition_group <> n.number;
END $$;

-- Returns the statement by which a flow's apply finds out which groups of conditions read nothing that a result
-- assigns; null where conditions are not in groups.
CREATE OR REPLACE FUNCTION wed.keep_groups_text(_flow wed.flow) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format($t$IF NOT _beside_old AND wed.are_of_version(%s, %s, _results) THEN
    _kept := ARRAY(SELECT _g.number FROM (VALUES %s) AS _g(number, reads) WHERE NOT _g.reads && _assigned);
  END IF;$t$, _flow.flow_id, _flow.version, string_agg(format('(%s, %L::text[])', g.condition_group, g.reads), ', '))
  FROM (SELECT DISTINCT condition_group, reads FROM wed.trigger
        WHERE flow_id = _flow.flow_id AND enabled AND condition_group > 0) g
  HAVING count(*) > 0
$$;

-- Returns the expression that says of a row whether a trigger fires: its number, with the group's above 32 bits; null
-- where it does not. Keys of its reservation that cannot be evaluated are as a condition that cannot.
CREATE OR REPLACE FUNCTION wed.fired_expression(_trigger wed.trigger, _constraint wed.trigger_constraint) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format('CASE WHEN %s THEN %s END', _trigger.guarded, CASE
    WHEN _constraint.keys IS NOT NULL THEN
      format('CASE WHEN %s IS NOT NULL THEN %s END', wed.keys_expression(_constraint), _trigger.tgid)
    ELSE ((_trigger.condition_group::bigint << 32) + _trigger.tgid)::text END)
$$;

-- Returns what the template match holds of a flow: its conditions, by group, and how a state is written.
CREATE OR REPLACE FUNCTION wed.match_values(_flow wed.flow) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  _state text := wed.state_as_text(_flow.shape_schema, NULL);
  _sent text := wed.state_as_text(_flow.shape_schema, wed.declared(_flow.flow_id, 'reads'));
  _fired text;
  _final text;
  _grouped boolean;
BEGIN
  SELECT coalesce(bool_or(condition_group > 0), false) INTO _grouped FROM wed.trigger WHERE flow_id = _flow.flow_id
    AND enabled;
  SELECT string_agg(CASE WHEN g = 0 THEN c
                         ELSE format('CASE WHEN %s = ANY (_kept) THEN ''{}''::bigint[] ELSE %s END', g, c) END,
                    E'\n    || ' ORDER BY g)
  INTO _fired
  FROM (SELECT t.condition_group AS g, format('array_remove(ARRAY[%s]::bigint[], NULL)',
               string_agg(wed.fired_expression(t, c), E',\n      ' ORDER BY t.tgid)) AS c
        FROM wed.trigger t LEFT JOIN wed.trigger_constraint c USING (tgid)
        WHERE t.flow_id = _flow.flow_id AND t.enabled AND NOT t.cfinal AND t.predicate IS NOT NULL
        GROUP BY t.condition_group) g;
  SELECT string_agg(format('coalesce(%s, false)', guarded), ' OR ') INTO _final
  FROM wed.trigger WHERE flow_id = _flow.flow_id AND enabled AND cfinal AND predicate IS NOT NULL;
  RETURN jsonb_build_object('state', _state, 'payload', CASE WHEN _sent = _state THEN 'NULL::text' ELSE _sent END,
    'fired', coalesce(_fired, '''{}''::bigint[]'), 'final', coalesce(_final, 'false'),
    'kept', CASE WHEN _grouped THEN 'coalesce(_kept, ''{}'')' ELSE 'NULL::integer[]' END);
END $$;

-- Returns what the templates gate_insert and gate_update hold of a flow: how a row is measured, and which attributes a
-- statement changed. An attribute is compared by the image of its value, in which numbers of equal worth and settings
-- of a session have no part.
CREATE OR REPLACE FUNCTION wed.gate_values(_flow wed.flow) RETURNS jsonb
LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object(
    'compressed_new', wed.came_compressed(_flow.schema_name, '_new'),
    'old_names', string_agg('_o' || attnum, ', ' ORDER BY attnum),
    'new_names', string_agg('_n' || attnum, ', ' ORDER BY attnum),
    'changed', coalesce(string_agg(
      format('CASE WHEN ROW(_c._o%1$s)::record OPERATOR(pg_catalog.*<>) ROW(_c._n%1$s)::record THEN %2$L END', attnum,
        attname),
      E',\n        ' ORDER BY attnum) FILTER (WHERE attnum > 1), ''))
  FROM pg_attribute
  WHERE attrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND attnum > 0 AND NOT attisdropped
$$;

-- Returns the expression that makes a JSON object of some of the attributes (_only; null: all) of a _row of a flow's
-- shape, as text. row_to_json says the same, and asks the catalog about the type of each value of each row. What is
-- known between quotes is made by one function; it comes last, because its opening brace is easily left out.
CREATE OR REPLACE FUNCTION wed.state_as_text(_shape text, _only text[]) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN quoted IS NULL AND bare IS NULL THEN '''{}'''
    WHEN bare IS NULL THEN quoted
    -- A call has a hundred arguments at most.
    ELSE format(CASE WHEN many THEN 'concat(VARIADIC ARRAY[%s, %s])' ELSE 'concat(%s, %s)' END, bare,
                coalesce(''','', right(' || quoted || ', -1)', '''}''')) END
  FROM (
    SELECT 'json_object(ARRAY[' || string_agg(format('%L, _row.%I::text', name, name), ', ' ORDER BY at)
             FILTER (WHERE is_quoted) || '])::text' AS quoted,
           string_agg(format(CASE WHEN is_plain THEN '%L, coalesce(_row.%I::text, ''null'')'
                                  ELSE '%L, coalesce(to_json(_row.%I)::text, ''null'')' END,
                             CASE WHEN at = 1 THEN '{"' ELSE ',"' END || name || '":', name), ', ' ORDER BY at)
             FILTER (WHERE NOT is_quoted) AS bare,
           count(*) > 40 AS many
    FROM (
      SELECT a.attname::text AS name, k.*, row_number() OVER (PARTITION BY k.is_quoted ORDER BY a.attnum) AS at
      FROM pg_attribute a
      CROSS JOIN LATERAL (
        SELECT a.atttypid IN ('text'::regtype, 'uuid'::regtype, 'date'::regtype, 'interval'::regtype) AS is_quoted,
               a.atttypid IN ('integer'::regtype, 'bigint'::regtype, 'boolean'::regtype,
                 'jsonb'::regtype) AS is_plain) k
      WHERE a.attrelid = format('%I.wed_flow', _shape)::regclass AND a.attnum > 1 AND NOT a.attisdropped
        AND (_only IS NULL OR a.attname = ANY (_only))) a) s
$$;

-- Drops the apply functions of a flow, whatever arguments a former version gave them.
CREATE OR REPLACE FUNCTION wed.drop_apply(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _gone regprocedure;
BEGIN
  FOR _gone IN SELECT oid FROM pg_proc
    WHERE pronamespace = quote_ident(_flow.shape_schema)::regnamespace AND proname = 'apply_' || _flow.shape_schema
  LOOP
    EXECUTE format('DROP FUNCTION %s', _gone);
  END LOOP;
END $$;

-- Returns the statement that applies a SET clause to instances, or assigns literals to attributes. $1 is an array of
-- wed.result; literal n is _b._n, up to _count. It returns the new rows, and an instance whose row is too large
-- (_large, an expression over one). _beside_old: the newest version of a row is looked for (template apply).
CREATE OR REPLACE FUNCTION wed.update_statement(
  _schema text, _large text, _assigned text[], _set text, _count integer, _beside_old boolean) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _literals text;
BEGIN
  IF _set IS NULL THEN
    SELECT string_agg(format('%I = _b._%s::%s', u.name, u.at, coalesce(format_type(a.atttypid, a.atttypmod), 'text')),
      ', ')
    INTO _set
    FROM unnest(_assigned) WITH ORDINALITY u(name, at)
    -- One that there is not is left to the statement to name.
    LEFT JOIN pg_attribute a ON a.attrelid = format('%I.wed_flow', _schema)::regclass AND a.attname = u.name
      AND a.attnum > 1;
  END IF;
  -- A result that assigns nothing passes the gate like any other.
  _set := coalesce(_set, 'wid = _r.wid');
  SELECT string_agg(format(', _l.literals[%s] AS _%1$s', n), '') INTO _literals
  FROM generate_series(1, _count) n;
  RETURN format('WITH _u AS (UPDATE %1$I.wed_flow _r SET %2$s
      FROM (SELECT _l.wid AS _wid%3$s FROM unnest($1) _l OFFSET 0) _b %5$s
      RETURNING _r.wid, ROW(_r.*)::%1$I.wed_flow AS _state, %4$s AS _large)
    SELECT array_agg(_u._state ORDER BY _u.wid), min(_u.wid) FILTER (WHERE _u._large) FROM _u',
    _schema, _set, _literals, _large,
    CASE WHEN NOT _beside_old THEN 'WHERE _r.wid = _b._wid' ELSE format('CROSS JOIN LATERAL (
        SELECT _l.ctid AS _row FROM %I.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
          ORDER BY _l.wid DESC LIMIT 1) _f
      WHERE _r.ctid = _f._row', _schema) END);
END $$;

-- Refuses a result that was made for an older version of its flow, in which attributes had other names or types: it is
-- made anew.
CREATE OR REPLACE FUNCTION wed.refuse_older(_version integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the result was made for version % of the flow, and attributes have changed since', _version
    USING ERRCODE = 'WF018', HINT = 'The host loads the flow and runs the transition again.';
END $$;

-- Refuses results that assign an attribute which their trigger may not write.
CREATE OR REPLACE FUNCTION wed.refuse_restricted(_results wed.result[], _assigned text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _bad record;
BEGIN
  SELECT r.wid, t.trname, t.writes, a.name INTO _bad
  FROM unnest(_results) r CROSS JOIN LATERAL (SELECT trname, writes FROM wed.trigger WHERE tgid = r.tgid OFFSET 0) t
  CROSS JOIN unnest(_assigned) a(name) WHERE a.name <> ALL (t.writes) LIMIT 1;
  IF FOUND THEN
    PERFORM wed.refuse_write(_bad.wid, _bad.trname, _bad.name, _bad.writes);
  END IF;
END $$;

-- Compares two definitions of a flow: the attributes and triggers in both that differ, people's work included, and the
-- settings of the flow itself.
CREATE OR REPLACE FUNCTION wed.changed_settings(_before jsonb, _after jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object(
    'attributes_changed', coalesce(jsonb_agg(d.name ORDER BY d.name) FILTER (WHERE d.part = 'attribute'
      AND d.was IS NOT NULL AND d.becomes IS NOT NULL), '[]'),
    'triggers_changed', coalesce(jsonb_agg(d.name ORDER BY d.name) FILTER (WHERE d.part = 'trigger'
      AND d.was IS NOT NULL AND d.becomes IS NOT NULL), '[]'),
    'settings_changed', coalesce(jsonb_agg(CASE d.part WHEN 'setting' THEN '' ELSE 'schedule ' END || d.name
      ORDER BY d.part, d.name) FILTER (WHERE d.part IN ('setting', 'schedule')), '[]'))
  FROM wed.difference(_before, _after) d
$$;

-- Writes the conditions of a flow that are not written as they are run, and bounds all of them together: what they make
-- stays until all of them are evaluated, and each session keeps a plan of them.
CREATE OR REPLACE FUNCTION wed.bound_conditions(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _all record;
  _rewritten boolean;
BEGIN
  UPDATE wed.trigger t SET (guarded, weight) = (SELECT c.guarded, c.weight FROM wed.rewritten(_flow.shape_schema, t) c)
  WHERE t.flow_id = _flow.flow_id AND t.predicate IS NOT NULL AND t.guarded IS NULL;
  -- A condition that was allowed before these bounds existed stays.
  _rewritten := FOUND;
  UPDATE wed.trigger_constraint c SET
    guarded_keys = (wed.check_expression(_flow.shape_schema, c.tgid, c.keys)).guarded,
    guarded_quantity = (wed.check_expression(_flow.shape_schema, c.tgid, c.quantity)).guarded
  WHERE c.flow_id = _flow.flow_id AND c.keys IS NOT NULL AND c.guarded_keys IS NULL;
  IF _rewritten THEN RETURN; END IF;
  SELECT count(*) AS number, sum(octet_length(guarded)) AS bytes, sum(greatest(weight - 64, 0)) AS weight INTO _all
  FROM wed.trigger WHERE flow_id = _flow.flow_id AND enabled;
  IF _all.number > 1000 OR _all.bytes > 524288 THEN
    RAISE EXCEPTION 'the flow has % enabled conditions of % bytes together', _all.number, _all.bytes
      USING ERRCODE = 'WF011',
      HINT =
        'At most 1000, of 524288 bytes as they are run. Split the flow, or let a transition compute what they look at.';
  ELSIF _all.weight > 5000 THEN
    RAISE EXCEPTION 'the conditions of the flow weigh % together', _all.weight USING ERRCODE = 'WF011',
      HINT = 'At most 5000, the first 64 of each not counted. Make fewer documents in them, and fewer long texts.';
  END IF;
END $$;

-- Returns a checked condition as it is run: Postgres itself puts in the bounded functions and operators, as it finds
-- them first, and what it found is judged again, by identity. One that weighs something looks at the time when it has
-- been evaluated.
CREATE OR REPLACE FUNCTION wed.guarded(_shape_schema text, _tgid integer, _predicate text, _weight integer) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _found record := wed.analysed(_shape_schema, _tgid, wed.spelled(_predicate), true);
BEGIN
  PERFORM wed.check_calls(wed.expression_nodes(_found.tree), _predicate, true);
  PERFORM wed.plan_on_shape(_shape_schema, _found.sql);
  RETURN CASE WHEN _weight > 0 THEN format('wed_bounded.in_time(%s)', _found.sql) ELSE _found.sql END;
END $$;

-- Returns a condition that is stored, written anew as it is run, and what it weighs. One that the rules allow no more
-- fails when it is evaluated, so its flow keeps working and each instance that meets it says why.
CREATE OR REPLACE FUNCTION wed.rewritten(_shape_schema text, _of wed.trigger, OUT guarded text, OUT weight integer)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _checked record;
BEGIN
  _checked := wed.check_predicate(_shape_schema, _of.tgid, _of.predicate);
  guarded := _checked.guarded;
  weight := _checked.weight;
EXCEPTION WHEN OTHERS THEN
  guarded := format('wed_bounded.refuse_condition(%L)', SQLERRM);
  weight := 0;
END $$;
