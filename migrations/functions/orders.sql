-- The order of tasks: declared with triggers, added while running, set by results.

-- Adds an order of tasks while the flow runs: of one instance, or (_wid null) of all. What begins from now on keeps
-- it; pending jobs that nobody is at wait. Answers its number; nothing changes where it is there.
CREATE OR REPLACE FUNCTION wed.add_order(_flow_id integer, _trigger text, _after text, _wid integer, _actor text)
    RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _id integer;
BEGIN
  IF coalesce(btrim(_after), '') = '' THEN
    RAISE EXCEPTION 'after names no trigger' USING ERRCODE = 'WF062',
        HINT = 'For example: wed_after(''ship'', ''pack AND check'').';
  END IF;
  IF _wid IS NOT NULL THEN PERFORM wed.operated(_flow_id, _wid); END IF;
  PERFORM FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  INSERT INTO wed.precedence (flow_id, wid, tgid, after, terms, actor)
  SELECT _flow_id, _wid, t.tgid, _after, wed.parse_order(_after), _actor FROM wed.trigger t
  WHERE t.flow_id = _flow_id AND NOT t.cfinal AND _trigger IN (t.tgname, t.trname)
  ON CONFLICT DO NOTHING;
  IF FOUND THEN PERFORM wed.refuse_orders(_flow_id, _wid); END IF;
  SELECT min(p.precedence_id) INTO _id FROM wed.precedence p JOIN wed.trigger t USING (tgid)
  WHERE p.flow_id = _flow_id AND p.wid IS NOT DISTINCT FROM _wid AND p.after = _after
      AND _trigger IN (t.tgname, t.trname);
  IF _id IS NULL THEN
    RAISE EXCEPTION 'the flow has no trigger "%"', left(_trigger, 80) USING ERRCODE = 'WF040',
        HINT = 'Show the flow: its triggers are listed.';
  END IF;
  PERFORM wed.mark_constrained(_flow_id);
  IF _wid IS NOT NULL THEN PERFORM wed.check_order(_flow_id, _wid); END IF;
  PERFORM wed.delay_jobs(_flow_id, _wid);
  PERFORM wed.note_flow(_actor, _flow_id, 'order.add', _trigger, jsonb_build_object('after', _after, 'wid', _wid));
  RETURN _id;
END $$;

-- Drops an order that was added while running; jobs that waited for nothing else are due. False: there was none.
CREATE OR REPLACE FUNCTION wed.drop_order(_flow_id integer, _trigger text, _after text, _wid integer, _actor text)
    RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  IF _wid IS NOT NULL THEN PERFORM wed.operated(_flow_id, _wid); END IF;
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  DELETE FROM wed.precedence p USING wed.trigger t
  WHERE t.tgid = p.tgid AND p.flow_id = _flow_id AND p.wid IS NOT DISTINCT FROM _wid AND p.after = _after
      AND _trigger IN (t.tgname, t.trname);
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM wed.ask(_flow, ARRAY(SELECT j.wid FROM wed.job j WHERE j.flow_id = _flow_id AND j.blocked = 'p'
      AND (_wid IS NULL OR j.wid = _wid)), NULL);
  PERFORM wed.note_flow(_actor, _flow_id, 'order.drop', _trigger, jsonb_build_object('after', _after, 'wid', _wid));
  RETURN true;
END $$;

-- Reads an expression of names, AND, OR and parentheses into a disjunction of conjunctions: [["a", "b"], ["c"]].
CREATE OR REPLACE FUNCTION wed.parse_order(_text text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tokens text[] := ARRAY(SELECT m[1] FROM regexp_matches(_text, '("(?:[^"]|"")+"|[()]|[^\s()"]+)', 'g') m);
  _token text;
  _operators text[] := '{}';
  _values jsonb := '[]';
  _wanted boolean := true;
  _left integer := cardinality(_tokens);
BEGIN
  IF _text IS NULL THEN RETURN NULL; END IF;
  IF cardinality(_tokens) > 256 OR octet_length(_text) > 4096 THEN
    RAISE EXCEPTION 'the order names too many triggers' USING ERRCODE = 'WF062', HINT = 'At most 256 words.';
  END IF;
  -- One more closes it all.
  FOREACH _token IN ARRAY _tokens || ARRAY[')'] LOOP
    _left := _left - 1;
    IF _token = '(' AND _wanted THEN
      _operators := _operators || _token;
    ELSIF upper(_token) IN ('AND', 'OR', ')') AND NOT _wanted THEN
      -- What binds as strongly or more is done first.
      WHILE cardinality(_operators) > 0 AND _operators[cardinality(_operators)] <> '('
            AND (upper(_token) <> 'AND' OR _operators[cardinality(_operators)] = 'AND') LOOP
        _values := (_values - -1 - -1) || jsonb_build_array(
          wed.join_terms(_operators[cardinality(_operators)], _values -> -2, _values -> -1));
        _operators := trim_array(_operators, 1);
      END LOOP;
      IF _token <> ')' THEN
        _operators := _operators || upper(_token);
        _wanted := true;
      ELSIF cardinality(_operators) > 0 THEN
        _operators := trim_array(_operators, 1);
      ELSE
        _wanted := NULL;
        EXIT;
      END IF;
    ELSIF _wanted AND _token NOT IN ('(', ')') AND upper(_token) NOT IN ('AND', 'OR') THEN
      _values := _values || jsonb_build_array(jsonb_build_array(jsonb_build_array(
        CASE WHEN left(_token, 1) = '"' THEN replace(substr(_token, 2, length(_token) - 2), '""', '"')
            ELSE _token END)));
      _wanted := false;
    ELSE
      RAISE EXCEPTION 'the order % cannot be read at "%"', quote_literal(left(_text, 200)), _token
          USING ERRCODE = 'WF062',
        HINT = 'Write names of triggers with AND, OR and parentheses, for example: check AND (plan OR waiver).';
    END IF;
  END LOOP;
  IF _left >= 0 OR _wanted IS NOT NULL OR jsonb_array_length(_values) <> 1 THEN
    RAISE EXCEPTION 'the parentheses of the order % do not fit', quote_literal(left(_text, 200))
        USING ERRCODE = 'WF062',
      HINT = 'Close each that is opened.';
  END IF;
  RETURN _values -> 0;
END $$;

-- Joins two disjunctions of conjunctions by AND or OR.
CREATE OR REPLACE FUNCTION wed.join_terms(_operator text, _a jsonb, _b jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _joined jsonb;
BEGIN
  IF _operator = 'OR' THEN
    _joined := _a || _b;
  ELSE
    SELECT jsonb_agg(x || y) INTO _joined FROM jsonb_array_elements(_a) x CROSS JOIN jsonb_array_elements(_b) y;
  END IF;
  IF jsonb_array_length(_joined) > 64 THEN
    RAISE EXCEPTION 'the order has more than 64 alternatives' USING ERRCODE = 'WF062',
        HINT = 'Name fewer triggers, or a trigger that stands for some.';
  END IF;
  RETURN _joined;
END $$;

-- Returns whether the tasks before a job are done: what its trigger declares, and what was added while running.
CREATE OR REPLACE FUNCTION wed.is_in_order(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN NOT EXISTS (
    SELECT FROM (
      SELECT terms FROM wed.trigger_constraint WHERE tgid = _tgid AND terms IS NOT NULL
      UNION ALL
      SELECT terms FROM wed.precedence WHERE tgid = _tgid AND (wid IS NULL OR wid = _wid)) o
    WHERE NOT wed.is_met(o.terms, wed.names_done(_flow_id, _wid)));
END $$;

-- Returns whether all names of one of the conjunctions are among those done.
CREATE OR REPLACE FUNCTION wed.is_met(_terms jsonb, _done text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT EXISTS (SELECT FROM jsonb_array_elements(_terms) c
                 WHERE NOT EXISTS (SELECT FROM jsonb_array_elements_text(c) n WHERE n <> ALL (_done)))
$$;

-- Returns the names of triggers that an instance has done, and of their transitions.
CREATE OR REPLACE FUNCTION wed.names_done(_flow_id integer, _wid integer) RETURNS text[]
LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(n), '{}') FROM wed.task_done d JOIN wed.trigger t USING (tgid)
  CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
  WHERE d.flow_id = _flow_id AND d.wid = _wid AND n IS NOT NULL
$$;

-- Returns the order of a flow's tasks: what triggers declare, what was added for all instances, and for one (_wid).
CREATE OR REPLACE FUNCTION wed.order_of(_flow_id integer, _wid integer) RETURNS TABLE (tgid integer, terms jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.tgid, c.terms FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id AND c.terms IS NOT NULL
  UNION ALL
  SELECT p.tgid, p.terms FROM wed.precedence p WHERE p.flow_id = _flow_id AND (p.wid IS NULL OR p.wid = _wid)
$$;

-- Refuses names that no trigger has, and an order in which some task could never begin, with the cycle named. Of one
-- instance, or (null) of what all instances have.
CREATE OR REPLACE FUNCTION wed.check_order(_flow_id integer, _wid integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _names text[] := ARRAY(SELECT n FROM wed.trigger t CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
                         WHERE t.flow_id = _flow_id AND NOT t.cfinal AND n !~ '^_');
  _unknown text;
  _cycle text[];
BEGIN
  SELECT n INTO _unknown FROM wed.order_of(_flow_id, _wid) o CROSS JOIN LATERAL jsonb_array_elements(o.terms) c
  CROSS JOIN LATERAL jsonb_array_elements_text(c) n WHERE n <> ALL (_names) ORDER BY 1 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'after names "%", which is no trigger of this flow', left(_unknown, 80) USING ERRCODE = 'WF062',
      HINT = 'Its triggers and transitions: ' || left(array_to_string(ARRAY(SELECT DISTINCT unnest(_names)
          ORDER BY 1), ', '), 500);
  END IF;
  SELECT c.holds INTO _unknown FROM wed.trigger_constraint c
  WHERE c.flow_id = _flow_id AND c.keys IS NOT NULL AND c.holds NOT IN ('transition', 'instance')
      AND c.holds <> ALL (_names) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'holds names "%", which is no trigger of this flow', left(_unknown, 80) USING ERRCODE = 'WF013',
      HINT = 'transition, instance, or a trigger or transition of the flow whose commit ends it.';
  END IF;
  _cycle := wed.order_cycle(_flow_id, _wid);
  IF _cycle IS NOT NULL THEN
    RAISE EXCEPTION 'the order of tasks has a cycle: %', array_to_string(_cycle, ' after ') USING ERRCODE = 'WF063',
      HINT = 'Leave out one of these.';
  END IF;
END $$;

-- Returns a cycle in the order of tasks, as names; null when there is none: each task can begin at some time, if those
-- before it are done as soon as they can. What is done is followed to those that wait for it, so that a chain costs its
-- length.
CREATE OR REPLACE FUNCTION wed.order_cycle(_flow_id integer, _wid integer) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _terms jsonb;
  _after jsonb;
  _done jsonb := '{}';
  _free integer[];
  _name text;
  _at integer := 1;
BEGIN
  SELECT jsonb_object_agg(o.tgid, o.terms) INTO _terms
  FROM (SELECT tgid, jsonb_agg(terms) AS terms FROM wed.order_of(_flow_id, _wid) GROUP BY tgid) o;
  IF _terms IS NULL THEN RETURN NULL; END IF;
  SELECT jsonb_object_agg(u.name, u.tgids) INTO _after
  FROM (SELECT n AS name, jsonb_agg(DISTINCT o.tgid) AS tgids FROM wed.order_of(_flow_id, _wid) o
        CROSS JOIN LATERAL jsonb_array_elements(o.terms) c
        CROSS JOIN LATERAL jsonb_array_elements_text(c) n GROUP BY n) u;
  _free := ARRAY(SELECT tgid FROM wed.trigger WHERE flow_id = _flow_id AND NOT _terms ? tgid::text);
  WHILE _at <= cardinality(_free) LOOP
    FOR _name IN SELECT n FROM wed.trigger t CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
                 WHERE t.tgid = _free[_at] AND NOT _done ? n LOOP
      _done := _done || jsonb_build_object(_name, true);
      _free := _free || ARRAY(
        SELECT d::integer FROM jsonb_array_elements_text(_after -> _name) d
        WHERE d::integer <> ALL (_free) AND NOT EXISTS (
          SELECT FROM jsonb_array_elements(_terms -> d) e WHERE NOT EXISTS (
            SELECT FROM jsonb_array_elements(e) c WHERE _done ?& ARRAY(SELECT jsonb_array_elements_text(c)))));
    END LOOP;
    _at := _at + 1;
  END LOOP;
  RETURN wed.cycle_of_order(_flow_id, _wid, _free, ARRAY(SELECT jsonb_object_keys(_done)));
END $$;

-- Returns the names of a cycle among the tasks that can never begin, those that can being _free and their names _done;
-- null: there is none. Each that cannot begin waits for another one that cannot: followed until one comes again.
CREATE OR REPLACE FUNCTION wed.cycle_of_order(_flow_id integer, _wid integer, _free integer[], _done text[])
RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _path integer[] := '{}';
  _at integer := (SELECT min(tgid) FROM wed.trigger WHERE flow_id = _flow_id AND tgid <> ALL (_free));
BEGIN
  IF _at IS NULL THEN RETURN NULL; END IF;
  WHILE _at <> ALL (_path) LOOP
    _path := _path || _at;
    _at := (
      SELECT min(t.tgid) FROM wed.order_of(_flow_id, _wid) o CROSS JOIN LATERAL jsonb_array_elements(o.terms) c
      CROSS JOIN LATERAL jsonb_array_elements_text(c) n
      JOIN wed.trigger t ON t.flow_id = _flow_id AND n IN (t.tgname, t.trname) AND t.tgid <> ALL (_free)
      WHERE o.tgid = _path[cardinality(_path)] AND NOT wed.is_met(o.terms, _done));
  END LOOP;
  _path := _path[array_position(_path, _at):] || _at;
  RETURN ARRAY(SELECT coalesce(nullif(t.tgname, ''), t.trname)
               FROM unnest(_path) WITH ORDINALITY p(tgid, at) JOIN wed.trigger t USING (tgid) ORDER BY p.at);
END $$;

-- Lets transitions set the order of their instances' tasks, by an attribute of type jsonb; null: no longer.
CREATE OR REPLACE FUNCTION wed.order_by_attribute(_flow_id integer, _attribute text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _attribute IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.flow f JOIN pg_attribute a ON a.attrelid = format('%I.wed_flow', f.schema_name)::regclass
      WHERE f.flow_id = _flow_id AND a.attname = _attribute AND a.atttypid = 'jsonb'::regtype
          AND NOT a.attisdropped) THEN
    RAISE EXCEPTION 'the flow has no attribute "%" of type jsonb', left(_attribute, 80) USING ERRCODE = 'WF013',
      HINT = 'Insert it into wed_attr first.';
  END IF;
  UPDATE wed.flow SET order_attribute = _attribute WHERE flow_id = _flow_id AND order_attribute IS DISTINCT
      FROM _attribute;
  IF FOUND THEN PERFORM wed.mark_constrained(_flow_id); END IF;
END $$;

-- Takes the order that transitions of some instances have set by their flow's order attribute: a document of after by
-- trigger. What it no longer says is dropped. Of instances that are final nothing is kept.
CREATE OR REPLACE FUNCTION wed.take_order(_flow wed.flow, _wids integer[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _one record;
BEGIN
  DELETE FROM wed.task_done d USING wed.instance i
  WHERE d.flow_id = _flow.flow_id AND d.wid = ANY (_wids) AND i.flow_id = d.flow_id AND i.wid = d.wid
      AND i.status = 'F';
  DELETE FROM wed.precedence d USING wed.instance i
  WHERE d.flow_id = _flow.flow_id AND d.wid = ANY (_wids) AND i.flow_id = d.flow_id AND i.wid = d.wid
      AND i.status = 'F';
  IF _flow.order_attribute IS NULL THEN RETURN; END IF;
  FOR _one IN EXECUTE format('SELECT w.wid, %I AS said FROM %I.wed_flow w WHERE w.wid = ANY ($1) ORDER BY w.wid',
                             _flow.order_attribute, _flow.schema_name) USING _wids
  LOOP
    PERFORM wed.order_by_result(_flow.flow_id, _one.wid, _one.said);
  END LOOP;
END $$;

-- Makes the order of an instance's tasks what the result of a transition says: {"ship": "pack AND check"}.
CREATE OR REPLACE FUNCTION wed.order_by_result(_flow_id integer, _wid integer, _said jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _result CONSTANT text := '_RESULT';
  _unknown text;
BEGIN
  IF jsonb_typeof(coalesce(_said, '{}')) <> 'object' OR (SELECT count(*)
      FROM jsonb_object_keys(coalesce(_said, '{}'))) > 64 THEN
    RAISE EXCEPTION 'the order of tasks is no document of at most 64 triggers' USING ERRCODE = 'WF062',
      HINT = 'For example: {"ship": "pack AND check"}.';
  END IF;
  -- It is checked in the commit of a batch, which others share.
  IF coalesce(_said, '{}') <> '{}' AND (SELECT count(*) FROM wed.trigger WHERE flow_id = _flow_id) > 200 THEN
    RAISE EXCEPTION 'a flow of more than 200 triggers takes no order from results' USING ERRCODE = 'WF062',
      HINT = 'Divide the flow, or add orders by wed_after.';
  END IF;
  IF NOT EXISTS (SELECT FROM wed.precedence WHERE flow_id = _flow_id AND wid = _wid AND actor = _result)
      AND coalesce(_said, '{}') = '{}' THEN
    RETURN;
  END IF;
  SELECT e.key INTO _unknown FROM jsonb_each_text(coalesce(_said, '{}')) e
  WHERE NOT EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND NOT t.cfinal
      AND e.key IN (t.tgname, t.trname)) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the order names "%", which is no trigger of this flow', left(_unknown, 80)
        USING ERRCODE = 'WF062', HINT = 'Name a trigger or a transition.';
  END IF;
  DELETE FROM wed.precedence p WHERE p.flow_id = _flow_id AND p.wid = _wid AND p.actor = _result AND NOT EXISTS (
    SELECT FROM jsonb_each_text(_said) e JOIN wed.trigger t ON t.tgid = p.tgid AND e.key IN (t.tgname, t.trname)
        WHERE e.value = p.after);
  INSERT INTO wed.precedence (flow_id, wid, tgid, after, terms, actor)
  SELECT _flow_id, _wid, t.tgid, e.value, wed.parse_order(e.value), _result
  FROM jsonb_each_text(_said) e JOIN wed.trigger t ON t.flow_id = _flow_id AND NOT t.cfinal
      AND e.key IN (t.tgname, t.trname)
  WHERE btrim(e.value) <> '' ON CONFLICT DO NOTHING;
  IF FOUND THEN
    -- As it was counted last: others share the batch.
    PERFORM wed.refuse_quota('orders', u.orders, q.orders) FROM wed.flow f JOIN wed.usage u USING (tenant_id)
    JOIN wed.quota q USING (tenant_id) WHERE f.flow_id = _flow_id AND u.orders > q.orders;
    PERFORM wed.check_order(_flow_id, _wid);
    PERFORM wed.delay_jobs(_flow_id, _wid);
  END IF;
END $$;

-- Counts the orders of tasks that a tenant's flows have besides those that triggers declare, up to _most (null: all).
CREATE OR REPLACE FUNCTION wed.count_orders(_tenant_id integer, _most bigint) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(*) FROM (
    SELECT FROM wed.flow f JOIN wed.precedence p USING (flow_id) WHERE f.tenant_id = _tenant_id LIMIT _most) o
$$;

-- Refuses more orders of tasks than a tenant may have, and more of one trigger or in all than a commit should read, of
-- one instance or (_wid null) of all.
CREATE OR REPLACE FUNCTION wed.refuse_orders(_flow_id integer, _wid integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _orders_of_trigger CONSTANT integer := 100;
  _orders_max CONSTANT integer := 1000;
  _of record;
BEGIN
  IF (SELECT count(*) FROM wed.precedence p WHERE p.flow_id = _flow_id AND coalesce(p.wid, 0) = coalesce(_wid, 0))
      > _orders_max THEN
    RAISE EXCEPTION 'there are more than % orders', _orders_max USING ERRCODE = 'WF062',
      HINT = 'Join them with AND, or drop those that are met: wed_drop_after.';
  END IF;
  IF EXISTS (SELECT FROM wed.precedence p WHERE p.flow_id = _flow_id AND coalesce(p.wid, 0) = coalesce(_wid, 0)
             GROUP BY p.tgid HAVING count(*) > _orders_of_trigger) THEN
    RAISE EXCEPTION 'a trigger has more than % orders', _orders_of_trigger USING ERRCODE = 'WF062',
      HINT = 'Join them with AND, or drop those that are met: wed_drop_after.';
  END IF;
  SELECT q.tenant_id, q.orders AS allowed INTO _of FROM wed.flow f JOIN wed.quota q USING (tenant_id)
  WHERE f.flow_id = _flow_id AND q.orders IS NOT NULL;
  IF FOUND AND wed.count_orders(_of.tenant_id, _of.allowed + 1) > _of.allowed THEN
    PERFORM wed.refuse_quota('orders', _of.allowed, _of.allowed);
  END IF;
END $$;

-- Instances all of whose jobs wait for tasks that nothing fires any more, counted by flow.
CREATE OR REPLACE FUNCTION wed.order_problems() RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'order_unmet', format('flow %s of tenant %s: %s instances wait for tasks that nothing fires any more, '
    'instance %s among them', f.name, t.name, count(DISTINCT j.wid), min(j.wid)),
    'Skip the waiting job, drop the order (`wed_drop_after`), or fire the task that it waits for.'
  FROM wed.job j JOIN wed.flow f USING (flow_id) JOIN wed.tenant t ON t.tenant_id = f.tenant_id
  WHERE j.blocked = 'p' AND NOT EXISTS (SELECT FROM wed.job o WHERE o.flow_id = j.flow_id AND o.wid = j.wid
    AND o.blocked IS DISTINCT FROM 'p') GROUP BY f.name, t.name
$$;
