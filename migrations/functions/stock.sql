-- The stock of resources (wed_resource), and what a trigger declares to reserve.

-- Writing wed_resource: the stock of a key. The key's lock first, in the order that everybody keeps; a request that
-- waits for more is served when the transaction commits.
CREATE OR REPLACE FUNCTION wed.on_resource() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow_id integer := TG_ARGV[0];
  _tenant_id integer;
  _resource text;
  _of record;
BEGIN
  _of := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  _resource := coalesce(_of.resource, '#' || _flow_id);
  SELECT tenant_id INTO _tenant_id FROM wed.flow WHERE flow_id = _flow_id;
  IF TG_OP <> 'DELETE' THEN NEW.minimum := coalesce(NEW.minimum, 0); END IF;
  PERFORM wed.check_resource(_flow_id, TG_OP, to_jsonb(OLD), to_jsonb(NEW));
  PERFORM wed.lock_keys(ARRAY[ROW(_tenant_id, _resource, _of.key)::wed.resource_key], false);
  IF TG_OP = 'DELETE' THEN
    PERFORM wed.refuse_held(ROW(_tenant_id, _resource, OLD.key)::wed.resource_key);
    DELETE FROM wed.resource WHERE tenant_id = _tenant_id AND resource = _resource AND key = OLD.key;
    RETURN OLD;
  ELSIF TG_OP = 'UPDATE' THEN
    -- By the difference: what another transaction committed while this one waited for the key was not in OLD, so it is
    -- not in NEW.
    SELECT r.capacity + (NEW.capacity - OLD.capacity), r.minimum + (NEW.minimum - OLD.minimum)
    INTO NEW.capacity, NEW.minimum
    FROM wed.resource r WHERE tenant_id = _tenant_id AND resource = _resource AND key = NEW.key FOR UPDATE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    PERFORM wed.check_resource(_flow_id, TG_OP, to_jsonb(OLD), to_jsonb(NEW));
  END IF;
  IF NEW.minimum > NEW.capacity THEN PERFORM wed.refuse_capacity(NEW.key, NEW.capacity, NEW.minimum); END IF;
  PERFORM wed.write_resource(TG_OP, ROW(_tenant_id, _resource, NEW.key)::wed.resource_key, NEW.capacity, NEW.minimum);
  RETURN NEW;
END $$;

-- Refuses to delete the stock of a key, whose lock is held, while some of it is reserved: who consumes it would
-- subtract nothing. (It may become less than what is reserved, as goods do: the holder's commit is refused then.)
CREATE OR REPLACE FUNCTION wed.refuse_held(_key wed.resource_key) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _held numeric := (SELECT sum(v.amount) FROM wed.reservation v WHERE v.tenant_id = _key.tenant_id
                    AND v.resource = _key.resource AND v.key = _key.key AND v.held);
BEGIN
  IF _held > 0 THEN
    RAISE EXCEPTION '"%" cannot be removed: % of it is reserved', _key.key, _held USING ERRCODE = 'WF061',
      HINT = 'Wait until the holders have committed, or cancel them; wed_reservation names them.';
  END IF;
END $$;

-- Writes the stock of a key whose lock is held, and has the first request in its queue looked at when the transaction
-- commits.
CREATE OR REPLACE FUNCTION wed.write_resource(
  _operation text, _key wed.resource_key, _capacity numeric, _minimum numeric) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _operation = 'INSERT' THEN
    INSERT INTO wed.resource (tenant_id, resource, key, capacity, minimum)
    VALUES (_key.tenant_id, _key.resource, _key.key, _capacity, _minimum) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is a row of "%" already', _key.key USING ERRCODE = '23505',
        HINT = 'Update its capacity.';
    END IF;
  ELSE
    UPDATE wed.resource SET capacity = _capacity, minimum = _minimum
    WHERE tenant_id = _key.tenant_id AND resource = _key.resource AND key = _key.key;
  END IF;
  -- The first in the queue stands for the key at the end of the transaction.
  UPDATE wed.request SET state = 'n', leads = true, xid = pg_current_xact_id()
  WHERE request_id = (
    SELECT request_id FROM wed.request WHERE request_id = wed.first_in_queue(_key) AND state = 'w'
    FOR UPDATE SKIP LOCKED);
END $$;

-- Holds a tenant to its quota of keys after a statement that wrote stock. Keys that were locked lately count too,
-- each has a row until a chore removes it (wed.remove_unused_locks); of those four times as many are allowed.
CREATE OR REPLACE FUNCTION wed.on_resources() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _locks_of_key CONSTANT integer := 4;
  _of record;
  _used bigint;
BEGIN
  SELECT q.tenant_id, q.resources AS allowed INTO _of FROM wed.flow f JOIN wed.quota q USING (tenant_id)
  WHERE f.flow_id = TG_ARGV[0]::integer AND q.resources IS NOT NULL;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT count(*) INTO _used FROM (SELECT FROM wed.resource WHERE tenant_id = _of.tenant_id LIMIT _of.allowed + 1) r;
  IF _used > _of.allowed THEN PERFORM wed.refuse_quota('resources', _of.allowed, _of.allowed); END IF;
  SELECT count(*) INTO _used FROM (
    SELECT FROM wed.resource_lock WHERE tenant_id = _of.tenant_id LIMIT _locks_of_key * _of.allowed + 1) l;
  IF _used > _locks_of_key * _of.allowed THEN PERFORM wed.refuse_quota('resources', _of.allowed, _of.allowed); END IF;
  RETURN NULL;
END $$;

-- Refuses what cannot be written to a flow's wed_resource. The rows are documents; null: there is none.
CREATE OR REPLACE FUNCTION wed.check_resource(_flow_id integer, _operation text, _old jsonb, _new jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _number text;
BEGIN
  IF _operation = 'DELETE' THEN RETURN; END IF;
  IF _operation = 'UPDATE' AND (_new -> 'resource', _new -> 'key', _new -> 'held') IS DISTINCT
      FROM (_old -> 'resource', _old -> 'key', _old -> 'held') THEN
    RAISE EXCEPTION 'of a resource only capacity and minimum can change' USING ERRCODE = 'WF013',
      HINT = 'Insert another row for another key; what is held follows from reservations.';
  ELSIF _operation = 'INSERT' AND _new ->> 'resource' IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.trigger_constraint WHERE flow_id = _flow_id AND resource = _new ->> 'resource') THEN
    RAISE EXCEPTION 'no trigger of the flow declares the resource "%"', left(_new ->> 'resource', 80)
        USING ERRCODE = 'WF013',
      HINT = 'Set resource of a trigger that reserves; leave it out for the flow''s own.';
  ELSIF coalesce(octet_length(_new ->> 'key'), 0) NOT BETWEEN 1 AND 256 OR left(_new ->> 'key', 1) IN ('{', '[') THEN
    RAISE EXCEPTION 'the key % cannot be reserved', coalesce(quote_literal(left(_new ->> 'key', 80)), 'null')
        USING ERRCODE = 'WF060',
      HINT = 'A key is a text or number of 1 to 256 bytes that does not begin with { or [.';
  END IF;
  FOREACH _number IN ARRAY ARRAY[coalesce(_new ->> 'capacity', 'null'), coalesce(_new ->> 'minimum', '0')] LOOP
    IF _number !~ '^-?[0-9.]{1,40}$' THEN
      RAISE EXCEPTION 'capacity and minimum of "%" are numbers of at most 40 digits, not %', _new ->> 'key',
          left(_number, 40)
        USING ERRCODE = 'WF061', HINT = 'For example: capacity 10, minimum 2.';
    END IF;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION wed.refuse_capacity(_key text, _capacity numeric, _minimum numeric) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of "%" would be left, and % is the minimum', _capacity, _key, _minimum USING ERRCODE = 'WF061',
    HINT = 'Add to its capacity in wed_resource, or lower its minimum; then retry.';
END $$;

-- Sets the stock of a key: as the flow's own role would by wed_resource, for the server's interfaces.
CREATE OR REPLACE FUNCTION wed.set_resource(
  _flow_id integer, _resource text, _key text, _capacity numeric, _minimum numeric, _actor text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _found integer;
BEGIN
  EXECUTE format('UPDATE %I.wed_resource SET capacity = $3, minimum = $4
                  WHERE resource IS NOT DISTINCT FROM $1 AND key = $2', _schema)
    USING _resource, _key, _capacity, _minimum;
  GET DIAGNOSTICS _found = ROW_COUNT;
  IF _found = 0 THEN
    EXECUTE format('INSERT INTO %I.wed_resource (resource, key, capacity, minimum) VALUES ($1, $2, $3, $4)', _schema)
      USING _resource, _key, _capacity, _minimum;
  END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'resource.set', left(_key, 80),
    jsonb_build_object('resource', _resource, 'capacity', _capacity, 'minimum', _minimum));
END $$;

-- Returns the stock of the keys that a flow counts: its own, and those of resources that it declares.
CREATE OR REPLACE FUNCTION wed.resources_of(_flow_id integer)
RETURNS TABLE (resource text, key text, capacity text, minimum text, held text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN s.resource LIKE '#%' THEN NULL ELSE s.resource END, s.key, s.capacity::text, s.minimum::text,
    (SELECT coalesce(sum(v.amount), 0)::text FROM wed.reservation v
     WHERE v.tenant_id = s.tenant_id AND v.resource = s.resource AND v.key = s.key AND v.held)
  FROM wed.flow f JOIN wed.resource s ON s.tenant_id = f.tenant_id AND (s.resource = '#' || _flow_id OR s.resource IN (
    SELECT c.resource FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id))
  WHERE f.flow_id = _flow_id ORDER BY s.resource, s.key
$$;

-- Declares what a trigger reserves and after which others it comes; all null takes it back. Whether the names in
-- _after are triggers, and whether the order has a cycle, is looked at when the definition is whole
-- (wed.check_order).
CREATE OR REPLACE FUNCTION wed.set_constraint(
  _flow wed.flow, _tgid integer, _reserves text, _quantity text, _resource text, _holds text, _consumes boolean,
      _after text)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _keys record;
  _amount record;
BEGIN
  IF _reserves IS NULL AND num_nonnulls(_quantity, _resource, _holds) + coalesce(_consumes, false)::integer > 0 THEN
    RAISE EXCEPTION 'quantity, resource, holds and consumes describe what a trigger reserves, and it reserves nothing'
      USING ERRCODE = 'WF013', HINT = 'Set reserves too.';
  ELSIF octet_length(_after) > 4096 THEN
    RAISE EXCEPTION 'after has more than 4096 bytes' USING ERRCODE = 'WF062', HINT = 'Name fewer triggers.';
  ELSIF octet_length(_resource) NOT BETWEEN 1 AND 63 OR _resource ~ '^#|[[:cntrl:]]' THEN
    RAISE EXCEPTION 'the resource name % is not allowed', quote_literal(left(_resource, 80)) USING ERRCODE = 'WF013',
      HINT = 'At most 63 bytes, no control characters, no # in front.';
  END IF;
  IF num_nonnulls(_reserves, _after) = 0 THEN
    DELETE FROM wed.trigger_constraint WHERE tgid = _tgid;
    RETURN;
  END IF;
  _keys := wed.check_expression(_flow.shape_schema, _tgid, _reserves);
  _amount := wed.check_expression(_flow.shape_schema, _tgid, _quantity);
  INSERT INTO wed.trigger_constraint (tgid, flow_id, keys, quantity, reads, resource, holds, consumes, after, terms,
    guarded_keys, guarded_quantity)
  VALUES (_tgid, _flow.flow_id, _keys.expression, _amount.expression, coalesce(_keys.reads,
    '{}') || coalesce(_amount.reads, '{}'),
          _resource, coalesce(_holds, 'transition'), coalesce(_consumes, false), _after, wed.parse_order(_after),
          _keys.guarded, _amount.guarded)
  ON CONFLICT (tgid) DO UPDATE SET keys = excluded.keys, quantity = excluded.quantity, reads = excluded.reads,
    resource = excluded.resource, holds = excluded.holds, consumes = excluded.consumes, after = excluded.after,
      terms = excluded.terms,
    guarded_keys = excluded.guarded_keys, guarded_quantity = excluded.guarded_quantity;
END $$;

-- Checks an expression over a flow's row as a condition is checked, and returns it as Postgres understood it, with
-- what it reads.
CREATE OR REPLACE FUNCTION wed.check_expression(
  _shape_schema text, _tgid integer, _text text, OUT expression text, OUT reads text[], OUT guarded text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _checked record;
BEGIN
  IF _text IS NULL THEN RETURN; END IF;
  _checked := wed.check_predicate(_shape_schema, _tgid, '(' || wed.check_fragment(_text) || E'\n) IS NOT NULL');
  expression := substring(_checked.predicate FROM '^\((.*) IS NOT NULL\)$');
  reads := _checked.reads;
  guarded := substring(regexp_replace(_checked.guarded, '^wed_bounded\.in_time\((.*)\)$', '\1')
    FROM '^\((.*) IS NOT NULL\)$');
  -- A constant alone has no type of its own.
  IF expression ~ '^''([^'']|'''')*''$' THEN
    expression := expression || '::text';
    guarded := expression;
  END IF;
  IF expression IS NULL THEN
    RAISE EXCEPTION 'the expression % cannot be reserved', quote_literal(left(_text, 80)) USING ERRCODE = 'WF011',
      HINT = 'Write one value, an array or a document over the attributes.';
  END IF;
END $$;

-- Makes the functions of a flow that evaluate what its triggers reserve: for each row and trigger a document of keys.
-- keys_ does as wed_predicate, like the conditions; read_keys_ hands it the rows of some instances.
CREATE OR REPLACE FUNCTION wed.compile_keys(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
  _cases text;
  _columns text;
  _name text := format('%1$I.keys_%1$s(%1$I.wed_flow[], integer[])', _flow.shape_schema);
BEGIN
  SELECT string_agg(format('WHEN %s THEN %s', tgid, wed.keys_expression(c)), E'\n      ' ORDER BY tgid) INTO _cases
  FROM wed.trigger_constraint c WHERE flow_id = _flow.flow_id AND keys IS NOT NULL;
  IF _cases IS NULL THEN RETURN; END IF;
  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO _columns FROM pg_attribute
  WHERE attrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND attnum > 0 AND NOT attisdropped;
  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.keys_%1$s(_rows %1$I.wed_flow[], _tgids integer[]) RETURNS jsonb[]
LANGUAGE plpgsql STABLE SECURITY DEFINER AS %2$L $f$, _flow.shape_schema, format($keys$
#variable_conflict use_column
BEGIN
  RETURN ARRAY(SELECT CASE _of._tgid
      %2$s
      ELSE '{}' END
    FROM ROWS FROM (unnest(_rows), unnest(_tgids)) WITH ORDINALITY _of(%1$s, _tgid, _at) ORDER BY _of._at);
END $keys$, _columns, _cases));
  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.read_keys_%1$s(_wids integer[], _tgids integer[]) RETURNS jsonb[]
LANGUAGE plpgsql STABLE AS $keys$
BEGIN
  RETURN %1$I.keys_%1$s(ARRAY(
    SELECT ROW(w.*)::%1$I.wed_flow FROM unnest(_wids) WITH ORDINALITY u(wid, at)
    CROSS JOIN LATERAL (SELECT * FROM %2$I.wed_flow WHERE wid >= u.wid AND wid <= u.wid ORDER BY wid DESC LIMIT 1) w
        ORDER BY u.at), _tgids);
END $keys$ $f$, _flow.shape_schema, _flow.schema_name);
  EXECUTE format('REVOKE ALL ON FUNCTION %1$I.read_keys_%1$s FROM PUBLIC', _flow.shape_schema);
  IF (SELECT proowner <> 'wed_predicate'::regrole FROM pg_proc WHERE oid = _name::regprocedure) THEN
    EXECUTE format('GRANT CREATE ON SCHEMA %I TO wed_predicate', _flow.shape_schema);
    EXECUTE format('ALTER FUNCTION %s OWNER TO wed_predicate', _name);
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _flow.shape_schema);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', _name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', _name, current_user);
  END IF;
END $$;

-- Returns the expression that makes the document of keys of what a trigger reserves.
CREATE OR REPLACE FUNCTION wed.keys_expression(_of wed.trigger_constraint) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format('wed_bounded.keys(to_jsonb(%s), %s, to_jsonb(%s))', _of.guarded_keys, (_of.quantity IS NOT NULL)::text,
                CASE WHEN _of.quantity IS NULL THEN 'NULL::text' ELSE _of.guarded_quantity END)
$$;

-- Refuses to rename, retype or remove an attribute that a reservation, a series of numbers or the order of tasks is by.
CREATE OR REPLACE FUNCTION wed.refuse_constrained(_flow wed.flow, _attribute text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _user text;
BEGIN
  SELECT 'what is reserved by ' || coalesce(t.tgname, t.trname) INTO _user FROM wed.trigger_constraint c
      JOIN wed.trigger t USING (tgid)
  WHERE c.flow_id = _flow.flow_id AND _attribute = ANY (c.reads) ORDER BY t.tgid LIMIT 1;
  IF _flow.order_attribute = _attribute THEN _user := 'the order of tasks'; END IF;
  IF EXISTS (SELECT FROM wed.numbering WHERE flow_id = _flow.flow_id AND attribute = _attribute)
      THEN _user := 'a series of numbers'; END IF;
  IF _user IS NOT NULL THEN
    RAISE EXCEPTION 'attribute "%" is used by %', _attribute, _user USING ERRCODE = 'WF013',
        HINT = 'Change or remove that first.';
  END IF;
END $$;

-- Says of a flow and its triggers whether they are constrained, after a change of what constrains them, and refuses an
-- order that has a cycle, in the flow or in an instance with orders of its own.
CREATE OR REPLACE FUNCTION wed.mark_constrained(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _was boolean;
BEGIN
  UPDATE wed.trigger t SET constrained = n.now FROM (
    SELECT g.tgid, NOT g.cfinal AND g.trname <> '_EXCPT' AND (
      f.order_attribute IS NOT NULL OR EXISTS (SELECT FROM wed.trigger_constraint c WHERE c.tgid = g.tgid)
      OR EXISTS (SELECT FROM wed.precedence p WHERE p.tgid = g.tgid)) IS TRUE AS now
    FROM wed.trigger g JOIN wed.flow f USING (flow_id) WHERE g.flow_id = _flow_id) n
  WHERE t.tgid = n.tgid AND t.constrained <> n.now;
  SELECT ordered INTO _was FROM wed.flow WHERE flow_id = _flow_id;
  UPDATE wed.flow f SET
    constrained = f.constrained OR EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND t.constrained),
    ordered = f.ordered OR f.order_attribute IS NOT NULL
      OR EXISTS (SELECT FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id AND c.terms IS NOT NULL)
      OR EXISTS (SELECT FROM wed.precedence p WHERE p.flow_id = _flow_id),
    reserving = ARRAY(SELECT c.tgid FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id AND c.keys IS NOT NULL
        ORDER BY c.tgid),
    holds_longer = EXISTS (SELECT FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id AND c.keys IS NOT NULL
        AND c.holds <> 'transition')
  WHERE f.flow_id = _flow_id;
  IF NOT _was AND (SELECT ordered FROM wed.flow WHERE flow_id = _flow_id) THEN
    INSERT INTO wed.task_done (flow_id, wid, tgid)
    SELECT DISTINCT r.flow_id, r.wid, r.tgid FROM wed.trace r JOIN wed.instance i USING (flow_id, wid)
    WHERE r.flow_id = _flow_id AND i.status <> 'F' AND r.tgid IS NOT NULL
        AND wed.names_transition(r.trw) ON CONFLICT DO NOTHING;
  END IF;
  PERFORM wed.check_order(_flow_id, NULL);
  -- Together with what instances have of their own.
  PERFORM wed.check_order(_flow_id, p.wid)
  FROM (SELECT DISTINCT wid FROM wed.precedence WHERE flow_id = _flow_id AND wid IS NOT NULL) p;
END $$;

-- Installs what a flow's schema has for constraints: columns of wed_trig, functions. Does nothing for a flow that has
-- it.
CREATE OR REPLACE FUNCTION wed.install_constraints(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _statement text;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  FOREACH _statement IN ARRAY ARRAY[
    $t$ALTER TABLE %1$I.wed_trig ADD COLUMN IF NOT EXISTS reserves text, ADD COLUMN IF NOT EXISTS quantity text,
      ADD COLUMN IF NOT EXISTS resource text, ADD COLUMN IF NOT EXISTS holds text,
      ADD COLUMN IF NOT EXISTS consumes boolean NOT NULL DEFAULT false, ADD COLUMN IF NOT EXISTS after text,
      ADD COLUMN IF NOT EXISTS waits_for text, ADD COLUMN IF NOT EXISTS or_after interval$t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_after("trigger" text, after text, wid integer DEFAULT NULL) RETURNS integer
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.add_order(%3$s, $1, $2, $3, session_user::text) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_drop_after("trigger" text, after text, wid integer DEFAULT NULL) RETURNS
        boolean
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.drop_order(%3$s, $1, $2, $3, session_user::text) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_order_by(attribute text) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.order_by_attribute(%3$s, $1) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_number(attribute text, gapless boolean DEFAULT false) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.set_numbering(%3$s, $1, $2) $f$ $t$,
    'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %1$I FROM PUBLIC',
    'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %1$I TO %1$I'
  ] LOOP
    EXECUTE format(_statement, _flow.schema_name, _flow.shape_schema, _flow_id);
  END LOOP;
  PERFORM wed.install_numbering(_flow, n.attribute) FROM wed.numbering n WHERE n.flow_id = _flow_id;
  EXECUTE format('DROP FUNCTION IF EXISTS %I.wed_next_number(text)', _flow.schema_name);
END $$;
