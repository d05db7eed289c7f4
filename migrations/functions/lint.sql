-- What can be said of a flow without running it: dead conditions, loops, orders and reservations that never end.

-- Looks for what of a flow cannot work, or not as it was meant: by its declarations, and by evaluating its conditions
-- over states that are made of the values they compare with. Each finding names its place, a way to mend it, and,
-- where there is one, a state that shows it. certain: it follows from the declarations alone, or from all states that
-- the values allow.
CREATE OR REPLACE FUNCTION wed.lint(_flow_id integer)
RETURNS TABLE (code text, place text, text text, hint text, state jsonb, certain boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _states wed.evaluated[];
  _whole boolean;
  _reached record;
BEGIN
  -- Of very many triggers it would take too long.
  IF (SELECT count(*) FROM wed.trigger WHERE flow_id = _flow_id) <= 200 THEN
    SELECT s.states, s.whole INTO _states, _whole FROM wed.lint_states(_flow_id) s;
    RETURN QUERY SELECT * FROM wed.lint_conditions(_flow_id, _states, _whole);
    _reached := wed.lint_reached(_flow_id);
    RETURN QUERY SELECT * FROM wed.lint_writes(
      _flow_id, CASE WHEN _reached.whole THEN _reached.states ELSE _states END, _reached.whole);
  END IF;
  RETURN QUERY SELECT * FROM wed.lint_constraints(_flow_id);
  RETURN QUERY SELECT * FROM wed.lint_starts(_flow_id);
  RETURN QUERY SELECT * FROM wed.lint_people(_flow_id);
END $$;

-- Roles and people that tasks name and that nobody has or is, in a tenant that has people: most likely a slip of the
-- pen, for a role is made when it is missing.
CREATE OR REPLACE FUNCTION wed.lint_people(_flow_id integer)
RETURNS TABLE (code text, place text, text text, hint text, state jsonb, certain boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH named AS (
    SELECT f.tenant_id, k.task, n.what, n.name, n.is_role, n.is_person
    FROM wed.work_task k JOIN wed.flow f USING (flow_id) CROSS JOIN LATERAL (
      SELECT 'is for' AS what, r.name, true AS is_role, false AS is_person FROM wed.role_of_people r
        WHERE r.role_id = k.role_id
      UNION ALL SELECT 'is for', g, true, false FROM unnest(k.groups) g
      UNION ALL SELECT 'is for', u, false, true FROM unnest(k.users) u
      UNION ALL SELECT 'escalates to', k.escalate_to, true, true WHERE k.escalate_to IS NOT NULL) n
    WHERE k.flow_id = _flow_id AND EXISTS (SELECT FROM wed.person p WHERE p.tenant_id = f.tenant_id)
  )
  SELECT 'unknown_people', 'task ' || n.task, format('it %s %s "%s", which nobody %s', n.what,
    CASE WHEN n.is_role AND n.is_person THEN 'role or person' WHEN n.is_role THEN 'role' ELSE 'person' END,
    n.name, CASE WHEN n.is_role THEN 'has' ELSE 'is' END),
    format('Mend the name%s, or add a person: `wed work people --add NAME%s`.',
      coalesce((SELECT ' (there are: ' || string_agg(o.name, ', ' ORDER BY o.name) || ')' FROM (
        SELECT r.name FROM wed.role_of_people r WHERE n.is_role AND r.tenant_id = n.tenant_id
          AND EXISTS (SELECT FROM wed.membership m WHERE m.role_id = r.role_id) ORDER BY 1 LIMIT 10) o), ''),
      CASE WHEN n.is_role THEN ' --role ' || n.name ELSE '' END),
    NULL::jsonb, true
  FROM named n
  WHERE NOT (n.is_role AND EXISTS (SELECT FROM wed.membership m
      WHERE m.role_id = wed.role_named(n.tenant_id, n.name)))
    AND NOT (n.is_person AND EXISTS (SELECT FROM wed.person p WHERE p.tenant_id = n.tenant_id AND p.name = n.name))
$$;

-- Schedules whose values can start no instance, and hooks that set what is not open or what no start may set.
CREATE OR REPLACE FUNCTION wed.lint_starts(_flow_id integer)
RETURNS TABLE (code text, place text, text text, hint text, state jsonb, certain boolean)
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'schedule_starts_nothing', 'schedule ' || s.name, format('it would start nothing: %s', f.fault),
    'Give it values by which a condition of the flow holds.', s.state, true
  FROM wed.flow w JOIN wed.schedule s USING (flow_id) CROSS JOIN LATERAL wed.start_fault(w, s.state) f(fault)
  WHERE w.flow_id = _flow_id AND f.fault IS NOT NULL
  UNION ALL
  SELECT 'hook_sets_closed', 'hook ' || h.name,
    format('it would set "%s" in an instance that runs, and the attribute is not open', c.name),
    'Declare it open, or let the hook start instances only.', NULL, true
  FROM wed.hook h CROSS JOIN LATERAL wed.closed_attribute(h.flow_id, h.attributes) c(name)
  WHERE h.flow_id = _flow_id AND h.acts <> 'start' AND c.name IS NOT NULL
  UNION ALL
  SELECT 'hook_starts_nothing', 'hook ' || h.name,
    format('it would start instances with "%s", which `start` of the flow does not list', k.name),
    'Add it to `start`, or leave it out of the hook.', NULL, true
  FROM wed.hook h JOIN wed.flow f USING (flow_id) CROSS JOIN LATERAL jsonb_object_keys(h.attributes) k(name)
  WHERE h.flow_id = _flow_id AND h.acts <> 'set' AND k.name <> ALL (f.start_attributes)
$$;

-- Conditions that no state satisfies, or that a transition cannot make false; a final condition that is never reached.
CREATE OR REPLACE FUNCTION wed.lint_conditions(_flow_id integer, _states wed.evaluated[], _whole boolean)
RETURNS TABLE (code text, place text, text text, hint text, state jsonb, certain boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH s AS MATERIALIZED (
    SELECT r.wid, r.state::jsonb AS state, r.final, ARRAY(SELECT (f & 4294967295)::integer
        FROM unnest(r.fired) f) AS fired
    FROM unnest(_states) r WHERE r.fault IS NULL
  ), t AS (
    SELECT g.*, coalesce(nullif(g.tgname, ''), g.trname) AS label, (SELECT s.state FROM s WHERE g.tgid = ANY (s.fired)
        ORDER BY s.wid LIMIT 1) AS shown
    FROM wed.trigger g WHERE g.flow_id = _flow_id AND g.enabled AND NOT g.cfinal AND g.predicate IS NOT NULL)
  -- Of other conditions, or among some of the states only, that none was found says nothing: a start, an event or a
  -- transition may set any value.
  SELECT 'dead_trigger', t.label, format('the condition of %s holds in no state: %s', t.label, left(t.predicate, 200)),
    'Look for parts that exclude each other; remove the trigger if it is not needed.', NULL::jsonb, true
  FROM t WHERE t.shown IS NULL AND _whole AND NOT t.timely AND wed.lint_is_plain(t.predicate) AND NOT EXISTS (
    SELECT FROM wed.flow f JOIN pg_attribute a ON a.attrelid = format('%I.wed_flow', f.shape_schema)::regclass
    WHERE f.flow_id = _flow_id AND a.attname = ANY (t.reads)
      AND a.atttypid NOT IN ('boolean'::regtype, 'text'::regtype, 'integer'::regtype, 'bigint'::regtype))
  UNION ALL
  SELECT 'endless_loop', t.label,
      format('%s may set %s only, and its condition reads %s: it fires itself again for ever', t.label,
      coalesce(nullif(array_to_string(t.writes, ', '), ''), 'nothing'), coalesce(nullif(array_to_string(t.reads,
          ', '), ''), 'nothing')),
    'Let the transition set an attribute of its condition, so that it ends.', t.shown, true
  FROM t WHERE t.writes IS NOT NULL AND NOT t.writes && t.reads AND t.shown IS NOT NULL AND NOT t.timely
    AND NOT EXISTS (SELECT FROM wed.trigger o WHERE o.flow_id = _flow_id AND o.tgid <> t.tgid AND NOT o.cfinal
        AND o.predicate IS NOT NULL
                    AND (o.writes IS NULL OR o.writes && t.reads))
    AND NOT EXISTS (SELECT FROM wed.flow f WHERE f.flow_id = _flow_id AND f.open_attributes && t.reads)
  UNION ALL
  SELECT 'always_true', t.label, format('the condition of %s holds in every state that was tried', t.label),
    'It is fired by each commit, also of others: narrow it.', t.shown, false
  FROM t WHERE t.shown IS NOT NULL AND cardinality(_states) > 1 AND NOT EXISTS (SELECT FROM s
      WHERE t.tgid <> ALL (s.fired))
  UNION ALL
  SELECT 'no_final', 'final', 'the flow has no final condition: every instance ends as an exception',
      'Write `final` in flow.toml.', NULL, true
  WHERE NOT EXISTS (SELECT FROM wed.trigger WHERE flow_id = _flow_id AND cfinal AND enabled)
  UNION ALL
  SELECT 'unreachable_final', 'final', 'the final condition holds in no state that was tried: ' || left(g.predicate,
      200),
    'Look for parts that exclude each other.', NULL, false
  FROM wed.trigger g WHERE g.flow_id = _flow_id AND g.cfinal AND g.enabled AND NOT EXISTS (SELECT FROM s WHERE s.final)
  UNION ALL
  SELECT 'unreachable_final', 'final', format('nothing may set %s, which the final condition reads', u.name),
    format('Add it to the writes of a trigger, or declare it open.', u.name), NULL, true
  FROM wed.trigger g CROSS JOIN LATERAL unnest(g.reads) u(name)
  WHERE g.flow_id = _flow_id AND g.cfinal AND g.enabled AND cardinality(g.reads) = 1
    AND NOT EXISTS (SELECT FROM t o WHERE o.writes IS NULL OR u.name = ANY (o.writes))
    AND NOT EXISTS (SELECT FROM wed.flow f WHERE f.flow_id = _flow_id AND u.name = ANY (f.open_attributes))
$$;

-- Reservations that can never be granted or released, and tasks that wait for ever.
CREATE OR REPLACE FUNCTION wed.lint_constraints(_flow_id integer)
RETURNS TABLE (code text, place text, text text, hint text, state jsonb, certain boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH c AS (
    SELECT c.*, coalesce(nullif(t.tgname, ''), t.trname) AS label, f.tenant_id, coalesce(c.resource, '#' || f.flow_id)
        AS namespace
    FROM wed.trigger_constraint c JOIN wed.trigger t USING (tgid) JOIN wed.flow f ON f.flow_id = c.flow_id
    WHERE c.flow_id = _flow_id AND t.enabled)
  SELECT 'reservation_never', c.label,
      format('%s reserves quantities of %s, and there is no row of it in wed_resource', c.label,
      coalesce('"' || c.resource || '"', 'the flow''s own keys')),
    'Insert what there is into wed_resource, or set it with `wed flow resource set`.', NULL::jsonb, false
  FROM c WHERE c.quantity IS NOT NULL
    AND NOT EXISTS (SELECT FROM wed.resource s WHERE s.tenant_id = c.tenant_id AND s.resource = c.namespace)
  UNION ALL
  -- Of a key that is written out, its own row; of others, the largest.
  SELECT 'reservation_never', c.label, format('%s reserves %s of %s, and there is never more than %s', c.label,
      c.quantity,
      coalesce('"' || k.key || '"', 'a key'), coalesce(m.most, 0)),
    'Raise the capacity in wed_resource, or reserve less.', NULL, true
  FROM c CROSS JOIN LATERAL (SELECT replace(substring(c.keys
      FROM '^''((?:[^'']|'''')*)''::text$'), '''''', '''') AS key) k
  CROSS JOIN LATERAL (SELECT max(s.capacity - s.minimum) AS most FROM wed.resource s
                      WHERE s.tenant_id = c.tenant_id AND s.resource = c.namespace AND (k.key IS NULL
                          OR s.key = k.key)) m
  WHERE c.quantity ~ '^[0-9]{1,18}$' AND c.quantity::numeric > coalesce(m.most, 0)
    AND EXISTS (SELECT FROM wed.resource s WHERE s.tenant_id = c.tenant_id AND s.resource = c.namespace)
  UNION ALL
  SELECT 'reservation_kept', c.label,
      format('%s holds until %s commits, which is disabled: it holds until its instance ends', c.label, c.holds),
    'Enable it, or name another trigger.', NULL, true
  FROM c WHERE c.keys IS NOT NULL AND c.holds NOT IN ('transition', 'instance') AND NOT EXISTS (
    SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND t.enabled AND NOT t.cfinal
        AND c.holds IN (t.tgname, t.trname))
  UNION ALL
  SELECT 'circle_of_reservations', a.label || ', ' || b.label,
    format('%s and %s reserve one after the other of the same resource, and the first is held meanwhile: '
      'instances can wait in a circle', a.label, b.label),
    'Reserve all keys by one trigger, or name different resources.', NULL, false
  FROM c a JOIN c b ON a.tgid < b.tgid AND a.namespace = b.namespace AND a.keys IS NOT NULL AND b.keys IS NOT NULL
    AND (a.holds <> 'transition' OR b.holds <> 'transition') AND (a.keys, a.quantity) IS DISTINCT
        FROM (b.keys, b.quantity)
  UNION ALL
  SELECT 'order_never', c.label, format('%s comes after %s, of which a part is disabled', c.label, c.after),
      'Enable it, or change after.', NULL, true
  FROM c WHERE c.terms IS NOT NULL AND NOT wed.is_met(c.terms, ARRAY(
    SELECT n FROM wed.trigger t CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
    WHERE t.flow_id = _flow_id AND t.enabled AND NOT t.cfinal AND n IS NOT NULL))
  UNION ALL
  SELECT 'order_cycle', y.cycle[1], 'the order of tasks has a cycle: ' || array_to_string(y.cycle, ' after '),
      'Leave out one of these.', NULL, true
  FROM (SELECT wed.order_cycle(_flow_id, NULL) AS cycle) y WHERE y.cycle IS NOT NULL
$$;

-- Returns the values of a flow's attributes in an instance that is started without any, as far as they are constants.
CREATE OR REPLACE FUNCTION wed.lint_defaults(_flow_id integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _defaults jsonb;
BEGIN
  EXECUTE format('SELECT coalesce(jsonb_object_agg(aname, adv) FILTER (WHERE adv IS NOT NULL), ''{}'')
                  FROM %I.wed_attr', (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _defaults;
  RETURN (SELECT coalesce(jsonb_object_agg(d.key, d.value), '{}') FROM jsonb_each(_defaults) d
          WHERE d.key IN (SELECT v.name FROM wed.lint_values(_flow_id) v));
END $$;

-- Returns whether a condition compares single attributes with constants only, in ways that lint_values has values for:
-- texts by equality, whole numbers in any way, booleans. Those values then decide whether any state satisfies it.
CREATE OR REPLACE FUNCTION wed.lint_is_plain(_predicate text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _name CONSTANT text := '(?:[a-z_][a-z0-9_]*|"[^"]+")';
  _text CONSTANT text := '''(?:[^'']|'''')*''::text';
  _number CONSTANT text := '\m[0-9]{1,9}\M';
  _left text := _predicate;
  _form text;
BEGIN
  -- Each comparison that is understood becomes the word t; only words and brackets remain.
  FOREACH _form IN ARRAY ARRAY[
    format('%s (?:=|<>|IS DISTINCT FROM|IS NOT DISTINCT FROM) %s', _name, _text),
    format('%s (?:=|<>) (?:ANY|ALL) \(ARRAY\[%2$s(?:, %2$s)*\]\)', _name, _text),
    format('%s (?:=|<>) (?:ANY|ALL) \(ARRAY\[%2$s(?:, %2$s)*\]\)', _name, _number),
    format('%s (?:=|<>|<|<=|>|>=) %s', _name, _number),
    format('%s (?:=|<>|<|<=|>|>=) %s', _number, _name),
    format('%s (?:=|<>) (?:true|false)', _name),
    format('%s IS (?:NOT )?(?:NULL|TRUE|FALSE|UNKNOWN)', _name)
  ] LOOP
    _left := regexp_replace(_left, _form, 't', 'g');
  END LOOP;
  RETURN _left !~ '[^A-Za-z0-9_ ()"]' AND _left !~ '[A-Za-z0-9_"]\(';
END $$;

-- Returns the states that a flow's instances come to, among those that lint_values distinguishes: from the defaults,
-- with any value of an attribute that no transition may set, by transitions that set what they declare to any value by
-- which their own condition ends, where they can end it. whole: all of them; false where a trigger does not declare
-- what it writes, or there are too many.
CREATE OR REPLACE FUNCTION wed.lint_reached(_flow_id integer, OUT states wed.evaluated[], OUT whole boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _states_max CONSTANT integer := 4096;
  -- What one step may compute before states that are equal are found.
  _successors_max CONSTANT bigint := 65536;
  _time_max CONSTANT interval := '1 second';
  _began CONSTANT timestamptz := clock_timestamp();
  _shape text := (SELECT shape_schema FROM wed.flow WHERE flow_id = _flow_id);
  _sets jsonb;
  _new jsonb[];
  _by bigint[];
  _endless bigint[] := ARRAY(SELECT tgid FROM wed.trigger WHERE flow_id = _flow_id AND NOT writes && reads);
  _seen jsonb[] := '{}';
  _some wed.evaluated[];
BEGIN
  states := '{}';
  whole := false;
  IF EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND t.enabled AND NOT t.cfinal
             AND t.predicate IS NOT NULL AND t.writes IS NULL) THEN RETURN; END IF;
  _sets := wed.lint_sets(_flow_id, _states_max);
  IF _sets IS NULL THEN RETURN; END IF;
  SELECT array_agg(s), array_agg(0) INTO _new, _by FROM jsonb_array_elements(_sets -> 'start') s;
  WHILE _new <> '{}' LOOP
    IF cardinality(_seen) + cardinality(_new) > 4 * _states_max OR clock_timestamp() > _began + _time_max THEN
      RETURN;
    END IF;
    EXECUTE format('SELECT %1$I.evaluate_%1$s(array_agg(jsonb_populate_record(NULL::%1$I.wed_flow,
        jsonb_build_object(''wid'', u.at) || u.s) ORDER BY u.at)) FROM unnest($1) WITH ORDINALITY u(s, at)', _shape)
      INTO _some USING _new;
    SELECT coalesce(array_agg(n.r), '{}'), coalesce(array_agg(n.s), '{}') INTO _some, _new FROM (
      SELECT DISTINCT ON (u.s) r, u.s
      FROM unnest(_some) r JOIN unnest(_new, _by) WITH ORDINALITY u(s, by, at) ON u.at = r.wid
      WHERE r.fault IS NULL AND u.by <> ALL (r.fired)
        AND NOT EXISTS (SELECT FROM unnest(_seen) o(s) WHERE o.s = u.s)) n;
    states := states || _some;
    _seen := _seen || _new;
    IF wed.lint_successors(_some, _sets) > _successors_max THEN RETURN; END IF;
    SELECT coalesce(array_agg(n.s), '{}'), coalesce(array_agg(n.f), '{}') INTO _new, _by FROM (
      SELECT DISTINCT u.s || v AS s, CASE WHEN f <> ALL (_endless) THEN f ELSE 0 END AS f
      FROM unnest(_some, _new) u(flow_id, version, wid, state, payload, fired, kept, final, fault, s)
      CROSS JOIN LATERAL unnest(u.fired) f
      CROSS JOIN LATERAL jsonb_array_elements(_sets -> (f & 4294967295)::text) v WHERE NOT u.final
    ) n WHERE NOT EXISTS (SELECT FROM unnest(_seen) o(s) WHERE o.s = n.s);
  END LOOP;
  whole := true;
END $$;

-- Returns the number of states that transitions come to from some states, equal ones counted.
CREATE OR REPLACE FUNCTION wed.lint_successors(_some wed.evaluated[], _sets jsonb) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(sum(jsonb_array_length(_sets -> (f & 4294967295)::text)), 0)::bigint
  FROM unnest(_some) r CROSS JOIN LATERAL unnest(r.fired) f WHERE NOT r.final
$$;

-- For each trigger of a flow, the documents that its transition may set, of the values that lint_values distinguishes;
-- under start, the states that an instance may begin with. null: there are more than _most of one of them.
CREATE OR REPLACE FUNCTION wed.lint_sets(_flow_id integer, _most integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _values jsonb := (SELECT coalesce(jsonb_object_agg(v.name, v.list), '{}') FROM wed.lint_values(_flow_id) v);
  _written text[];
  _sets jsonb := '{}';
  _one record;
  _all jsonb;
  _name text;
BEGIN
  _written := ARRAY(SELECT DISTINCT n FROM wed.trigger t CROSS JOIN LATERAL unnest(t.writes) n
                    WHERE t.flow_id = _flow_id AND t.enabled AND NOT t.cfinal);
  FOR _one IN
    SELECT tgid::text AS name, writes FROM wed.trigger
    WHERE flow_id = _flow_id AND enabled AND NOT cfinal AND predicate IS NOT NULL
    UNION ALL SELECT 'start', ARRAY(SELECT n FROM jsonb_object_keys(_values) n WHERE n <> ALL (_written))
  LOOP
    _all := CASE WHEN _one.name = 'start' THEN jsonb_build_array(wed.lint_defaults(_flow_id)) ELSE '[{}]' END;
    FOREACH _name IN ARRAY _one.writes LOOP
      CONTINUE WHEN NOT _values ? _name;
      IF jsonb_array_length(_all) * jsonb_array_length(_values -> _name) > _most THEN RETURN NULL; END IF;
      _all := (SELECT jsonb_agg(a || jsonb_build_object(_name, v))
               FROM jsonb_array_elements(_all) a CROSS JOIN jsonb_array_elements(_values -> _name) v);
    END LOOP;
    _sets := _sets || jsonb_build_object(_one.name, _all);
  END LOOP;
  RETURN _sets;
END $$;

-- States to evaluate a flow's conditions over: the values that its conditions compare each attribute with, those next
-- to them, the default and null; all combinations, or (whole false) 1024 of them.
CREATE OR REPLACE FUNCTION wed.lint_states(_flow_id integer, OUT states wed.evaluated[], OUT whole boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
    SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _most CONSTANT integer := 1024;
  _flow wed.flow;
  _names text[];
  _values jsonb[];
  _all numeric;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  SELECT array_agg(v.name ORDER BY v.name), array_agg(v.list
      ORDER BY v.name), coalesce(exp(sum(ln(jsonb_array_length(v.list)))), 1)
  INTO _names, _values, _all FROM wed.lint_values(_flow_id) v;
  -- A list of the greatest length may have been cut.
  whole := _all <= _most + 0.5 AND NOT EXISTS (SELECT FROM unnest(_values) l WHERE jsonb_array_length(l) >= 64);
  EXECUTE format($f$
    -- A number in which each attribute has a digit; of too many combinations, digits by chance that is the same each
    -- time.
    WITH n AS MATERIALIZED (
      SELECT u.name, u.at, u.list, u.most, round(least(1e9, exp(coalesce(sum(ln(u.most)) OVER (
        ORDER BY u.at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0))))::integer AS step
      FROM (SELECT x.name, x.list, x.at, jsonb_array_length(x.list) AS most
            FROM unnest($1, $2) WITH ORDINALITY x(name, list, at)) u)
    SELECT %1$I.evaluate_%1$s(array_agg(r ORDER BY i)) FROM (
      SELECT i, jsonb_populate_record(NULL::%1$I.wed_flow, jsonb_build_object('wid', i + 1) || coalesce((
        SELECT jsonb_object_agg(n.name, n.list -> CASE WHEN $4 THEN (i / n.step) %% n.most
                 ELSE abs(hashint4(i * 1009 + n.at::integer)) %% n.most END)
        FROM n), '{}')) AS r
      FROM generate_series(0, least($3, %2$s)::integer - 1) i) s $f$, _flow.shape_schema, _most)
    INTO states USING _names, _values, round(_all), whole;
END $$;

-- Certain findings of a flow's definition as texts, for who applies it. None where the look itself fails.
CREATE OR REPLACE FUNCTION wed.lint_texts(_flow_id integer) RETURNS SETOF text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT format('%s: %s. %s', l.place, l.text, l.hint) FROM wed.lint(_flow_id) l WHERE l.certain
      AND l.code <> 'no_final';
EXCEPTION WHEN OTHERS THEN
  RETURN;
END $$;

-- Returns the values of each attribute that a flow's conditions distinguish, as a JSON array.
CREATE OR REPLACE FUNCTION wed.lint_values(_flow_id integer) RETURNS TABLE (name text, list jsonb)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  RETURN QUERY
    WITH p AS MATERIALIZED (
      SELECT g.reads, cardinality(g.reads) > 1 AND NOT wed.lint_is_plain(g.predicate) AS is_compared
      FROM wed.trigger g WHERE g.flow_id = _flow_id
    ), a AS (
      -- Where attributes may be compared with each other, each has further values, for one to be less than another.
      SELECT t.attname::text AS name, t.atttypid::regtype::text AS type, EXISTS (
          SELECT FROM p WHERE t.attname = ANY (p.reads) AND p.is_compared) AS is_compared
      FROM pg_attribute t
      WHERE t.attrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND t.attnum > 1 AND NOT t.attisdropped
        AND EXISTS (SELECT FROM wed.trigger g WHERE g.flow_id = _flow_id AND t.attname = ANY (g.reads))
    ), c AS (
      -- Constants of the conditions that read it.
      SELECT DISTINCT a.name, a.type, m[1] AS quoted, m[2] AS number,
        position(format('(%I)::', a.name) IN g.predicate) > 0 AS is_cast FROM a
      JOIN wed.trigger g ON g.flow_id = _flow_id AND a.name = ANY (g.reads)
      CROSS JOIN LATERAL regexp_matches(g.predicate, $r$'((?:[^']|'')*)'|\m([0-9]{1,9})\M$r$, 'g') m
    ), v AS (
      SELECT a.name, to_jsonb(b) AS value FROM a CROSS JOIN (VALUES (true), (false)) n(b) WHERE a.type = 'boolean'
      UNION SELECT c.name, to_jsonb(c.number::bigint + d) FROM c CROSS JOIN generate_series(-1, 1) d
            WHERE c.type IN ('integer', 'bigint', 'numeric', 'double precision') AND c.number IS NOT NULL
      UNION SELECT c.name, to_jsonb((c.number::bigint + d)::text) FROM c CROSS JOIN generate_series(-1, 1) d
            WHERE c.type = 'text' AND c.number IS NOT NULL AND c.is_cast
      UNION SELECT c.name, to_jsonb(replace(c.quoted, '''''', '''')) FROM c WHERE c.type = 'text'
          AND c.quoted IS NOT NULL
      UNION SELECT a.name, to_jsonb('other'::text) FROM a WHERE a.type = 'text'
      UNION SELECT a.name, '0' FROM a WHERE a.type IN ('integer', 'bigint', 'numeric', 'double precision')
      UNION SELECT a.name, to_jsonb(n) FROM a CROSS JOIN (VALUES (-1), (1)) d(n)
            WHERE a.is_compared AND a.type IN ('integer', 'bigint', 'numeric', 'double precision')
      UNION SELECT a.name, to_jsonb('another'::text) FROM a WHERE a.is_compared AND a.type = 'text'
      UNION SELECT a.name, to_jsonb('2026-01-02T00:00:00Z'::text) FROM a
            WHERE a.is_compared AND a.type IN ('date', 'timestamp with time zone')
      UNION SELECT a.name, to_jsonb('2 days'::text) FROM a WHERE a.is_compared AND a.type = 'interval'
      UNION SELECT a.name, to_jsonb('2026-01-01T00:00:00Z'::text) FROM a
          WHERE a.type IN ('date', 'timestamp with time zone')
      UNION SELECT a.name, to_jsonb('1 day'::text) FROM a WHERE a.type = 'interval'
      UNION SELECT a.name, '{}' FROM a WHERE a.type = 'jsonb'
      UNION SELECT a.name, '[]' FROM a WHERE a.type ~ '\[\]$'
      UNION SELECT a.name, to_jsonb('00000000-0000-0000-0000-000000000000'::text) FROM a WHERE a.type = 'uuid'
      UNION SELECT a.name, 'null' FROM a
    )
    SELECT v.name, jsonb_path_query_array(jsonb_agg(v.value ORDER BY v.value), '$[0 to 63]') FROM v GROUP BY v.name;
END $$;

-- Triggers that are fired together in one of some states, have no order, and may set the same attribute: the later
-- commit wins. _whole: these are all the states that instances come to.
CREATE OR REPLACE FUNCTION wed.lint_writes(_flow_id integer, _states wed.evaluated[], _whole boolean)
RETURNS TABLE (code text, place text, text text, hint text, state jsonb, certain boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH s AS MATERIALIZED (
    SELECT r.wid, r.state::jsonb AS state, ARRAY(SELECT (f & 4294967295)::integer FROM unnest(r.fired) f) AS fired
    FROM unnest(_states) r WHERE r.fault IS NULL AND NOT r.final
  ), t AS (
    SELECT g.tgid, g.tgname, g.trname, g.writes, coalesce(nullif(g.tgname, ''), g.trname) AS label FROM wed.trigger g
    WHERE g.flow_id = _flow_id AND g.enabled AND NOT g.cfinal AND g.predicate IS NOT NULL AND g.writes IS NOT NULL)
  SELECT 'write_conflict', a.label || ', ' || b.label,
    format('%s and %s may run side by side and both set %s: the later commit wins', a.label, b.label, w.name),
    format('Let one come after the other (after = "%s"), or make their conditions exclude each other.', a.label),
    (SELECT s.state FROM s WHERE s.fired @> ARRAY[a.tgid, b.tgid] ORDER BY s.wid LIMIT 1), _whole
  FROM t a JOIN t b ON a.tgid < b.tgid
  CROSS JOIN LATERAL (SELECT n AS name FROM unnest(a.writes) n WHERE n = ANY (b.writes) ORDER BY 1 LIMIT 1) w
  WHERE EXISTS (SELECT FROM s WHERE s.fired @> ARRAY[a.tgid, b.tgid])
    AND NOT EXISTS (
      SELECT FROM wed.order_of(_flow_id, NULL) o CROSS JOIN LATERAL jsonb_array_elements(o.terms) c
      WHERE o.tgid = b.tgid AND c ?| ARRAY[a.tgname, a.trname] OR o.tgid = a.tgid AND c ?| ARRAY[b.tgname, b.trname])
  ORDER BY 2 LIMIT 100
$$;
