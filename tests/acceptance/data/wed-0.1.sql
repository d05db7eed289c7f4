-- A database of wed 0.1 (schema 0014) on Postgres 15: tenants, components, flows with pending jobs, trace. Restored by
-- tests/acceptance/gate/migrating.rs, migrated, and worked on.
DO $$ BEGIN CREATE ROLE wed_predicate NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
CREATE ROLE wf_4c263c6b57c24d6e LOGIN PASSWORD 'c7fcac7ad39146ca9c3bf744b90289385b95046090f946d0818f05fe4a131d43' NOINHERIT;
GRANT wf_4c263c6b57c24d6e TO CURRENT_USER;
CREATE ROLE wf_98db33d0ca6b4094 LOGIN PASSWORD '42d727f1196241a3ac1e539feb30913a3e6ff9d8423d4a29a35b5bb42b257102' NOINHERIT;
GRANT wf_98db33d0ca6b4094 TO CURRENT_USER;
CREATE ROLE wf_cb605d367e08421f LOGIN PASSWORD '16b29dfc8ceb4d3992adbd143787d12a245f9f6bd0484d7ea5faac0d234d8f50' NOINHERIT;
GRANT wf_cb605d367e08421f TO CURRENT_USER;
SET statement_timeout = 0;
SET lock_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA wed;

ALTER SCHEMA wed OWNER TO CURRENT_USER;

COMMENT ON SCHEMA wed IS 'Wedflow''s own tables and functions. Private.';

CREATE SCHEMA wed_bounded;

ALTER SCHEMA wed_bounded OWNER TO CURRENT_USER;

COMMENT ON SCHEMA wed_bounded IS 'Wedflow''s own: refuses values that would take too long to compute with.';

CREATE SCHEMA wf_4c263c6b57c24d6e;

ALTER SCHEMA wf_4c263c6b57c24d6e OWNER TO CURRENT_USER;

CREATE SCHEMA wf_4c263c6b57c24d6e_shape;

ALTER SCHEMA wf_4c263c6b57c24d6e_shape OWNER TO CURRENT_USER;

CREATE SCHEMA wf_98db33d0ca6b4094;

ALTER SCHEMA wf_98db33d0ca6b4094 OWNER TO CURRENT_USER;

CREATE SCHEMA wf_98db33d0ca6b4094_shape;

ALTER SCHEMA wf_98db33d0ca6b4094_shape OWNER TO CURRENT_USER;

CREATE SCHEMA wf_cb605d367e08421f;

ALTER SCHEMA wf_cb605d367e08421f OWNER TO CURRENT_USER;

CREATE SCHEMA wf_cb605d367e08421f_shape;

ALTER SCHEMA wf_cb605d367e08421f_shape OWNER TO CURRENT_USER;

CREATE TYPE wed.batch AS (
	wids integer[],
	tgids integer[],
	assigned text[],
	lit text[]
);

ALTER TYPE wed.batch OWNER TO CURRENT_USER;

CREATE TYPE wed.claimed AS (
	flow_id integer,
	wid integer,
	tgid integer,
	tgname text,
	trname text,
	token bigint,
	attempt integer,
	timeout_ms bigint,
	payload text,
	component_id integer,
	version integer,
	seq integer
);

ALTER TYPE wed.claimed OWNER TO CURRENT_USER;

CREATE TYPE wed.evaluated AS (
	flow_id integer,
	version integer,
	wid integer,
	state text,
	payload text,
	fired bigint[],
	kept integer[],
	final boolean,
	fault text
);

ALTER TYPE wed.evaluated OWNER TO CURRENT_USER;

CREATE TYPE wed.part AS (
	rows wed.evaluated[]
);

ALTER TYPE wed.part OWNER TO CURRENT_USER;

CREATE TYPE wed.passing AS (
	flow_id integer,
	version integer,
	wid integer,
	state text,
	payload text,
	satisfied bigint[],
	forced text,
	tgid integer,
	trw text,
	attempt integer,
	fuel bigint,
	elapsed_us bigint,
	memory_bytes bigint,
	own tid,
	from_seq integer,
	component_id integer,
	seq integer,
	others integer,
	excpt boolean,
	waiting boolean,
	fire integer[],
	was "char",
	becomes "char",
	refusal text
);

ALTER TYPE wed.passing OWNER TO CURRENT_USER;

CREATE TYPE wed.pool AS (
	own tid,
	trname text,
	attempt integer,
	from_seq integer,
	component_id integer,
	last_seq integer,
	version integer,
	satisfied bigint[],
	others integer,
	excpt boolean,
	waiting boolean,
	pending integer[],
	served boolean
);

ALTER TYPE wed.pool OWNER TO CURRENT_USER;

CREATE TYPE wed.resource_key AS (
	tenant_id integer,
	resource text,
	key text
);

ALTER TYPE wed.resource_key OWNER TO CURRENT_USER;

CREATE FUNCTION wed.activate_component(_tenant_id integer, _name text, _version integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  PERFORM FROM wed.tenant WHERE tenant_id = _tenant_id FOR NO KEY UPDATE;
  IF _version IS NULL THEN
    SELECT max(c.version) INTO _version FROM wed.component c
    WHERE c.tenant_id = _tenant_id AND c.name = _name AND c.version < (
      SELECT a.version FROM wed.component a WHERE a.tenant_id = _tenant_id AND a.name = _name
      ORDER BY a.activated_at DESC, a.version DESC LIMIT 1);
  END IF;
  UPDATE wed.component SET activated_at = clock_timestamp()
  WHERE tenant_id = _tenant_id AND name = _name AND version = _version;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM wed.resolve_bindings(flow_id) FROM (
    SELECT DISTINCT b.flow_id FROM wed.binding b JOIN wed.flow f USING (flow_id)
    WHERE f.tenant_id = _tenant_id AND b.component_name = _name ORDER BY b.flow_id) x;
  RETURN _version;
END $$;

ALTER FUNCTION wed.activate_component(_tenant_id integer, _name text, _version integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.add_order(_flow_id integer, _trigger text, _after text, _wid integer, _actor text) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _id integer;
BEGIN
  IF coalesce(btrim(_after), '') = '' THEN
    RAISE EXCEPTION 'after names no trigger' USING ERRCODE = 'WF062', HINT = 'For example: wed_after(''ship'', ''pack AND check'').';
  END IF;
  IF _wid IS NOT NULL THEN PERFORM wed.operated(_flow_id, _wid); END IF;
  PERFORM FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  INSERT INTO wed.precedence (flow_id, wid, tgid, after, terms, actor)
  SELECT _flow_id, _wid, t.tgid, _after, wed.parse_order(_after), _actor FROM wed.trigger t
  WHERE t.flow_id = _flow_id AND NOT t.cfinal AND _trigger IN (t.tgname, t.trname)
  ON CONFLICT DO NOTHING;
  SELECT min(p.precedence_id) INTO _id FROM wed.precedence p JOIN wed.trigger t USING (tgid)
  WHERE p.flow_id = _flow_id AND p.wid IS NOT DISTINCT FROM _wid AND p.after = _after AND _trigger IN (t.tgname, t.trname);
  IF _id IS NULL THEN
    RAISE EXCEPTION 'the flow has no trigger "%"', left(_trigger, 80) USING ERRCODE = 'WF040', HINT = 'Show the flow: its triggers are listed.';
  END IF;
  PERFORM wed.mark_constrained(_flow_id);
  IF _wid IS NOT NULL THEN PERFORM wed.check_order(_flow_id, _wid); END IF;
  PERFORM wed.delay_jobs(_flow_id, _wid);
  PERFORM wed.note_flow(_actor, _flow_id, 'order.add', _trigger, jsonb_build_object('after', _after, 'wid', _wid));
  RETURN _id;
END $$;

ALTER FUNCTION wed.add_order(_flow_id integer, _trigger text, _after text, _wid integer, _actor text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.add_work_note(_tenant text, _name text, _item_id bigint, _text text, _file text DEFAULT NULL::text, _bytes bytea DEFAULT NULL::bytea) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _item wed.work_item := wed.see_work(_person, _item_id, clock_timestamp());
  _id bigint;
BEGIN
  IF octet_length(_text) > 16384 OR octet_length(_bytes) > 1048576
     OR (SELECT count(*) FROM wed.work_note WHERE flow_id = _item.flow_id AND wid = _item.wid) >= 200 THEN
    RAISE EXCEPTION 'the note is too long, or the instance has 200 notes' USING ERRCODE = 'WF085',
      HINT = 'A comment has at most 16 KiB, an attachment 1 MiB.';
  END IF;
  INSERT INTO wed.work_note (item_id, flow_id, wid, person, text, file_name, bytes)
  VALUES (_item_id, _item.flow_id, _item.wid, _person.name, _text, _file, _bytes) RETURNING note_id INTO _id;
  PERFORM wed.tell_people(_item.tenant_id);
  RETURN _id;
END $$;

ALTER FUNCTION wed.add_work_note(_tenant text, _name text, _item_id bigint, _text text, _file text, _bytes bytea) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.add_working_time(_from timestamp with time zone, _span interval, _calendar_id integer) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _c wed.work_calendar;
  _left interval;
  _at timestamp;
  _free interval;
BEGIN
  SELECT * INTO _c FROM wed.work_calendar WHERE calendar_id = _calendar_id;
  IF NOT FOUND THEN RETURN _from + _span; END IF;
  _left := extract(day FROM _span) * (_c.closes - _c.opens)
           + (extract(epoch FROM _span) - extract(day FROM _span) * 86400) * interval '1 second';
  _at := _from AT TIME ZONE _c.zone;
  -- Ten years of days bound the search, whatever the holidays.
  FOR _day IN 0 .. 3660 LOOP
    IF extract(isodow FROM _at)::integer = ANY (_c.weekdays) AND _at::date <> ALL (_c.holidays) THEN
      _at := greatest(_at, _at::date + _c.opens);
      _free := greatest(_at::date + _c.closes - _at, interval '0');
      IF _free >= _left THEN RETURN (_at + _left) AT TIME ZONE _c.zone; END IF;
      _left := _left - _free;
    END IF;
    _at := (_at::date + 1)::timestamp;
  END LOOP;
  RETURN _from + _span;
END $$;

ALTER FUNCTION wed.add_working_time(_from timestamp with time zone, _span interval, _calendar_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.advance_back() RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _one record;
  _advanced bigint := 0;
BEGIN
  DELETE FROM wed.going_back b USING wed.instance i WHERE i.flow_id = b.flow_id AND i.wid = b.wid AND i.status = 'F';
  FOR _one IN SELECT b.flow_id, b.wid FROM wed.going_back b JOIN wed.instance i USING (flow_id, wid)
              WHERE NOT b.stopped AND i.status = 'E' ORDER BY 1, 2 LIMIT 100 FOR UPDATE OF b SKIP LOCKED LOOP
    PERFORM wed.undo_next(_one.flow_id, _one.wid);
    _advanced := _advanced + 1;
  END LOOP;
  RETURN _advanced;
END $$;

ALTER FUNCTION wed.advance_back() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.after_definition() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF session_user = current_user AND current_setting('wed.definition', true) = 'whole' THEN
    RETURN NULL;
  END IF;
  IF pg_trigger_depth() = 1 THEN
    PERFORM wed.compile(TG_ARGV[0]::integer);
  END IF;
  RETURN NULL;
END $$;

ALTER FUNCTION wed.after_definition() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.announce_exceptions(_limit integer) RETURNS TABLE(tenant text, flow text, flow_id integer, wid integer, message text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    WITH new AS MATERIALIZED (
      SELECT i.flow_id, i.wid FROM wed.instance i
      WHERE i.status = 'E' AND (i.announced_at IS NULL OR i.announced_at < i.changed)
      ORDER BY i.flow_id, i.wid LIMIT _limit FOR UPDATE SKIP LOCKED
    ), told AS (
      UPDATE wed.instance i SET announced_at = clock_timestamp() FROM new
      WHERE i.flow_id = new.flow_id AND i.wid = new.wid RETURNING i.flow_id, i.wid)
    SELECT t.name, f.name, told.flow_id, told.wid, (
      SELECT r.note FROM wed.trace r WHERE r.flow_id = told.flow_id AND r.wid = told.wid AND r.status = 'E'
      ORDER BY r.seq DESC LIMIT 1)
    FROM told JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id);
  IF FOUND THEN PERFORM pg_notify('wed_exception', ''); END IF;
END $$;

ALTER FUNCTION wed.announce_exceptions(_limit integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.answers_for(_person_id integer, _flow_id integer, _wid integer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT _person_id = ANY (wed.in_charge(_flow_id, _wid)) OR wed.is_administrator(_person_id)
$$;

ALTER FUNCTION wed.answers_for(_person_id integer, _flow_id integer, _wid integer) OWNER TO CURRENT_USER;

SET default_tablespace = '';

CREATE TABLE wed.person (
    person_id integer NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    active boolean DEFAULT false NOT NULL,
    connected_at timestamp with time zone,
    contact_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT person_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._@-]{0,62}$'::text))
);

ALTER TABLE wed.person OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.person.active IS 'Whether the person is connected; only active people are offered work and may claim it.';

COMMENT ON COLUMN wed.person.contact_at IS 'Last sign of life; three missed contacts make the person inactive.';

CREATE TABLE wed.work_item (
    item_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    tgid integer NOT NULL,
    role_id integer,
    holder integer,
    claim integer DEFAULT 0 NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    data_bytes integer DEFAULT 0 NOT NULL,
    policy smallint DEFAULT 1 NOT NULL,
    disconnected boolean NOT NULL,
    candidates boolean DEFAULT false NOT NULL,
    state text DEFAULT 'READY'::text NOT NULL,
    task text NOT NULL,
    arrived_at timestamp with time zone NOT NULL,
    renotify interval NOT NULL,
    offered_at timestamp with time zone NOT NULL,
    held_since timestamp with time zone,
    deadline_at timestamp with time zone,
    alarm_at timestamp with time zone,
    warned integer[] DEFAULT '{}'::integer[] NOT NULL,
    escalated boolean DEFAULT false NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT work_item_check CHECK (((state = ANY (ARRAY['SELECTED'::text, 'LOCKED'::text, 'RUNNING'::text])) = ((holder IS NOT NULL) AND (ended_at IS NULL)))),
    CONSTRAINT work_item_check1 CHECK (((state = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text, 'WITHDRAWN'::text])) = (ended_at IS NOT NULL))),
    CONSTRAINT work_item_state_check CHECK ((state = ANY (ARRAY['READY'::text, 'SELECTED'::text, 'LOCKED'::text, 'RUNNING'::text, 'SUCCEEDED'::text, 'FAILED'::text, 'WITHDRAWN'::text])))
)
WITH (fillfactor='80');

ALTER TABLE wed.work_item OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.work_item.claim IS 'Number of the present claim; raised whenever the holder changes.';

COMMENT ON COLUMN wed.work_item.candidates IS 'Whether its task names users or groups beside its role.';

COMMENT ON COLUMN wed.work_item.offered_at IS 'Last round of offers; the next comes renotify later.';

COMMENT ON COLUMN wed.work_item.alarm_at IS 'When the sweep looks at its deadline or escalation next.';

CREATE FUNCTION wed.apply_report(_item wed.work_item, _person wed.person, _success boolean, _values jsonb, _reason text, _now timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    AS $$
DECLARE
  _task wed.work_task;
  _job wed.job;
  _state text := CASE WHEN _success THEN 'SUCCEEDED' ELSE 'FAILED' END;
BEGIN
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  SELECT * INTO _job FROM wed.job WHERE flow_id = _item.flow_id AND wid = _item.wid AND tgid = _item.tgid FOR UPDATE;
  IF wed.is_paused(_job.due) THEN
    RAISE EXCEPTION 'instance % is paused', _item.wid USING ERRCODE = 'WF087', HINT = 'Report again when an operator resumed it.';
  END IF;
  _values := wed.checked_values(_item, _task, _values);
  UPDATE wed.work_item SET state = _state, ended_at = _now, alarm_at = NULL WHERE item_id = _item.item_id;
  DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
  IF _success OR _task.state_attribute IS NOT NULL THEN
    IF _task.state_attribute IS NOT NULL THEN
      _values := _values || jsonb_build_object(_task.state_attribute, _state);
    END IF;
    PERFORM wed.write_values(_item.flow_id, _item.wid, _values);
    PERFORM wed.settle(wed.as_it_stands(_item.flow_id, _item.wid), ARRAY[_job.tgid], ARRAY[_job.token], NULL, NULL, NULL,
                       wed.reasoned(_person.name, _reason));
  ELSE
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
    VALUES (_job.flow_id, _job.wid, _job.tgid, _job.trname, 1, 'failed', wed.reasoned(_person.name, _reason), session_user);
    PERFORM wed.pass_as_it_stands(_item.flow_id, _item.wid, _job.tgid, '_ABORT',
      format('%s: failed by %s', _job.trname, wed.reasoned(_person.name, _reason)), NULL, NULL);
  END IF;
  PERFORM wed.record_work(_item, _person.name, lower(_state),
    jsonb_build_object('set', (SELECT jsonb_agg(k ORDER BY k) FROM jsonb_object_keys(_values) k), 'reason', _reason), _now);
  IF NOT _success THEN
    PERFORM wed.send_message(wed.in_charge(_item.flow_id, _item.wid), 'task_failed', wed.work_place(_item.flow_id, _item.wid),
      format('%s failed: %s', _item.task, wed.reasoned(_person.name, _reason)), _item.item_id, _now);
  END IF;
  PERFORM wed.tell_people(_item.tenant_id);
  RETURN jsonb_build_object('applied', true, 'item', _item.item_id, 'state', _state,
    'instance', (SELECT status FROM wed.instance WHERE flow_id = _item.flow_id AND wid = _item.wid));
END $$;

ALTER FUNCTION wed.apply_report(_item wed.work_item, _person wed.person, _success boolean, _values jsonb, _reason text, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.as_it_stands(_flow_id integer, _wid integer) RETURNS wed.evaluated[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _shape text;
  _rows wed.evaluated[];
BEGIN
  SELECT shape_schema INTO _shape FROM wed.flow WHERE flow_id = _flow_id;
  EXECUTE format('SELECT %1$I.current_%1$s(ARRAY[$1])', _shape) INTO _rows USING _wid;
  RETURN _rows;
END $_$;

ALTER FUNCTION wed.as_it_stands(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE TABLE wed.flow (
    flow_id integer NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    schema_name text NOT NULL,
    shape_schema text NOT NULL,
    role_name text NOT NULL,
    role_password text NOT NULL,
    excpt_tgid integer NOT NULL,
    open_attributes text[] DEFAULT '{}'::text[] NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    constrained boolean DEFAULT false NOT NULL,
    ordered boolean DEFAULT false NOT NULL,
    order_attribute text,
    CONSTRAINT flow_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text))
);

ALTER TABLE wed.flow OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.flow.version IS 'Raised by every change of attributes, triggers or bindings.';

COMMENT ON COLUMN wed.flow.ordered IS 'Tasks of it have, or had, an order: what is done is kept in wed.task_done.';

COMMENT ON COLUMN wed.flow.order_attribute IS 'The attribute by which a transition''s result sets the order of its instance''s tasks.';

CREATE FUNCTION wed.ask(_flow wed.flow, _wids integer[], _ready timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    AS $_$
DECLARE
  _jobs tid[];
  _of integer[];
  _tgids integer[];
  _keys jsonb[];
  _asked integer[];
BEGIN
  IF _flow.ordered THEN
    UPDATE wed.job j SET blocked = 'p'
    WHERE j.flow_id = _flow.flow_id AND j.wid = ANY (_wids) AND j.blocked = 'a' AND NOT wed.is_in_order(_flow.flow_id, j.wid, j.tgid);
  END IF;
  SELECT array_agg(j.ctid ORDER BY j.wid, j.tgid), array_agg(j.wid ORDER BY j.wid, j.tgid), array_agg(j.tgid ORDER BY j.wid, j.tgid)
  INTO _jobs, _of, _tgids FROM wed.job j
  WHERE j.flow_id = _flow.flow_id AND j.wid = ANY (_wids) AND j.blocked IS NOT NULL
    AND (j.blocked = 'a' OR j.blocked = 'p' AND wed.is_in_order(_flow.flow_id, j.wid, j.tgid));
  IF _of IS NULL THEN RETURN; END IF;
  IF EXISTS (SELECT FROM wed.trigger_constraint WHERE tgid = ANY (_tgids) AND keys IS NOT NULL) THEN
    EXECUTE format('SELECT %1$I.keys_%1$s(ARRAY(SELECT ROW(w.*)::%1$I.wed_flow FROM unnest($1) WITH ORDINALITY u(wid, at)
                      JOIN %2$I.wed_flow w ON w.wid = u.wid ORDER BY u.at), $2)', _flow.shape_schema, _flow.schema_name)
      INTO _keys USING _of, _tgids;
    _asked := wed.queue_requests(_flow, _jobs, _of, _tgids, _keys, _ready);
  END IF;
  IF cardinality(_asked) = cardinality(_of) THEN RETURN; END IF;
  IF wed.make_due(_flow.flow_id, ARRAY(SELECT _of[at] FROM generate_subscripts(_of, 1) at WHERE at = ANY (_asked) IS NOT TRUE),
                      ARRAY(SELECT _tgids[at] FROM generate_subscripts(_of, 1) at WHERE at = ANY (_asked) IS NOT TRUE), true) > 0 THEN
    PERFORM pg_notify('wed_jobs', '');
  END IF;
END $_$;

ALTER FUNCTION wed.ask(_flow wed.flow, _wids integer[], _ready timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.ask_again(_flow_id integer, _wids integer[], _tgids integer[], _ready timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
  _flow wed.flow;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  UPDATE wed.job j SET blocked = 'a', due = 'infinity'
  FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
  JOIN wed.trigger_constraint c ON c.tgid = u.tgid AND c.keys IS NOT NULL
  WHERE j.flow_id = _flow_id AND j.wid = u.wid AND j.tgid = u.tgid;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM wed.free(_flow, _wids, _tgids, false);
  PERFORM wed.ask(_flow, _wids, _ready);
END $$;

ALTER FUNCTION wed.ask_again(_flow_id integer, _wids integer[], _tgids integer[], _ready timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.attempts_of(_flow_id integer, _wid integer) RETURNS TABLE(seq integer, attempt_id bigint, tgid integer, trigger text, trname text, attempt integer, outcome text, message text, fuel bigint, elapsed_us bigint, memory_bytes bigint, writer text, tstmp timestamp with time zone, timeout_ms bigint, component_id integer, component text, version integer, exact boolean, from_seq integer, recorded boolean, deadline bigint, answers jsonb, digest text, xid xid8)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  WITH made AS (
    SELECT t.seq, NULL::bigint AS attempt_id, t.tgid, t.trw AS trname, t.attempt, 'returned' AS outcome,
           NULL::text AS message, t.fuel, t.elapsed_us, t.memory_bytes, t.writer, t.tstmp, t.xid,
           t.component_id, t.from_seq
    FROM wed.trace t
    WHERE t.flow_id = _flow_id AND t.wid = _wid AND t.tgid IS NOT NULL AND t.trw !~ '^_(ABORT|SKIP|EVENT|REMATCH)$'
      AND t.writer LIKE 'host:%'
    UNION ALL
    SELECT NULL, a.attempt_id, a.tgid, a.trname, a.attempt, a.outcome, a.message, a.fuel, a.elapsed_us,
           a.memory_bytes, a.writer, a.tstmp, a.xid, NULL, NULL
    FROM wed.attempt a WHERE a.flow_id = _flow_id AND a.wid = _wid
  )
  SELECT m.seq, m.attempt_id, m.tgid, coalesce(nullif(g.tgname, ''), m.tgid::text), m.trname, m.attempt, m.outcome,
         m.message, m.fuel, m.elapsed_us, m.memory_bytes, m.writer, m.tstmp, g.timeout_ms, c.component_id, c.name,
         c.version, coalesce(m.component_id, r.component_id) IS NOT NULL, coalesce(m.from_seq, r.from_seq, f.seq),
         r.xid IS NOT NULL, r.deadline, r.answers, r.digest, m.xid
  FROM made m
  LEFT JOIN wed.trigger g ON g.tgid = m.tgid
  LEFT JOIN wed.recording r ON r.flow_id = _flow_id AND r.wid = _wid AND r.xid = m.xid AND r.tgid = m.tgid
  LEFT JOIN LATERAL (
    SELECT max(t.seq) AS seq FROM wed.trace t
    WHERE t.flow_id = _flow_id AND t.wid = _wid AND m.trname = ANY (t.trf) AND t.tstmp <= m.tstmp
      AND t.seq < coalesce(m.seq, 2147483647)) f ON true
  LEFT JOIN LATERAL (
    SELECT c.component_id FROM wed.binding b
    JOIN wed.flow w ON w.flow_id = b.flow_id
    JOIN wed.component c ON c.tenant_id = w.tenant_id AND c.name = b.component_name AND c.created_at <= m.tstmp
    WHERE b.flow_id = _flow_id AND b.trname = m.trname
    ORDER BY c.version DESC LIMIT 1) n ON true
  LEFT JOIN wed.component c ON c.component_id = coalesce(m.component_id, r.component_id, n.component_id)
  ORDER BY m.tstmp, m.seq, m.attempt_id
$_$;

ALTER FUNCTION wed.attempts_of(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.attribute_type(_atype text, OUT sql_type text, OUT labels text[]) RETURNS record
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
DECLARE
  _base text := lower(btrim(regexp_replace(_atype, '\s*\[\]\s*$', '')));
  _array text := CASE WHEN _atype ~ '\[\]\s*$' THEN '[]' ELSE '' END;
BEGIN
  sql_type := CASE _base
    WHEN 'text' THEN 'text' WHEN 'integer' THEN 'integer' WHEN 'int' THEN 'integer' WHEN 'int4' THEN 'integer'
    WHEN 'bigint' THEN 'bigint' WHEN 'int8' THEN 'bigint' WHEN 'numeric' THEN 'numeric'
    WHEN 'decimal' THEN 'numeric' WHEN 'float' THEN 'double precision' WHEN 'float8' THEN 'double precision'
    WHEN 'double precision' THEN 'double precision' WHEN 'boolean' THEN 'boolean' WHEN 'bool' THEN 'boolean'
    WHEN 'timestamptz' THEN 'timestamptz' WHEN 'timestamp with time zone' THEN 'timestamptz'
    WHEN 'date' THEN 'date' WHEN 'interval' THEN 'interval' WHEN 'uuid' THEN 'uuid' WHEN 'jsonb' THEN 'jsonb'
  END;
  IF sql_type IS NULL AND _base ~ '^enum\s*\([^()]+\)$' THEN
    SELECT array_agg(btrim(l, ' ''')) INTO labels
    FROM regexp_split_to_table(substring(btrim(_atype) FROM '\(([^()]*)\)'), ',') AS l;
    IF '' <> ALL (labels) THEN sql_type := 'text'; END IF;
  END IF;
  IF sql_type IS NULL THEN
    RAISE EXCEPTION 'unknown attribute type "%"', left(coalesce(_atype, 'null'), 80) USING ERRCODE = 'WF012',
      HINT = 'Use text, integer, bigint, numeric, float, boolean, timestamptz, date, interval, uuid, jsonb, enum(a,b,...), or one of these followed by [].';
  END IF;
  sql_type := sql_type || _array;
END $_$;

ALTER FUNCTION wed.attribute_type(_atype text, OUT sql_type text, OUT labels text[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.before_trigger() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _unknown text;
  _schema text;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.tgid IS NOT NULL THEN
      RAISE EXCEPTION 'tgid is given by the server' USING ERRCODE = 'WF013',
        HINT = 'Leave tgid out of the INSERT.';
    END IF;
  ELSIF NEW.tgid IS DISTINCT FROM OLD.tgid THEN
    RAISE EXCEPTION 'the tgid of a trigger cannot change' USING ERRCODE = 'WF013',
      HINT = 'Change the other columns, or insert a new trigger.';
  END IF;
  NEW.cfinal := coalesce(NEW.cfinal, false);
  NEW.enabled := coalesce(NEW.enabled, true);
  NEW.recheck := coalesce(NEW.recheck, true);
  NEW.timeout := coalesce(NEW.timeout, '1 minute');
  NEW.attempts := coalesce(NEW.attempts, 3);
  NEW.backoff := coalesce(NEW.backoff, '1 second');
  NEW.delay := coalesce(NEW.delay, '0');
  NEW.priority := coalesce(NEW.priority, 0);
  NEW.consumes := coalesce(NEW.consumes, false);
  IF NOT NEW.cfinal AND coalesce(NEW.trname, '') = '' THEN
    RAISE EXCEPTION 'a trigger needs the name of the transition it fires (trname)' USING ERRCODE = 'WF013',
      HINT = 'Set trname, or set cfinal for the final condition.';
  END IF;
  IF NEW.cfinal AND NEW.trname IS NOT NULL AND NEW.trname <> '_FINAL' THEN
    RAISE EXCEPTION 'the final condition fires no transition' USING ERRCODE = 'WF013',
      HINT = 'Leave trname out.';
  END IF;
  IF NOT NEW.cfinal AND (NEW.trname ~ '^_' OR octet_length(NEW.trname) > 63 OR NEW.trname ~ '[[:cntrl:]]') THEN
    RAISE EXCEPTION 'the transition name % is not allowed', quote_literal(left(NEW.trname, 80))
      USING ERRCODE = 'WF013', HINT = 'At most 63 bytes, no control characters, no underscore in front.';
  END IF;
  -- Longer ones make no moment that a job could be due at.
  IF greatest(NEW.timeout, NEW.backoff, NEW.delay) > interval '100 years' THEN
    RAISE EXCEPTION 'timeout, backoff and delay are at most 100 years' USING ERRCODE = 'WF013',
      HINT = 'For example: timeout ''30 s'', backoff ''1 s'', delay ''2 days''.';
  END IF;
  IF NEW.timeout <= '0' OR NEW.backoff < '0' OR NEW.delay < '0' OR NEW.attempts NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'timeout must be positive, delay and backoff not negative, attempts from 1 to 1000'
      USING ERRCODE = 'WF013', HINT = 'For example: timeout ''30 s'', backoff ''1 s'', attempts 3.';
  END IF;
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer;
  -- Deeper than one, it is on_attribute that writes, after a renaming.
  IF NEW.writes IS NOT NULL AND pg_trigger_depth() = 1 THEN
    EXECUTE format('SELECT w FROM unnest($1) w WHERE w NOT IN (SELECT aname FROM %I.wed_attr) LIMIT 1', _schema)
      INTO _unknown USING NEW.writes;
    IF _unknown IS NOT NULL THEN
      RAISE EXCEPTION 'writes names "%", which is no attribute of this flow', _unknown
        USING ERRCODE = 'WF013', HINT = 'Insert it into wed_attr first.';
    END IF;
  END IF;
  IF NEW.cfinal THEN
    EXECUTE format('SELECT tgid::text FROM %I.wed_trig WHERE cfinal AND tgid IS DISTINCT FROM $1', _schema)
      INTO _unknown USING NEW.tgid;
    IF _unknown IS NOT NULL THEN
      RAISE EXCEPTION 'this flow has a final condition already (tgid %)', _unknown
        USING ERRCODE = 'WF013', HINT = 'A flow has at most one: combine the predicates with OR.';
    END IF;
  END IF;
  IF TG_OP = 'INSERT' THEN
    -- All flows share these numbers: none is taken for what is refused.
    NEW.tgid := nextval('wed.tgid_seq');
  END IF;
  RETURN NEW;
END $_$;

ALTER FUNCTION wed.before_trigger() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.binding_faults(_flow_id integer) RETURNS SETOF text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _names text[];
BEGIN
  EXECUTE format('SELECT coalesce(array_agg(aname), ''{}'') FROM %I.wed_attr', _schema) INTO _names;
  RETURN QUERY
    SELECT format('component %s was not uploaded: transition %s waits until it is', b.component_name, b.trname)
    FROM wed.binding b WHERE b.flow_id = _flow_id AND wed.bound_component(_flow_id, b.trname) IS NULL ORDER BY b.trname;
  RETURN QUERY
    WITH bound AS (
      SELECT b.trname, c.name, (SELECT t FROM jsonb_array_elements(c.manifest -> 'transitions') t
                                WHERE t ->> 'transition' = b.trname LIMIT 1) AS declared
      FROM wed.binding b JOIN wed.component c ON c.component_id = wed.bound_component(_flow_id, b.trname)
      WHERE b.flow_id = _flow_id)
    SELECT format('component %s does not declare transition %s', b.name, b.trname) FROM bound b WHERE b.declared IS NULL
    UNION ALL
    SELECT DISTINCT format('transition %s of component %s uses attribute "%s", which the flow has not', b.trname, b.name, a ->> 'name')
    FROM bound b CROSS JOIN LATERAL (VALUES (b.declared -> 'reads'), (b.declared -> 'writes')) l(list)
    CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(l.list) WHEN 'array' THEN l.list ELSE '[]' END) a
    WHERE a ->> 'name' <> ALL (_names);
  RETURN QUERY
    SELECT format('trigger %s is disabled: its condition is not evaluated', coalesce(nullif(t.tgname, ''), t.tgid::text))
    FROM wed.trigger t WHERE t.flow_id = _flow_id AND NOT t.enabled ORDER BY t.tgid;
END $$;

ALTER FUNCTION wed.binding_faults(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.bound_attribute(_schema text, _name text, _sql_type text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
  IF _sql_type IN ('text', 'jsonb') OR _sql_type ~ '\[\]$' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I SET STORAGE EXTERNAL', _schema, _name);
  END IF;
  IF _sql_type ~ '\[\]$' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (
        cardinality(%I) <= 4096 OR wed_bounded.refuse_elements(%L, cardinality(%3$I))) NOT VALID',
      _schema, 'size_' || md5(_name), _name, _name);
  END IF;
  IF _sql_type = 'numeric' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (
        (abs(%I) < 1e100 AND scale(%3$I) <= 100) IS NOT FALSE AND %3$I <> ''NaN''
        OR wed_bounded.few_digits(%3$I) OR wed_bounded.refuse_digits(%L)) NOT VALID',
      _schema, 'digits_' || _name, _name, _name);
  ELSIF _sql_type = 'numeric[]' THEN
    EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (
        wed_bounded.few_digits(%I) OR wed_bounded.refuse_digits(%L)) NOT VALID',
      _schema, 'digits_' || _name, _name, _name);
  END IF;
END $_$;

ALTER FUNCTION wed.bound_attribute(_schema text, _name text, _sql_type text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.bound_component(_flow_id integer, _trname text) RETURNS integer
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT c.component_id
  FROM wed.binding b JOIN wed.flow f USING (flow_id)
  JOIN wed.component c ON c.tenant_id = f.tenant_id AND c.name = b.component_name
  WHERE b.flow_id = _flow_id AND b.trname = _trname
  ORDER BY c.activated_at DESC, c.version DESC LIMIT 1
$$;

ALTER FUNCTION wed.bound_component(_flow_id integer, _trname text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.bound_rows(_schema text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT bytes CHECK (pg_column_size(wed_flow.*) <= 262144
                    OR wed_bounded.refuse_row(wed_flow.*))', _schema);
END $$;

ALTER FUNCTION wed.bound_rows(_schema text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.break_circles() RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $$
DECLARE
  _stuck bigint[] := wed.stuck_requests();
  _one record;
  _ended bigint := 0;
BEGIN
  FOR _one IN
    SELECT DISTINCT ON (r.tenant_id) r.flow_id, r.wid, r.tgid, t.trname, n.key, w.wid AS by_wid
    FROM wed.request r JOIN wed.trigger t ON t.tgid = r.tgid
    -- It holds what another of them waits for.
    JOIN wed.request h ON h.flow_id = r.flow_id AND h.wid = r.wid AND h.state = 'h'
    JOIN wed.reservation n ON n.request_id = h.request_id
    JOIN wed.reservation v ON v.tenant_id = n.tenant_id AND v.resource = n.resource AND v.key = n.key AND v.request_id = ANY (_stuck)
    JOIN wed.request w ON w.request_id = v.request_id AND (w.flow_id, w.wid) <> (r.flow_id, r.wid)
    WHERE r.request_id = ANY (_stuck) ORDER BY r.tenant_id, r.request_id DESC
  LOOP
    BEGIN
      PERFORM wed.pass_as_it_stands(_one.flow_id, _one.wid, _one.tgid, '_ABORT', format(
        '%s: waits in a circle: instance %s waits for %s, which this one holds', _one.trname, _one.by_wid, _one.key), NULL, NULL);
      _ended := _ended + 1;
    EXCEPTION WHEN lock_not_available THEN
      NULL; -- at the next sweep
    END;
  END LOOP;
  RETURN _ended;
END $$;

ALTER FUNCTION wed.break_circles() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.came_compressed(_schema text, _row text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  SELECT coalesce('coalesce(' || string_agg(format('pg_column_compression(%s.%I)', _row, a.attname), ', ' ORDER BY a.attnum)
                  || ') IS NOT NULL', 'false')
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = format('%I.wed_flow', _schema)::regclass AND a.attnum > 1 AND NOT a.attisdropped
    AND (a.atttypid IN ('text'::regtype, 'jsonb'::regtype) OR t.typcategory = 'A')
$$;

ALTER FUNCTION wed.came_compressed(_schema text, _row text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.cancel_instance(_flow_id integer, _wid integer, _actor text, _reason text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _last integer;
  _left text[];
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  PERFORM wed.operated(_flow_id, _wid);
  WITH gone AS (DELETE FROM wed.job WHERE flow_id = _flow_id AND wid = _wid RETURNING last_seq, trname)
  SELECT max(last_seq), array_agg(trname ORDER BY trname) INTO _last, _left FROM gone;
  INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, writer, note)
  SELECT _flow_id, _wid, _last + 1, 'F', '_CANCEL', '{}', r.state, _now, session_user, wed.reasoned(_actor, _reason)
  FROM unnest(wed.as_it_stands(_flow_id, _wid)) r;
  UPDATE wed.instance SET status = 'F', changed = _now WHERE flow_id = _flow_id AND wid = _wid;
  IF EXISTS (SELECT FROM wed.flow WHERE flow_id = _flow_id AND constrained) THEN
    PERFORM wed.free(f, ARRAY[_wid], ARRAY[NULL::integer], false) FROM wed.flow f WHERE f.flow_id = _flow_id;
  END IF;
  DELETE FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid;
  DELETE FROM wed.pause WHERE flow_id = _flow_id AND wid = _wid;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.cancel', _wid::text,
                        jsonb_build_object('pending', _left, 'reason', _reason));
END $$;

ALTER FUNCTION wed.cancel_instance(_flow_id integer, _wid integer, _actor text, _reason text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.check_attribute_name(_name text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
BEGIN
  IF _name IS NULL OR _name !~ '^[[:alpha:]][[:alnum:]_]*$' THEN
    RAISE EXCEPTION 'the attribute name % is not allowed', coalesce(quote_literal(left(_name, 80)), 'null')
      USING ERRCODE = 'WF012', HINT = 'Begin with a letter, go on with letters, digits and underscores.';
  END IF;
  IF octet_length(_name) > 63 THEN
    RAISE EXCEPTION 'the attribute name "%..." is longer than 63 bytes', left(_name, 20)
      USING ERRCODE = 'WF012', HINT = 'Choose a shorter name.';
  END IF;
  IF lower(_name) IN ('wid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid') THEN
    RAISE EXCEPTION 'the attribute name "%" is taken by the server', _name USING ERRCODE = 'WF012',
      HINT = 'wid numbers the instances; ctid, xmin, xmax, cmin, cmax and tableoid are Postgres''s own.';
  END IF;
END $_$;

ALTER FUNCTION wed.check_attribute_name(_name text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.check_expression(_shape_schema text, _tgid integer, _text text, OUT expression text, OUT reads text[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _checked record;
BEGIN
  IF _text IS NULL THEN RETURN; END IF;
  _checked := wed.check_predicate(_shape_schema, _tgid, '(' || wed.check_fragment(_text) || E'\n) IS NOT NULL');
  expression := substring(_checked.predicate FROM '^\((.*) IS NOT NULL\)$');
  reads := _checked.reads;
  -- A constant alone has no type of its own.
  IF expression ~ '^''([^'']|'''')*''$' THEN expression := expression || '::text'; END IF;
  IF expression IS NULL THEN
    RAISE EXCEPTION 'the expression % cannot be reserved', quote_literal(left(_text, 80)) USING ERRCODE = 'WF011',
      HINT = 'Write one value, an array or a document over the attributes.';
  END IF;
END $_$;

ALTER FUNCTION wed.check_expression(_shape_schema text, _tgid integer, _text text, OUT expression text, OUT reads text[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.check_format(_format text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _places integer;
  _wrong integer;
BEGIN
  SELECT count(*), count(*) FILTER (WHERE m[2] NOT IN ('s', 'I', 'L') OR strpos(m[1], '*') > 0 OR EXISTS (
      SELECT FROM regexp_split_to_table(m[1], '[-$]') d WHERE length(d) > 4 OR d <> '' AND d::integer > 1000))
  INTO _places, _wrong FROM regexp_matches(replace(_format, '%%', ''), '%([-0-9$*]*)(.?)', 'g') m;
  IF _wrong > 0 OR _places > 64 THEN
    RAISE EXCEPTION 'the format % holds a placeholder that is not allowed', quote_literal(left(_format, 60)) USING ERRCODE = 'WF011',
      HINT = 'Write %s, %I or %L, at most 64 of them, each at most 1000 wide.';
  END IF;
END $_$;

ALTER FUNCTION wed.check_format(_format text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.check_fragment(_text text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
DECLARE
  _at integer := 1;
  _rest text;
  _token text;
  _open text := '';
  _next text;
  _fault text;
  _before text;
  _bare text := '';
  _depth integer;
  _digits text;
  _number text;
  _hint text := 'A predicate is one expression over the attributes, as after WHERE.';
BEGIN
  IF _text IS NULL OR btrim(_text, E' \t\r\n\v\f') = '' THEN
    RAISE EXCEPTION 'a condition needs a predicate' USING ERRCODE = 'WF011',
      HINT = 'Write what stands after WHERE, for example: a1 = ''ready'' AND a2 IS NULL';
  END IF;
  IF octet_length(_text) > 16384 THEN
    RAISE EXCEPTION 'the predicate has % bytes; 16384 are allowed', octet_length(_text)
      USING ERRCODE = 'WF011', HINT = 'Split it into several triggers.';
  END IF;
  IF _text ~ E'[\x01-\x08\x0e-\x1f]' THEN
    RAISE EXCEPTION 'the predicate holds a control character' USING ERRCODE = 'WF011',
      HINT = 'Remove it; to compare with one, write it as E''\x01'' or compare with an attribute that holds it.';
  END IF;
  LOOP
    _rest := substr(_text, _at);
    EXIT WHEN _rest = '';
    -- Those of these schemas are what is meant without one.
    IF lower(_before) NOT IN ('pg_catalog', 'wed_flow') AND _before ~ $r$([A-Za-z0-9_$")]|[^\x01-\x7f]|\])$r$ AND _rest ~ '^\s*\.\s*[^0-9[:space:]]' THEN
      RAISE EXCEPTION 'names are written without a table or schema' USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at), HINT = 'Write the name alone.';
    ELSIF lower(_before) = 'variadic' OR lower(_before) = 'operator' AND _rest ~ '^\s*\('
          AND _rest !~* replace('^G\(G("?pg_catalog"?G\.G)?([<>=~!@#%^&|?+*]|-(?!-)|/(?!\*))+G\)', 'G', '(?:\s|/\*[^*]*\*/|--[^\n]*\n)*') THEN
      RAISE EXCEPTION '% is not allowed in a predicate', upper(_before) USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at), HINT = 'Write the operator''s sign, the arguments one by one.';
    END IF;
    -- What means nothing here: space, digits, commas, dots, operators without - / and what follows.
    _token := substring(_rest FROM $r$^[^-A-Za-z_'"$;\\`()\[\]/\x80-\U0010ffff]+$r$);
    IF _token IS NULL THEN
      _token := substring(_rest FROM $r$^(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*$r$);
      IF _token IN ('e', 'E') AND substr(_rest, 2, 1) = '''' THEN
        _token := substring(_rest FROM $r$^[eE]'(?:[^'\\]|''|\\.)*'$r$);
        _fault := CASE WHEN _token IS NULL THEN 'an unterminated string' END;
      END IF;
    END IF;
    IF _token IS NULL AND _fault IS NULL THEN
      CASE left(_rest, 1)
        WHEN '''' THEN
          _token := substring(_rest FROM $r$^'(?:[^']|'')*'$r$);
          _fault := CASE WHEN _token IS NULL THEN 'an unterminated string' END;
        WHEN '"' THEN
          _token := substring(_rest FROM $r$^"(?:[^"]|"")*"$r$);
          _fault := CASE WHEN _token IS NULL THEN 'an unterminated quoted name' END;
        WHEN '$' THEN
          _token := substring(_rest FROM $r$^\$(?:(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_]|[^\x01-\x7f])*)?\$$r$);
          IF _token IS NULL THEN
            _fault := quote_literal('$');
          ELSIF strpos(substr(_rest, length(_token) + 1), _token) = 0 THEN
            _fault := 'an unterminated string';
          ELSE
            _token := left(_rest, strpos(substr(_rest, length(_token) + 1), _token) - 1 + 2 * length(_token));
          END IF;
        WHEN '-', '/' THEN
          _token := left(_rest, 1);
          IF left(_rest, 2) = '--' THEN
            _token := substring(_rest FROM $r$^[^\n\r]*$r$);
          ELSIF left(_rest, 2) = '/*' THEN
            _token := '/*';
            _depth := 1;
            WHILE _depth > 0 LOOP
              _next := substring(substr(_rest, length(_token) + 1) FROM $r$^(?:[^*/]|\*(?!/)|/(?!\*))*(?:\*/|/\*)$r$);
              IF _next IS NULL THEN
                _fault := 'an unterminated comment';
                EXIT;
              END IF;
              _token := _token || _next;
              _depth := _depth + CASE right(_next, 2) WHEN '*/' THEN -1 ELSE 1 END;
            END LOOP;
          END IF;
        WHEN '(', '[' THEN
          _token := left(_rest, 1);
          _open := _open || _token;
          IF length(_open) > 200 THEN
            RAISE EXCEPTION 'the predicate nests more than 200 brackets' USING ERRCODE = 'WF011',
              HINT = 'Write it with fewer brackets.';
          END IF;
        WHEN ')', ']' THEN
          _token := left(_rest, 1);
          IF right(_open, 1) IS DISTINCT FROM translate(_token, ')]', '([') THEN
            RAISE EXCEPTION 'a closing bracket of the predicate was never opened' USING ERRCODE = 'WF011',
              DETAIL = format('At character %s of the predicate.', _at), HINT = 'Balance the brackets.';
          END IF;
          _open := left(_open, -1);
        ELSE
          _fault := quote_literal(left(_rest, 1));
      END CASE;
    END IF;
    IF _fault IS NOT NULL THEN
      RAISE EXCEPTION '% is not allowed in a predicate', _fault USING ERRCODE = 'WF011',
        DETAIL = format('At character %s of the predicate.', _at), HINT = _hint;
    END IF;
    _at := _at + length(_token);
    IF _token ~ '^(--|/\*)' THEN
      _bare := _bare || regexp_replace(_token, '[^\n\r]', ' ', 'g');
      CONTINUE;
    END IF;
    -- What follows digits without a space is a number as later versions write it: with underscores, to another base.
    _digits := CASE WHEN _token ~ '^[A-Za-z_]' THEN substring(_bare FROM '[0-9.]+$') END;
    _number := CASE WHEN _digits IS NOT NULL AND current_setting('server_version_num')::integer < 160000 THEN wed.plain_number(_digits, _token) END;
    IF _number IS NOT NULL THEN
      _bare := left(_bare, -length(_digits)) || repeat(' ', length(_digits) + length(_token) - length(_number));
      _token := _number;
    END IF;
    -- Earlier versions know no AT LOCAL; it is UTC where conditions are evaluated.
    IF lower(_token) = 'local' AND lower(_before) = 'at' AND current_setting('server_version_num')::integer < 170000 THEN
      _bare := _bare || 'TIME ZONE ''UTC''';
      _before := NULL;
      CONTINUE;
    END IF;
    _bare := _bare || _token;
    -- White space joins what it stands between; of a string nothing is asked.
    IF _token !~ '^\s+$' THEN
      _before := CASE WHEN _token IN ('"pg_catalog"', '"wed_flow"') THEN btrim(_token, '"')
                      WHEN _token ~ '^[(\[\])"]' THEN right(_token, 1)
                      WHEN _token ~ $r$^[A-Za-z_]|^[^\x01-\x7f]$r$ AND right(_token, 1) <> '''' THEN _token END;
    END IF;
  END LOOP;
  IF _open <> '' THEN
    RAISE EXCEPTION 'an opening bracket of the predicate is never closed' USING ERRCODE = 'WF011',
      HINT = 'Balance the brackets.';
  END IF;
  IF btrim(_bare, E' \t\r\n\v\f') = '' THEN
    RAISE EXCEPTION 'a condition needs a predicate' USING ERRCODE = 'WF011',
      HINT = 'It holds a comment only. Write what stands after WHERE, for example: a1 = ''ready'' AND a2 IS NULL';
  END IF;
  RETURN _bare;
END $_$;

ALTER FUNCTION wed.check_fragment(_text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.check_order(_flow_id integer, _wid integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
      HINT = 'Its triggers and transitions: ' || left(array_to_string(ARRAY(SELECT DISTINCT unnest(_names) ORDER BY 1), ', '), 500);
  END IF;
  SELECT c.holds INTO _unknown FROM wed.trigger_constraint c
  WHERE c.flow_id = _flow_id AND c.keys IS NOT NULL AND c.holds NOT IN ('transition', 'instance') AND c.holds <> ALL (_names) LIMIT 1;
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

ALTER FUNCTION wed.check_order(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.check_path(_path text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _bare text := regexp_replace(_path, '"(?:[^"\\]|\\.)*"', '"', 'g');
  _close text := regexp_replace(_bare, '\s', '', 'g');
  _rest text := _close;
  _group text[];
  _whole boolean := false;     -- a filter looks at more than its own element
  _why text;
BEGIN
  -- From the innermost brackets outwards.
  LOOP
    _group := regexp_match(_rest, '(\??)\(([^()]*)\)');
    EXIT WHEN _group IS NULL OR _whole;
    _whole := _group[1] = '?' AND strpos(_group[2], '$') > 0;
    _rest := overlay(_rest PLACING CASE WHEN _group[1] = '?' THEN '' ELSE _group[2] END
                     FROM strpos(_rest, _group[1] || '(' || _group[2] || ')') FOR length(_group[1] || _group[2]) + 2);
  END LOOP;
  -- As it is written here, each key is in quotes.
  _why := CASE
    WHEN octet_length(_path) > 600 THEN 'is longer than 256 bytes'
    WHEN _bare ~ 'like_regex' THEN 'holds a regular expression'
    WHEN strpos(_close, '**') > 0 THEN 'does not name each step'
    WHEN strpos(_close, ',') > 0 THEN 'takes a list of elements'
    WHEN (SELECT count(*) FROM regexp_matches(_bare, '\[\s*\*\s*\]|\.\s*\*| to |\]to', 'g')) > 2
      OR length(_close) - length(replace(_close, '?', '')) > 2 THEN 'looks at all elements more than twice'
    WHEN _whole THEN 'looks at the whole in a filter'
    WHEN _close ~ '[=<>][-+(]*[@$]' OR _close ~ 'startswith[@$]' THEN 'compares with something else than a constant'
    WHEN EXISTS (SELECT FROM regexp_matches(_close, '(\.?)([a-z0-9_]*)\(', 'gi') m
                 WHERE NOT (m[2] = '' OR m[1] <> '' AND m[2] IN ('type', 'size', 'double', 'ceiling', 'floor', 'abs')
                            OR m[1] = '' AND m[2] = 'exists')) THEN 'has a method that is not allowed'
    END;
  IF _why IS NOT NULL THEN
    RAISE EXCEPTION 'the path % %', quote_literal(left(_path, 60)), _why USING ERRCODE = 'WF011',
      HINT = 'Write ->, ->> or @>, or several paths; docs/reference/conditions.md tells what a path may hold.';
  END IF;
END $_$;

ALTER FUNCTION wed.check_path(_path text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.check_pattern(_pattern text, _similar boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _bare text := regexp_replace(_pattern, '^\(\?[icnmspw]+\)', '');
  _size numeric;
  _why text;
  _group text[];
  _endless boolean;
  _open boolean;
  _bad boolean;
BEGIN
  IF octet_length(_pattern) > 400 THEN
    _bare := '';
    _why := 'could take very long';
  END IF;
  IF regexp_replace(_bare, '\\\\', '', 'g') ~ '\\[1-9]' THEN
    _why := 'refers to what matched before';
  END IF;
  -- Without escapes and brackets, of which a mark is left each: for one of several characters, for a certain one,
  -- for a place or a group, which may be none.
  _bare := regexp_replace(regexp_replace(regexp_replace(regexp_replace(_bare, '\\[AmMyYZ]', E'\x03', 'g'), '\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[A-Za-z0-9])', E'\x01', 'g'), '\\.', E'\x02', 'g'),
    '\[\^?\]?(?:\[:[a-z]+:\]|\[\.[^]]*\.\]|\[=[^]]*=\]|\[(?![:.=])|[^][])*\]', E'\x01', 'g');
  SELECT (octet_length(_pattern) + coalesce(sum(n) FILTER (WHERE m[1] <> ')'), 0))
         * coalesce(exp(sum(ln(greatest(n, 1)::float8)) FILTER (WHERE m[1] = ')')), 1)
  INTO _size FROM regexp_matches(_bare, '(.)\{(\d+)(?:,(\d*))?\}', 'g') m,
    LATERAL (SELECT CASE WHEN length(m[2]) > 3 OR length(m[3]) > 3 THEN 1000
                    ELSE greatest(m[2]::integer, nullif(m[3], '')::integer) END AS n) x;
  _why := CASE WHEN _pattern ~ '^\*\*\*' THEN 'begins with a director' WHEN _bare ~ '\(\?(?!:)' THEN 'looks around'
               WHEN _size >= 400.5 THEN 'could take very long' ELSE _why END;
  -- A group repeated without end, of something repeated without end and nothing certain that must come in between.
  _bare := replace(_bare, '(?:', '(');
  LOOP
    _group := regexp_match(_bare, '\(([^()]*)\)([*+]|\{\d+,\})?');
    EXIT WHEN _group IS NULL OR _why IS NOT NULL;
    SELECT bool_or(endless), bool_or(NOT fixed), bool_or(endless AND NOT fixed) INTO _endless, _open, _bad
    FROM regexp_split_to_table(_group[1], '\|') b, LATERAL (SELECT b ~ '[*+]|,\}' AS endless,
      regexp_replace(b, '(?:.)(?:[*+?]|\{[^}]*\})', '', 'g') ~ E'[^\x03.^$?]' AS fixed) x;
    IF _bad AND _group[2] IS NOT NULL THEN
      _why := 'repeats without end what is repeated without end';
    END IF;
    _bare := regexp_replace(_bare, '\([^()]*\)', CASE WHEN NOT _endless THEN E'\x03' WHEN _open THEN E'\x03+' ELSE 'f' END);
  END LOOP;
  IF _why IS NULL THEN
    BEGIN
      PERFORM 'x' ~ CASE WHEN _similar THEN similar_to_escape(_pattern) ELSE _pattern END;
    EXCEPTION WHEN invalid_regular_expression THEN
      _why := 'cannot be read: ' || SQLERRM;
    END;
  END IF;
  IF _why IS NOT NULL THEN
    RAISE EXCEPTION 'the regular expression % %', quote_literal(left(_pattern, 60)), _why USING ERRCODE = 'WF011',
      HINT = 'Make it shorter and repeat less; a repeated group counts as often as it is repeated. Join two conditions by AND instead of looking around.';
  END IF;
END $_$;

ALTER FUNCTION wed.check_pattern(_pattern text, _similar boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.check_predicate(_shape_schema text, _tgid integer, _text text, OUT predicate text, OUT reads text[], OUT timely boolean, OUT weight integer) RETURNS record
    LANGUAGE plpgsql
    SET standard_conforming_strings TO 'on'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    AS $_$
DECLARE
  _tree text;
  _relation oid := format('%I.wed_flow', _shape_schema)::regclass;
BEGIN
  _text := wed.check_fragment(_text);
  PERFORM wed.take_off_shape(_shape_schema, _tgid);
  BEGIN
    PERFORM wed.put_on_shape(_shape_schema, _tgid, _text);
  EXCEPTION WHEN feature_not_supported THEN
    RAISE EXCEPTION '%', CASE WHEN SQLERRM ~ 'subquer' THEN 'a predicate may not hold a subquery'
                              ELSE 'a predicate may not hold this: ' || SQLERRM END USING ERRCODE = 'WF011',
      DETAIL = wed.place('select', _text),
      HINT = 'A predicate looks at the attributes of its own instance only.';
  END;
  SELECT c.conbin::text, pg_get_expr(c.conbin, c.conrelid),
         coalesce((SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
                   WHERE a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)), '{}')
  INTO _tree, predicate, reads
  FROM pg_constraint c WHERE c.conrelid = _relation AND c.conname = 'c' || _tgid;
  -- Everybody can read constraints.
  PERFORM wed.take_off_shape(_shape_schema, _tgid);
  weight := wed.check_tree(_tree, _text);
  IF 'wid' = ANY (reads) THEN
    RAISE EXCEPTION 'wid is the identity of an instance, not an attribute' USING ERRCODE = 'WF011',
      DETAIL = wed.place('wid', _text), HINT = 'A condition is over the attributes.';
  END IF;
  IF predicate ~ $r$'[^']*[0-9.]{39}[^']*'::(numeric|jsonb|numrange)|(^|[^'0-9])[0-9.]{39}$r$ THEN
    RAISE EXCEPTION 'a number of the predicate is too large' USING ERRCODE = 'WF011',
      HINT = 'At most 38 digits, before and behind the point together.';
  END IF;
  IF regexp_replace(predicate, '''(?:[^'']|'''')*''', '', 'g') ~ 'character\([0-9]{4,}\)' THEN
    RAISE EXCEPTION 'char(n) is too long' USING ERRCODE = 'WF011', HINT = 'At most 999; use text, which needs no length.';
  END IF;
  IF EXISTS (SELECT FROM regexp_matches(predicate, $r$(?:AT TIME ZONE |timezone\()'((?:[^']|'')*)'::text$r$, 'g') z
             WHERE NOT wed.is_zone(z[1])) THEN
    RAISE EXCEPTION 'a time zone is written by its name' USING ERRCODE = 'WF011', HINT = 'For example ''UTC'', ''Europe/Berlin'' or ''+02''.';
  END IF;
  PERFORM wed.guarded(predicate);
  timely := _tree ~ '\{(SQLVALUEFUNCTION|COERCEVIAIO)' OR EXISTS (
    SELECT FROM regexp_matches(_tree, ':funcid (\d+)', 'g') AS m JOIN pg_proc p ON p.oid = m[1]::oid
    WHERE p.provolatile <> 'i'
    UNION ALL
    SELECT FROM regexp_matches(_tree, ':opno (\d+)', 'g') AS m JOIN pg_operator o ON o.oid = m[1]::oid
    JOIN pg_proc p ON p.oid = o.oprcode WHERE p.provolatile <> 'i');
END $_$;

ALTER FUNCTION wed.check_predicate(_shape_schema text, _tgid integer, _text text, OUT predicate text, OUT reads text[], OUT timely boolean, OUT weight integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.check_tree(_tree text, _text text) RETURNS integer
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
  _bad text;
BEGIN
  SELECT m[1] INTO _bad FROM regexp_matches(_tree, '\{([A-Z_]+)', 'g') AS m
  WHERE m[1] NOT IN ('VAR', 'CONST', 'FUNCEXPR', 'OPEXPR', 'DISTINCTEXPR', 'NULLIFEXPR',
    'SCALARARRAYOPEXPR', 'BOOLEXPR', 'RELABELTYPE', 'COERCEVIAIO', 'ARRAYCOERCEEXPR', 'CASE', 'CASEEXPR',
    'WHEN', 'CASEWHEN', 'CASETESTEXPR', 'ARRAY', 'ARRAYEXPR', 'COALESCE', 'COALESCEEXPR', 'MINMAX',
    'MINMAXEXPR', 'SQLVALUEFUNCTION', 'NULLTEST', 'BOOLEANTEST', 'SUBSCRIPTINGREF', 'ROWCOMPARE',
    'ROWCOMPAREEXPR', 'NAMEDARGEXPR', 'COLLATE', 'COLLATEEXPR', 'ROW', 'ROWEXPR') LIMIT 1;
  IF _bad IS NOT NULL THEN
    RAISE EXCEPTION 'a predicate may not hold a % expression', lower(_bad) USING ERRCODE = 'WF011',
      HINT = 'Use comparisons, boolean logic, CASE, COALESCE, arithmetic, casts and the listed functions over the attributes.';
  END IF;
  IF (SELECT count(*) FILTER (WHERE m[1] IS NULL) FROM regexp_matches(_tree, '(\{NULLTEST :arg )?\{ROW(?:EXPR)? ', 'g') m) > 0 THEN
    RAISE EXCEPTION 'a predicate may not hold a row of values here' USING ERRCODE = 'WF011',
      HINT = 'Rows are compared with rows, or tested for null.';
  END IF;
  SELECT coalesce(c.collname, '?') INTO _bad FROM regexp_matches(_tree, ':collOid (\d+)', 'g') m LEFT JOIN pg_collation c ON c.oid = m[1]::oid
  WHERE (c.collnamespace = 'pg_catalog'::regnamespace AND c.collname IN ('C', 'POSIX', 'default', 'ucs_basic')) IS NOT TRUE LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the collation % is not allowed in a predicate', quote_ident(_bad) USING ERRCODE = 'WF011',
      DETAIL = wed.place(_bad, _text), HINT = 'Write COLLATE "C" for the order of bytes; lower(...) compares without regard to case.';
  END IF;
  IF _tree ~ '\{SQLVALUEFUNCTION :op (9|1[0-9])' THEN
    RAISE EXCEPTION 'who evaluates a predicate, and where, is not for it to see' USING ERRCODE = 'WF011',
      HINT = 'A predicate looks at the attributes of its own instance only.';
  END IF;
  IF _tree ~ ':varattno (0|-)' THEN
    RAISE EXCEPTION 'a predicate may name attributes only, not the whole row or a system column'
      USING ERRCODE = 'WF011', HINT = 'Name the attributes.';
  END IF;
  SELECT p.proname INTO _bad
  FROM (SELECT DISTINCT m[1]::oid AS fn FROM regexp_matches(_tree, ':funcid (\d+)', 'g') AS m) f
  LEFT JOIN pg_proc p ON p.oid = f.fn
  WHERE p.oid IS NULL OR p.pronamespace <> 'pg_catalog'::regnamespace OR p.provolatile = 'v' OR p.proretset
    OR NOT (p.proname IN (SELECT name FROM wed.allowed_function)
            OR p.oid IN (SELECT castfunc FROM pg_cast))
    -- These take a regular expression of another kind, or numbers that take very long.
    OR p.oid IN ('substring(text,text,text)'::regprocedure, 'similar_to_escape(text,text)'::regprocedure,
                 'gcd(numeric,numeric)'::regprocedure, 'lcm(numeric,numeric)'::regprocedure)
    -- A cast from text to a path into a document, and one with values of its own.
    OR p.prorettype = 'jsonpath'::regtype LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the function % is not allowed in a predicate', coalesce(_bad, '?')
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad, _text), HINT = 'docs/reference/conditions.md lists the functions that are.';
  END IF;
  SELECT o.oprname INTO _bad
  FROM (SELECT DISTINCT m[1]::oid AS op FROM regexp_matches(_tree, ':opno (\d+)', 'g') AS m) f
  LEFT JOIN pg_operator o ON o.oid = f.op
  WHERE o.oid IS NULL OR o.oprnamespace <> 'pg_catalog'::regnamespace
    OR o.oprname NOT IN ('=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '||', '~~', '!~~', '~~*',
      '!~~*', '->', '->>', '#>', '#>>', '#-', '@>', '<@', '?', '?|', '?&', '&&', '&', '|', '#', '<<', '>>', '^',
      '~', '~*', '!~', '!~*', '^@', '@', '|/', '||/', '@?', '@@', '-|-')
    OR o.oprname = '@@' AND o.oprright <> 'jsonpath'::regtype
    LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the operator % is not allowed in a predicate', coalesce(_bad, '?')
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad, _text), HINT = 'Use comparison, arithmetic, ||, LIKE, and the operators of jsonb and arrays.';
  END IF;
  IF _tree ~ '\{SCALARARRAYOPEXPR' AND EXISTS (
    SELECT FROM regexp_matches(_tree, '\{SCALARARRAYOPEXPR :opno (\d+)', 'g') m JOIN pg_operator o ON o.oid = m[1]::oid
    WHERE o.oprname NOT IN ('=', '<>', '<', '<=', '>', '>=', '~~', '!~~', '~~*', '!~~*')) THEN
    RAISE EXCEPTION 'ANY and ALL take a comparison or LIKE in a predicate' USING ERRCODE = 'WF011',
      HINT = 'Join several conditions by OR.';
  END IF;
  IF (SELECT count(*) FROM regexp_matches(_tree, '\{FUNCEXPR :funcid', 'g')) > 400
     OR (SELECT count(*) FROM regexp_matches(_tree, '\{OPEXPR :opno (?:1760|1761|1762|1038) ', 'g')) > 64 THEN
    RAISE EXCEPTION 'the predicate holds too many calls, or products of decimals' USING ERRCODE = 'WF011',
      HINT = 'At most 64 products; compute some of it in a transition.';
  END IF;
  SELECT format_type(f.ty, NULL) INTO _bad
  FROM (SELECT DISTINCT m[1]::oid AS ty
        FROM regexp_matches(_tree, ':(?:consttype|resulttype|funcresulttype|opresulttype|vartype|array_typeid) (\d+)', 'g') AS m) f
  LEFT JOIN pg_type t ON t.oid = f.ty
  LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
  WHERE t.oid IS NULL OR t.oid = 'jsonpath[]'::regtype OR coalesce(e.typnamespace, t.typnamespace) <> 'pg_catalog'::regnamespace
    OR coalesce(e.typname, t.typname) NOT IN (SELECT name FROM wed.allowed_type) OR e.typtype = 'r' LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the type % is not allowed in a predicate', coalesce(_bad, '?')
      USING ERRCODE = 'WF011', DETAIL = wed.place(_bad, _text), HINT = 'Use the types that attributes may have.';
  END IF;
  IF _tree ~ format(':resulttype (%s) ', (SELECT string_agg(oid::text, '|') FROM pg_type WHERE typtype = 'r')) THEN
    RAISE EXCEPTION 'text that is cast to a range is written there, in quotes' USING ERRCODE = 'WF011',
      HINT = 'Make a range of its bounds: daterange(a1, a2, ''[]'').';
  END IF;
  IF _tree ~ format(':resulttype %s ', 'jsonpath'::regtype::oid) THEN
    RAISE EXCEPTION 'a path into a document is text in quotes' USING ERRCODE = 'WF011',
      HINT = 'Write it itself; with a key in an attribute use -> and ->>.';
  END IF;
  RETURN wed.check_work(_tree);
END $$;

ALTER FUNCTION wed.check_tree(_tree text, _text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.check_work(_tree text) RETURNS integer
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _part text[];
  _costs bigint[] := '{}';     -- how often what a node gives is made anew in those around it
  _kinds text[] := '{}';
  _children integer[] := '{}';
  _d integer := 0;
  _around bigint;
  _cost bigint;
  _work double precision := 0; -- in parts as large as a row, 256 kB
  _formats text[] := '{}';     -- of format: what it is given
  _name text;
  _wide boolean;
  _type text;
  _types text[] := '{}';
  _conversions integer := 0;   -- of documents and arrays to text, or the other way round
  _extracted integer := 0;     -- texts that are taken out of documents
  _operator oid;
  _again integer[] := '{}';    -- how many around a node make the document anew that it gives
  _below integer[] := '{}';    -- and around what is in it
  _documents integer := 0;     -- of an attribute's size, that are made
  _compared integer := 0;
  _comparing oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprname IN ('=', '<>', '<', '<=', '>', '>=') AND oprleft = 'jsonb'::regtype);
  _extracting oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprname IN ('->>', '#>>'));
  _making oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprname IN ('||', '-', '#-') AND oprresult = 'jsonb'::regtype);
  _joining oid[] := ARRAY(SELECT oid FROM pg_operator WHERE oprcode IN ('textanycat'::regproc, 'anytextcat'::regproc));
  -- What makes text or a document of documents and arrays.
  _writing text := '^(to_jsonb?|array_to_json|array_to_string|jsonb_object|jsonb?_build_(array|object)|concat|concat_ws|format)\(';
  _held integer[] := '{}';     -- how many documents a node's value may hold
  _zones boolean[] := '{}';    -- whether a node gives the name of a time zone, or is a branch of what does
  _zone boolean;
  _more integer;
  _uses integer;
BEGIN
  FOR _part IN SELECT regexp_matches(_tree, '(\{)([A-Z_]+)([^{}]*)|\}([^{}]*)', 'g') LOOP
    IF _part[1] IS NULL THEN
      _d := _d - 1;
      CONTINUE WHEN _d = 0;
      -- The type of a cast stands behind what is cast.
      IF _types[_d] IS NULL AND strpos(_part[4], ':resulttype ') > 0 THEN
        _types[_d] := (SELECT t.typname FROM pg_type t WHERE t.oid = substring(_part[4] FROM ':resulttype (\d+)')::oid);
      END IF;
      -- All that are in an array, or are joined, and the most of those that one is chosen from.
      _held[_d + 1] := CASE
        WHEN _kinds[_d + 1] IN ('NULLTEST', 'BOOLEXPR', 'BOOLEANTEST', 'SCALARARRAYOPEXPR', 'DISTINCTEXPR', 'ROWCOMPARE', 'ROWCOMPAREEXPR') THEN 0
        WHEN _types[_d + 1] IS NULL THEN _held[_d + 1]
        WHEN _types[_d + 1] ~ '^_?jsonb?$' THEN greatest(_held[_d + 1], 1)
        WHEN _types[_d + 1] ~ '^_' THEN _held[_d + 1] ELSE 0 END;
      _held[_d] := CASE WHEN _kinds[_d] ~ '^(CASE|COALESCE|MINMAX)' THEN greatest(_held[_d], _held[_d + 1]) ELSE _held[_d] + _held[_d + 1] END;
      _more := greatest(_held[_d + 1] - 1, 0);
      IF _kinds[_d] ~ _writing AND _types[_d + 1] ~ '^_|^(jsonb?|bytea)$' THEN
        -- Each as often as a format says.
        _uses := CASE WHEN _kinds[_d] LIKE 'format(%' THEN coalesce(wed.format_uses(_formats[_d], _children[_d] - 1), 64) ELSE 1 END;
        _conversions := _conversions + 4 * _uses * (1 + _more);
        _work := _work + _costs[_d] * _uses * (1 + _more) * CASE _types[_d + 1] WHEN 'jsonb' THEN 6 WHEN '_numeric' THEN 12 WHEN '_jsonb' THEN 12 WHEN 'json' THEN 8 WHEN 'bytea' THEN 8 ELSE 2 END;
      END IF;
      IF _kinds[_d] = 'COERCEVIAIO' THEN
        _type := _types[_d];
        IF _types[_d + 1] ~ '^_|^jsonb?$' AND _type ~ '^_|^text$|^varchar$|^jsonb?$'
           OR _type ~ '^_|^jsonb?$' AND _types[_d + 1] ~ '^text$|^varchar$' THEN
          _conversions := _conversions + 4 * (1 + _more);
          _work := _work + (1 + _costs[_d]) * (1 + _more) * CASE _types[_d + 1] WHEN 'jsonb' THEN 6 WHEN '_numeric' THEN 12 ELSE 8 END;
        END IF;
        -- Text of an attribute's size may hold more values than a document of that size.
        IF _kinds[_d + 1] <> 'CONST' AND _types[_d + 1] IS DISTINCT FROM 'jsonb' THEN
          _documents := _documents + CASE WHEN _type = 'jsonb' THEN 2 + 3 * _again[_d] WHEN _type = 'json' THEN 3 * _again[_d]
                                          WHEN _type ~ '^_' THEN _again[_d] ELSE 0 END;
        END IF;
      END IF;
      CONTINUE;
    END IF;
    _around := 0;
    _zone := false;
    IF _d > 0 THEN
      _around := _costs[_d];
      _children[_d] := _children[_d] + 1;
      IF _kinds[_d] LIKE 'format(%' THEN
        -- Each argument is in what it makes as often as the format says.
        IF _children[_d] = 1 THEN
          _formats[_d] := CASE WHEN _part[2] = 'CONST' THEN wed.constant_text(_part[3]) END;
          _around := 0;
          _work := _work + _costs[_d] / 262144.0 * (SELECT coalesce(sum(left(m[1], 4)::integer), 0)
            FROM regexp_matches(_formats[_d], '%(?:[0-9]+\$)?-?([0-9]+)[^0-9$]', 'g') m);
        ELSE
          _around := _costs[_d] * coalesce(wed.format_uses(_formats[_d], _children[_d] - 1), 64);
        END IF;
      END IF;
      IF _children[_d] = 2 AND _costs[_d] > 64 AND _kinds[_d] ~ '^(repeat|[lr]pad)\(' THEN
        _work := _work + _costs[_d] * CASE WHEN _part[2] = 'CONST' AND _kinds[_d] LIKE '_pad(%' THEN 0.016 ELSE 0.25 END;
      END IF;
      -- What is put in for each byte at most.
      IF _kinds[_d] LIKE 'replace(%' AND _children[_d] = 3 THEN
        _work := _work + _costs[_d] * CASE WHEN _part[2] = 'CONST' THEN greatest(1, least(16, coalesce(substring(_part[3] FROM ':constvalue (\d+) \[')::integer, 5) - 4)) ELSE 16 END;
      END IF;
      IF _kinds[_d] = '"substring"(text,text)' AND _children[_d] = 2 AND _part[2] <> 'CONST' THEN
        RAISE EXCEPTION 'a regular expression is text in quotes' USING ERRCODE = 'WF011',
          HINT = 'Write it itself; for a position write substr(text, start, length).';
      END IF;
      -- A zone, or a choice of several: each of them is written there.
      _zone := _kinds[_d] LIKE 'timezone(text,%' AND _children[_d] = 1 OR _kinds[_d] LIKE 'date_trunc(%,text)' AND _children[_d] = 3
        OR _kinds[_d] LIKE 'make_timestamptz(%,text)' AND _children[_d] = 7
        OR _zones[_d] AND CASE _kinds[_d] WHEN 'CASE' THEN _part[2] = 'WHEN' OR _children[_d] > 1
          WHEN 'CASEEXPR' THEN _part[2] = 'CASEWHEN' OR _children[_d] > 1
          WHEN 'WHEN' THEN _children[_d] = 2 WHEN 'CASEWHEN' THEN _children[_d] = 2
          WHEN 'COALESCE' THEN true WHEN 'COALESCEEXPR' THEN true WHEN 'NULLIFEXPR' THEN _children[_d] = 1 ELSE false END;
      IF _zone AND _part[2] NOT IN ('CASE', 'CASEEXPR', 'WHEN', 'CASEWHEN', 'COALESCE', 'COALESCEEXPR', 'NULLIFEXPR')
         AND NOT (_part[2] = 'CONST' AND (_part[3] ~ ':constisnull true' OR wed.is_zone(wed.constant_text(_part[3])))) THEN
        RAISE EXCEPTION 'a time zone is written there, by its name' USING ERRCODE = 'WF011',
          HINT = 'For example ''UTC'', ''Europe/Berlin'' or ''+02''; of a few zones write CASE a1 WHEN ''DE'' THEN ''Europe/Berlin'' ELSE ''UTC'' END.';
      END IF;
      IF _kinds[_d] LIKE 'array_to_string(%' AND _children[_d] = 1 AND _part[2] <> 'VAR' THEN
        _kinds[_d] := 'array_to_string(made';
      ELSIF _kinds[_d] LIKE 'array_to_string(%' AND _part[2] = 'CONST' THEN
        -- Between the elements, of which an attribute has not so many.
        _work := _work + _around * coalesce(substring(_part[3] FROM ':constvalue (\d+) \[')::bigint, 0)
                 * CASE WHEN _kinds[_d] = 'array_to_string(made' THEN 2 ELSE 0.02 END;
      END IF;
    END IF;
    _d := _d + 1;
    IF _d > 200 THEN
      RAISE EXCEPTION 'the predicate is nested too deep' USING ERRCODE = 'WF011',
        HINT = 'Use concat(...) for long chains of ||, IN (...) for long chains of OR.';
    END IF;
    _name := coalesce(substring(_part[3] FROM '^ :funcid (\d+)')::oid::regprocedure::text, _part[2]);
    _type := (SELECT t.typname FROM pg_type t WHERE t.oid = substring(_part[3]
        FROM ':(?:opresulttype|funcresulttype|resulttype|vartype|array_typeid|coalescetype|casetype|minmaxtype|refrestype|typeId) (\d+)')::oid);
    _wide := coalesce(_type ~ '^_' OR _type IN ('text', 'varchar', 'bpchar', 'jsonb', 'json', 'bytea'), false);
    _types[_d] := _type;
    _operator := substring(_part[3] FROM '^ :opno (\d+)')::oid;
    IF _name ~ '^jsonb?_extract_path_text' OR _operator = ANY (_extracting) THEN
      _conversions := _conversions + 1;
      _extracted := _extracted + 1;
      _work := _work + 5 * (1 + _around);
    ELSIF _name ~ '^jsonb_(set|insert|strip_nulls)\(' OR _operator = ANY (_making) THEN
      _conversions := _conversions + 2;
    END IF;
    _again[_d] := CASE WHEN _d > 1 THEN _below[_d - 1] ELSE 0 END;
    _below[_d] := CASE
      WHEN _part[2] IN ('NULLTEST', 'BOOLEXPR', 'BOOLEANTEST', 'SCALARARRAYOPEXPR', 'DISTINCTEXPR', 'COERCEVIAIO', 'ROWCOMPARE', 'ROWCOMPAREEXPR')
        OR _type NOT IN ('jsonb', 'json') AND _type !~ '^_' THEN 0
      WHEN _name ~ '^(to_jsonb|jsonb_(object|build_array|build_object|set|insert|strip_nulls))\(' OR _operator = ANY (_making) THEN _again[_d] + 1
      ELSE _again[_d] END;
    IF _part[2] = 'VAR' AND _type ~ '^_?jsonb$' OR _name ~ '^(string_to_array|regexp_split_to_array)\(' THEN
      _documents := _documents + _again[_d];
    END IF;
    _compared := _compared + coalesce((_operator = ANY (_comparing) OR _type = 'jsonb' AND _d > 1 AND (_kinds[_d - 1] LIKE 'MINMAX%' OR _kinds[_d - 1] LIKE 'ROWCOMPARE%'
      OR _d > 2 AND _kinds[_d - 1] LIKE 'ARRAY%' AND _kinds[_d - 2] LIKE 'SCALARARRAYOP%'))::integer, 0);
    _cost := _around;
    IF _wide AND _part[2] IN ('OPEXPR', 'FUNCEXPR', 'COERCEVIAIO', 'ARRAY', 'ARRAYEXPR', 'ARRAYCOERCEEXPR') THEN
      _cost := least(1 + _around, 1000000);
      -- What these make is bounded by itself.
      _work := _work + (1 + _around) * CASE WHEN _name LIKE 'string_to_array(%' THEN 8 WHEN _name LIKE 'regexp_replace(%' THEN 4 ELSE 0 END;
    ELSIF _part[2] = 'CONST' OR _part[2] = 'VAR' AND NOT _wide THEN
      -- Small, but for formats within formats.
      _work := _work + CASE WHEN _around < 64 THEN 0
        ELSE _around * greatest(substring(_part[3] FROM ':constvalue (\d+)')::integer, 1000) / 262144.0 END;
    ELSIF _wide AND _part[2] = 'VAR' THEN
      _work := _work + _around;
    END IF;
    _costs[_d] := _cost;
    _kinds[_d] := CASE WHEN _operator = ANY (_joining) THEN 'concat(||)' ELSE _name END;
    _children[_d] := 0;
    _zones[_d] := _zone;
    _held[_d] := 0;
  END LOOP;
  IF _documents > 16 THEN
    RAISE EXCEPTION 'the predicate makes too many documents of any size' USING ERRCODE = 'WF011',
      HINT = 'At most 16; one that is made of another that is made counts again. Make one of constants and join it.';
  END IF;
  IF _compared > 200 THEN
    RAISE EXCEPTION 'the predicate compares documents more than 200 times' USING ERRCODE = 'WF011',
      HINT = 'Compare text: doc ->> ''a'' IN (...).';
  END IF;
  IF _conversions > 64 THEN
    RAISE EXCEPTION 'the predicate makes too many documents, or text of documents and arrays' USING ERRCODE = 'WF011',
      HINT = 'Taking text out of a document counts 1, making another of one 2, all of one as text 4, together at most 64. Compare parts by @>, or in several triggers.';
  END IF;
  IF _work > 768 THEN
    RAISE EXCEPTION 'the values in the predicate could take too much memory' USING ERRCODE = 'WF011',
      HINT = 'Use concat(...) for long chains of ||, and text attributes less often.';
  END IF;
  -- In megabytes. A text that is taken out of a document takes two parts, the document and the text; the rest of the
  -- five is the time of it.
  RETURN (_work - _extracted * 3) / 4 + _documents * 20;
END $_$;

ALTER FUNCTION wed.check_work(_tree text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.check_writes(_wids integer[], _allowed jsonb[], _old jsonb[], _new jsonb[]) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
  _bad record;
BEGIN
  SELECT r.wid, r.allowed, n.key INTO _bad
  FROM ROWS FROM (unnest(_wids), unnest(_allowed), unnest(_old), unnest(_new)) AS r(wid, allowed, old, new)
  CROSS JOIN LATERAL jsonb_each(r.new) n
  WHERE r.allowed IS NOT NULL AND r.old -> n.key IS DISTINCT FROM n.value
    AND NOT r.allowed -> 'set' ? n.key
  ORDER BY r.wid LIMIT 1;
  IF NOT FOUND THEN RETURN; END IF;
  IF _bad.allowed ? 'event' THEN
    RAISE EXCEPTION 'this session holds no lock on a pending job of instance %, and attribute "%" is not open',
        _bad.wid, _bad.key USING ERRCODE = 'WF003',
      HINT = 'Take the job''s lock first, SELECT pg_try_advisory_xact_lock(wid, tgid) with a row of job_pool, or declare the attribute open (UPDATE wed_attr SET open = true).';
  END IF;
  PERFORM wed.refuse_write(_bad.wid, _bad.allowed ->> 'transition', _bad.key,
                           ARRAY(SELECT jsonb_array_elements_text(_bad.allowed -> 'set')));
END $$;

ALTER FUNCTION wed.check_writes(_wids integer[], _allowed jsonb[], _old jsonb[], _new jsonb[]) OWNER TO CURRENT_USER;

CREATE TABLE wed.work_task (
    tgid integer NOT NULL,
    flow_id integer NOT NULL,
    task text NOT NULL,
    kind text NOT NULL,
    role_id integer,
    priority integer DEFAULT 0 NOT NULL,
    deadline interval,
    calendar_id integer,
    disconnected boolean DEFAULT false NOT NULL,
    application text,
    description text DEFAULT ''::text NOT NULL,
    inputs text[] DEFAULT '{}'::text[] NOT NULL,
    outputs text[],
    state_attribute text,
    users text[] DEFAULT '{}'::text[] NOT NULL,
    groups text[] DEFAULT '{}'::text[] NOT NULL,
    escalate_after interval,
    escalate_to text,
    form jsonb,
    CONSTRAINT work_task_deadline_check CHECK ((deadline > '00:00:00'::interval)),
    CONSTRAINT work_task_description_check CHECK ((octet_length(description) <= 8192)),
    CONSTRAINT work_task_escalate_after_check CHECK ((escalate_after > '00:00:00'::interval)),
    CONSTRAINT work_task_kind_check CHECK ((kind = ANY (ARRAY['semi_automatic'::text, 'manual'::text]))),
    CONSTRAINT work_task_task_check CHECK (((octet_length(task) >= 1) AND (octet_length(task) <= 63)))
);

ALTER TABLE wed.work_task OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.work_task.outputs IS 'Attributes that a report may set; null: those that the trigger writes, or any.';

COMMENT ON COLUMN wed.work_task.state_attribute IS 'The attribute that is set to SUCCEEDED or FAILED with the report.';

CREATE FUNCTION wed.checked_values(_item wed.work_item, _task wed.work_task, _values jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _outputs text[] := array_remove(wed.work_outputs(_item), _task.state_attribute);
  _plan jsonb := (SELECT plan FROM wed.work_plan WHERE flow_id = _item.flow_id);
  _named jsonb;
  _wrong text;
BEGIN
  SELECT coalesce(jsonb_object_agg((wed.data_attributes(_plan, jsonb_build_array(v.key)))[1], v.value), '{}') INTO _named
  FROM jsonb_each(_values) v;
  SELECT min(k) INTO _wrong FROM jsonb_object_keys(_named) k WHERE k <> ALL (_outputs);
  IF _wrong IS NOT NULL THEN
    PERFORM wed.refuse_write(_item.wid, _item.task, _wrong, _outputs);
  END IF;
  RETURN _named;
END $$;

ALTER FUNCTION wed.checked_values(_item wed.work_item, _task wed.work_task, _values jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.claim(_host_id integer, _limit integer, _most integer DEFAULT NULL::integer, _without integer[] DEFAULT '{}'::integer[], _busy integer[] DEFAULT '{}'::integer[]) RETURNS SETOF wed.claimed
    LANGUAGE plpgsql
    AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _tenants integer[];
  _rooms integer[];
  _left integer := _limit;
  _share integer;
  _some tid[];
  _taken tid[] := '{}';
  _stale record;
  _together CONSTANT integer := 8;
BEGIN
  -- A claim need not be on disk: a server that forgets one has the job unclaimed again, and what is committed
  -- of a job takes its claim with it.
  PERFORM set_config('synchronous_commit', 'off', true);
  -- Held until the claim is committed: who frees the jobs of a host that is gone sees all that it claimed.
  PERFORM FROM wed.host WHERE host_id = _host_id FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016', HINT = 'Enter anew.';
  END IF;
  SELECT array_agg(r.tenant_id), array_agg(r.room) INTO _tenants, _rooms
  FROM (SELECT t.tenant_id, least(wed.concurrency_left(t.tenant_id), coalesce(_most, _limit)) AS room
        FROM unnest(wed.tenants_with_work(_now, _without)) t(tenant_id)
        ORDER BY t.tenant_id = ANY (_busy), random() LIMIT _limit) r
  WHERE r.room > 0;
  WHILE _left > 0 AND cardinality(_tenants) > 0 LOOP
    _share := greatest(_left / cardinality(_tenants), least(_left, _together));
    FOR _stale IN
      SELECT j.* FROM ROWS FROM (unnest(_tenants), unnest(_rooms)) AS n(tenant_id, room)
      CROSS JOIN LATERAL (
        SELECT q.flow_id, q.wid, q.tgid, q.last_seq, q.seq FROM wed.job q
        WHERE q.host_id IS NULL AND q.component_id IS NOT NULL AND q.tenant_id = n.tenant_id AND q.due <= _now
        ORDER BY q.priority DESC, q.due, q.flow_id LIMIT least(_share, n.room)) j
      LIMIT _left
    LOOP
      CONTINUE WHEN _stale.last_seq <= _stale.seq;
      IF pg_try_advisory_xact_lock(_stale.wid, _stale.tgid) THEN
        PERFORM wed.skip_if_stale(_stale.flow_id, _stale.wid, _stale.tgid, true);
      END IF;
    END LOOP;
    WITH c AS MATERIALIZED (
      SELECT n.tenant_id, n.room, j.* FROM ROWS FROM (unnest(_tenants), unnest(_rooms)) AS n(tenant_id, room)
      CROSS JOIN LATERAL (
        SELECT q.ctid AS at, q.wid, q.tgid FROM wed.job q
        WHERE q.host_id IS NULL AND q.component_id IS NOT NULL AND q.tenant_id = n.tenant_id AND q.due <= _now
        ORDER BY q.priority DESC, q.due, q.flow_id LIMIT least(_share, n.room) FOR UPDATE SKIP LOCKED) j
      LIMIT _left
    ), l AS MATERIALIZED (
      SELECT c.at, pg_try_advisory_xact_lock(c.wid, c.tgid) AS ours FROM c
    ), u AS (
      UPDATE wed.job j SET host_id = _host_id, token = nextval('wed.fence'), attempt = j.attempt + 1, waits_for = NULL
      FROM l WHERE l.ours AND j.ctid = l.at RETURNING j.ctid
    ), more AS (
      -- Who had as many as its share may have more.
      SELECT c.tenant_id, c.room - _share AS room FROM c
      GROUP BY c.tenant_id, c.room HAVING count(*) = _share AND c.room > _share)
    SELECT (SELECT array_agg(u.ctid) FROM u), _left - (SELECT count(*) FROM c),
           (SELECT array_agg(tenant_id ORDER BY tenant_id) FROM more), (SELECT array_agg(room ORDER BY tenant_id) FROM more)
    INTO _some, _left, _tenants, _rooms;
    _taken := _taken || _some;
  END LOOP;
  _taken := _taken || wed.claim_beside(_host_id, _now, _taken, _limit, _most);
  RETURN QUERY SELECT * FROM wed.held(_host_id, _taken);
END $$;

ALTER FUNCTION wed.claim(_host_id integer, _limit integer, _most integer, _without integer[], _busy integer[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.claim_beside(_host_id integer, _now timestamp with time zone, _taken tid[], _limit integer, _most integer) RETURNS tid[]
    LANGUAGE plpgsql
    AS $$
DECLARE
  _few CONSTANT integer := 8;
  _near CONSTANT integer := 32;
  _more tid[];
BEGIN
  WITH f AS MATERIALIZED (
    SELECT j.flow_id, j.tenant_id, count(*) AS claimed, min(j.priority) AS priority, random() AS turn,
           min(j.wid) - _near AS first, max(j.wid) + _near AS last
    FROM unnest(_taken) a(at)
    CROSS JOIN LATERAL (SELECT flow_id, tenant_id, priority, wid::bigint FROM wed.job WHERE ctid = a.at OFFSET 0) j
    GROUP BY j.flow_id, j.tenant_id HAVING count(*) < _few AND max(j.wid) - min(j.wid) <= _near
  ), s AS MATERIALIZED (
    SELECT f.*, sum(n.jobs - f.claimed) OVER (PARTITION BY f.tenant_id ORDER BY f.turn) AS theirs,
           sum(n.jobs - f.claimed) OVER (ORDER BY f.turn) AS more
    FROM f CROSS JOIN LATERAL (
      -- In the order of the index that is to be used, here and below.
      SELECT count(*) AS jobs FROM (
        SELECT FROM wed.job WHERE flow_id = f.flow_id AND wid BETWEEN f.first AND f.last ORDER BY wid LIMIT _few + 1) j) n
    WHERE n.jobs <= _few AND n.jobs > f.claimed
      AND (SELECT q.concurrency FROM wed.quota q WHERE q.tenant_id = f.tenant_id) IS NULL
  ), l AS MATERIALIZED (
    SELECT j.at, pg_try_advisory_xact_lock(j.wid, j.tgid) AS ours FROM s
    CROSS JOIN LATERAL (
      SELECT q.ctid AS at, q.wid, q.tgid FROM wed.job q
      WHERE q.flow_id = s.flow_id AND q.wid BETWEEN s.first AND s.last AND q.host_id IS NULL
        AND q.component_id IS NOT NULL AND q.due <= _now AND q.last_seq <= q.seq AND q.priority >= s.priority
      ORDER BY q.wid LIMIT _few FOR UPDATE SKIP LOCKED) j
    WHERE s.more <= _limit AND (_most IS NULL OR s.theirs <= _few)
  ), u AS (
    UPDATE wed.job j SET host_id = _host_id, token = nextval('wed.fence'), attempt = j.attempt + 1, waits_for = NULL
    FROM l WHERE l.ours AND j.ctid = l.at RETURNING j.ctid)
  SELECT coalesce(array_agg(u.ctid), '{}') INTO _more FROM u;
  RETURN _more;
END $$;

ALTER FUNCTION wed.claim_beside(_host_id integer, _now timestamp with time zone, _taken tid[], _limit integer, _most integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.claim_work(_tenant text, _name text, _item_id bigint, _to text, _now timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  UPDATE wed.work_item i SET state = _to, holder = _person.person_id, claim = claim + 1, held_since = _now
  WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id AND (_to = 'SELECTED' OR i.disconnected)
    AND (i.state = 'READY' AND (wed.is_offered(i, _person, _now) OR wed.is_administrator(_person.person_id))
         OR i.state = 'SELECTED' AND i.holder = _person.person_id AND _to = 'LOCKED')
  RETURNING * INTO _item;
  IF NOT FOUND THEN PERFORM wed.refuse_claim(_person, _item_id, _to); END IF;
  PERFORM wed.record_work(_item, _person.name, lower(_to), '{}', _now);
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _item.state, 'holder', _person.name, 'claim', _item.claim);
END $$;

ALTER FUNCTION wed.claim_work(_tenant text, _name text, _item_id bigint, _to text, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.collect_components(_tenant_id integer, _keep integer) RETURNS TABLE(name text, version integer)
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  DELETE FROM wed.component c USING (
    SELECT component_id, row_number() OVER (PARTITION BY k.name ORDER BY k.version DESC) AS back,
           row_number() OVER (PARTITION BY k.name ORDER BY k.activated_at DESC, k.version DESC) AS used
    FROM wed.component k WHERE k.tenant_id = _tenant_id) r
  WHERE r.component_id = c.component_id AND r.back > _keep AND r.used > 1
    AND NOT EXISTS (SELECT FROM wed.trigger t WHERE t.component_id = c.component_id)
    AND NOT EXISTS (SELECT FROM wed.job j WHERE j.component_id = c.component_id)
  RETURNING c.name, c.version
$$;

ALTER FUNCTION wed.collect_components(_tenant_id integer, _keep integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.compensation_trigger(_flow_id integer, _compensation text) RETURNS integer
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT min(tgid) FROM wed.trigger
  WHERE flow_id = _flow_id AND trname = _compensation AND predicate IS NULL AND NOT cfinal
$$;

ALTER FUNCTION wed.compensation_trigger(_flow_id integer, _compensation text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.compile(_flow_id integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $_$
DECLARE
  _flow wed.flow;
  _fired text;
  _final text;
  _grouped boolean;
  _restricts boolean;
  _groups text;
  _state text;
  _sent text;
  _read text[] := wed.declared(_flow_id, 'reads');
  _written text[] := wed.declared(_flow_id, 'writes');
  _few boolean;
  _any text;
  _declare text;
  _assignable text[];
  _sets text;
  _returned text;
  _measure text;
  _newest text;
  _found text;
BEGIN
  UPDATE wed.flow f SET version = version + 1 WHERE f.flow_id = _flow_id RETURNING * INTO _flow;
  -- What they make stays until all of them are evaluated. Few ask for more than the values that they look at.
  IF (SELECT sum(greatest(weight - 4, 0)) FROM wed.trigger WHERE flow_id = _flow_id AND enabled) > 1024 THEN
    RAISE EXCEPTION 'the conditions of the flow could take more than 1 GB of memory together' USING ERRCODE = 'WF011',
      HINT = 'On the largest row that there may be. Make fewer documents in them, and fewer long texts.';
  END IF;

  PERFORM wed.mark_constrained(_flow_id);
  PERFORM wed.compile_keys(_flow);
  -- Only rows whose group is another one now are written.
  UPDATE wed.trigger t SET condition_group = n.number
  FROM (SELECT t.tgid, coalesce(g.number, 0) AS number FROM wed.trigger t
        LEFT JOIN (SELECT reads, row_number() OVER (ORDER BY count(*) DESC, reads) AS number FROM wed.trigger
                   WHERE flow_id = _flow_id AND enabled AND NOT cfinal AND predicate IS NOT NULL AND NOT timely AND NOT constrained
                     AND (SELECT count(*) FROM wed.trigger
                          WHERE flow_id = _flow_id AND enabled AND NOT cfinal) > 16
                   GROUP BY reads HAVING count(*) >= 4 LIMIT 32) g
          ON t.enabled AND NOT t.cfinal AND t.predicate IS NOT NULL AND NOT t.timely AND NOT t.constrained AND t.reads = g.reads
        WHERE t.flow_id = _flow_id) n
  WHERE t.tgid = n.tgid AND t.condition_group <> n.number;

  SELECT coalesce(bool_or(condition_group > 0), false), coalesce(bool_or(writes IS NOT NULL), false)
  INTO _grouped, _restricts FROM wed.trigger WHERE flow_id = _flow_id AND enabled;
  SELECT coalesce(string_agg(CASE WHEN g = 0 THEN c
                             ELSE format('CASE WHEN %s = ANY (_kept) THEN ''{}''::bigint[] ELSE %s END', g, c) END,
                             E'\n    || ' ORDER BY g), '''{}''::bigint[]')
  INTO _fired
  FROM (SELECT condition_group AS g, format('array_remove(ARRAY[%s]::bigint[], NULL)', string_agg(
          format('CASE WHEN %s THEN %s END', wed.guarded(predicate), CASE
            -- Keys that cannot be evaluated are as a condition that cannot.
            WHEN c.keys IS NOT NULL THEN format('CASE WHEN %s IS NOT NULL THEN %s END', wed.keys_expression(c), t.tgid)
            ELSE ((condition_group::bigint << 32) + t.tgid)::text END), E',\n      ' ORDER BY t.tgid)) AS c
        FROM wed.trigger t LEFT JOIN wed.trigger_constraint c USING (tgid)
        WHERE t.flow_id = _flow_id AND enabled AND NOT cfinal AND predicate IS NOT NULL
        GROUP BY condition_group) g;
  SELECT coalesce(string_agg(format('coalesce(%s, false)', wed.guarded(predicate)), ' OR '), 'false') INTO _final
  FROM wed.trigger WHERE flow_id = _flow_id AND enabled AND cfinal AND predicate IS NOT NULL;
  SELECT string_agg(format('(%s, %L::text[])', condition_group, reads), ', ') INTO _groups
  FROM (SELECT DISTINCT condition_group, reads FROM wed.trigger
        WHERE flow_id = _flow_id AND enabled AND condition_group > 0) g;

  _state := wed.state_as_text(_flow.shape_schema, NULL);
  _sent := wed.state_as_text(_flow.shape_schema, _read);
  SELECT count(*) FILTER (WHERE written) BETWEEN 1 AND 48,
         string_agg(format('_p%s integer := (array_position(_assigned, %L) - 1) * _n;', attnum, attname), E'\n  '
                    ORDER BY attnum) FILTER (WHERE written),
         array_agg(attname::text ORDER BY attnum) FILTER (WHERE written),
         string_agg(format('%I = CASE WHEN _p%s IS NULL THEN _r.%1$I ELSE _lit[_p%2$s + %%1$s]::%s END', attname, attnum,
                           format_type(atttypid, atttypmod)), E',\n        ' ORDER BY attnum)
           FILTER (WHERE written)
  INTO _few, _declare, _assignable, _sets
  FROM pg_attribute CROSS JOIN LATERAL (SELECT _written IS NULL OR attname = ANY (_written) AS written) w
  WHERE attrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND attnum > 1 AND NOT attisdropped;
  -- A host's own statements look at each row as they return it, the gate at all of a statement's (below): a constraint would be
  -- read from its text, and planned, by every statement, and this one is long. (How large a row is as it is kept is one, 0009.)
  _returned := format('CASE WHEN NOT (%s) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::%%I.wed_flow END',
                      wed.came_compressed(_flow.schema_name, '_r'));
  _measure := format('PERFORM wed_bounded.measure_row(_new.wid, (_new.*)::text) FROM new_rows _new WHERE %s;',
                     wed.came_compressed(_flow.schema_name, '_new'));
  -- Where a row's old versions must all be kept, each of them is in the index, in the order in which they were written, and the newest
  -- is looked for from its end. (Not by equality: that Postgres would take for any order.)
  _newest := format('CROSS JOIN LATERAL (SELECT _l.ctid AS _row FROM %I.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
                     ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row', _flow.schema_name);
  _found := format('CASE WHEN _held THEN %L ELSE %L END', _newest, 'WHERE _r.wid = _b._wid');
  -- For whatever is assigned, a statement made for it.
  _any := CASE WHEN _state = '''{}''' THEN 'RAISE EXCEPTION ''the flow has no attributes'' USING ERRCODE = ''42703'';'
    ELSE format($c$EXECUTE (SELECT format('WITH _u AS (UPDATE %1$I.wed_flow _r SET %%s FROM ROWS FROM (unnest($1)%%s) AS _b(_wid%%s)
                    %%s RETURNING _r.wid, %2$s AS _state)
                    SELECT array_agg(_u._state ORDER BY _u.wid) FROM _u',
        string_agg(format('%%I = _b._%%s::%%s', u.name, u.at, coalesce(format_type(a.atttypid, a.atttypmod), 'text')), ', '),
        string_agg(format(', unnest($2[%%s:%%s])', (u.at - 1) * _n + 1, u.at * _n), '' ORDER BY u.at),
        string_agg(format(', _%%s', u.at), '' ORDER BY u.at), %3$s)
      FROM unnest(_assigned) WITH ORDINALITY u(name, at)
      -- One that there is not is left to the statement to name.
      LEFT JOIN pg_attribute a ON a.attrelid = '%1$I.wed_flow'::regclass AND a.attname = u.name AND a.attnum > 1) INTO _rows USING _wids, _lit;$c$,
        _flow.schema_name, format(_returned, _flow.shape_schema), _found) END;
  -- As a literal: between dollars, a tenant's string constant could end the body.
  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.match_%1$s(_rows %1$I.wed_flow[], _kept integer[]) RETURNS wed.evaluated[]
LANGUAGE plpgsql STABLE SECURITY DEFINER AS %2$L $f$, _flow.shape_schema, format($match$
#variable_conflict use_column
BEGIN
  RETURN ARRAY(SELECT ROW(%1$s, %2$s, _row.wid, %3$s, %4$s,
    %5$s,
    %6$s, %7$s, NULL)::wed.evaluated FROM unnest(_rows) _row);
END $match$, _flow_id, _flow.version,
    _state, CASE WHEN _sent = _state THEN 'NULL::text' ELSE _sent END,
    _fired, CASE WHEN _grouped THEN 'coalesce(_kept, ''{}'')' ELSE 'NULL::integer[]' END, _final));

  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.apply_%1$s(
  _wids integer[], _tgids integer[], _assigned text[], _set text, _literals integer, _lit text[], _careful boolean,
  _held boolean DEFAULT false)
RETURNS wed.evaluated[]
LANGUAGE plpgsql AS %2$L $f$, _flow.shape_schema, format($apply$
#variable_conflict use_column
DECLARE
  _n integer := cardinality(_wids);
  _rows %1$I.wed_flow[];
  _theirs %2$I.wed_flow[];
  _kept integer[];
  _order wed.batch;
  %3$s
BEGIN%4$s
  IF _set IS NOT NULL THEN
    PERFORM set_config('role', %5$L, true);
    EXECUTE format('WITH _u AS (UPDATE %2$I.wed_flow _r SET %%s FROM ROWS FROM (unnest($1)%%s) AS _b(_wid%%s)
                    %%s RETURNING _r.wid, %7$s AS _state)
                    SELECT array_agg(_u._state ORDER BY _u.wid) FROM _u', _set,
      (SELECT string_agg(format(', unnest($2[%%s:%%s])', (at - 1) * _n + 1, at * _n), '' ORDER BY at) FROM generate_series(1, _literals) at),
      (SELECT string_agg(format(', _%%s', at), '' ORDER BY at) FROM generate_series(1, _literals) at), %8$s)
      INTO _theirs USING _wids, _lit;
    PERFORM set_config('role', 'none', true);
    -- Where the flow was changed while this waited for its table, what came back has the new columns and this has not.
    IF (SELECT version FROM wed.flow WHERE flow_id = %9$s) <> %10$s THEN
      RAISE EXCEPTION 'the flow was changed meanwhile' USING ERRCODE = '40001';
    END IF;
    _rows := ARRAY(SELECT ROW(_t.*)::%1$I.wed_flow FROM unnest(_theirs) _t);
  %6$s
  END IF;
  RETURN CASE WHEN _careful THEN %1$I.evaluate_%1$s(_rows) ELSE %1$I.match_%1$s(_rows, _kept) END;
END $apply$, _flow.shape_schema, _flow.schema_name, CASE WHEN _few THEN _declare END,
    CASE WHEN _restricts THEN $c$
  PERFORM wed.refuse_write(_i.wid, t.trname, _a.name, t.writes)
  FROM ROWS FROM (unnest(_wids), unnest(_tgids)) AS _i(wid, tgid) JOIN wed.trigger t ON t.tgid = _i.tgid
  CROSS JOIN unnest(_assigned) _a(name) WHERE _a.name <> ALL (t.writes);$c$ ELSE '' END
    || CASE WHEN _grouped THEN format($c$
  IF NOT _held AND (SELECT bool_and(version = %s) FROM wed.job WHERE flow_id = %s AND wid = ANY (_wids)) THEN
    _kept := ARRAY(SELECT number FROM (VALUES %s) AS v(number, reads) WHERE NOT reads && _assigned);
  END IF;$c$, _flow.version, _flow_id, _groups) ELSE '' END,
    _flow.role_name,
    CASE WHEN _few THEN format($c$ELSIF NOT _assigned <@ %1$L::text[] THEN
    %5$s
  ELSIF _held THEN
    WITH _u AS (UPDATE %2$I.wed_flow _r SET
        %8$s
        FROM unnest(_wids) WITH ORDINALITY _b(_wid, _at) %7$s
        RETURNING _r.wid, %6$s AS _state)
      SELECT array_agg(_u._state ORDER BY _u.wid) INTO _rows FROM _u;
  ELSIF _n = 1 THEN
    UPDATE %2$I.wed_flow _r SET
        %4$s
      WHERE _r.wid = _wids[1] RETURNING ARRAY[%6$s] INTO _rows;
  ELSE
    _order.wids := _wids;
    WITH _u AS (UPDATE %2$I.wed_flow _r SET
        %3$s
        WHERE _r.wid = ANY (_order.wids) RETURNING %6$s AS _state)
      -- In the order of _wids, in which the index finds them. (Where a state were not its job's, settling would refuse it.)
      SELECT array_agg(_u._state) INTO _rows FROM _u;$c$,
      _assignable, _flow.schema_name, format(_sets, 'width_bucket(_r.wid, _order.wids)'), format(_sets, '1'), _any,
      format(_returned, _flow.shape_schema), _newest, format(_sets, '_b._at'))
    ELSE 'ELSE ' || _any END,
    format(_returned, _flow.schema_name), _found, _flow_id, _flow.version));

  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.gate_insert() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' SET standard_conforming_strings = on
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS %2$L $f$, _flow.shape_schema, format($gate$
BEGIN
  %1$s
  PERFORM wed.gate_insert(%2$s, %3$I.evaluate_%3$s(ARRAY(
    SELECT ROW(_new.*)::%3$I.wed_flow FROM new_rows _new ORDER BY _new.wid)));
  RETURN NULL;
END $gate$, _measure, _flow_id, _flow.shape_schema));

  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.gate_update() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' SET standard_conforming_strings = on
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS %2$L $f$, _flow.shape_schema, format($gate$
DECLARE _wids integer[]; _writer record;
BEGIN
  %1$s
  _wids := ARRAY(SELECT _new.wid FROM new_rows _new ORDER BY _new.wid);
  IF cardinality(_wids) = 0 THEN RETURN NULL; END IF;
  IF _wids <> ARRAY(SELECT _old.wid FROM old_rows _old ORDER BY _old.wid) THEN
    RAISE EXCEPTION 'the wid of an instance cannot change' USING ERRCODE = 'WF008',
      HINT = 'Set attributes only.';
  END IF;
  _writer := wed.writer(%2$s, _wids);
  IF _writer.allowed IS NOT NULL THEN
    PERFORM wed.check_writes(_wids, _writer.allowed,
      ARRAY(SELECT to_jsonb(_old) FROM old_rows _old ORDER BY _old.wid),
      ARRAY(SELECT to_jsonb(_new) FROM new_rows _new ORDER BY _new.wid));
  END IF;
  PERFORM wed.gate_update(%3$I.evaluate_%3$s(ARRAY(
    SELECT ROW(_new.*)::%3$I.wed_flow FROM new_rows _new ORDER BY _new.wid)), _writer.tgids);
  RETURN NULL;
END $gate$, _measure, _flow_id, _flow.shape_schema));
END $_$;

ALTER FUNCTION wed.compile(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.compile_keys(_flow wed.flow) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    AS $_$
DECLARE
  _cases text;
  _name text := format('%1$I.keys_%1$s(%1$I.wed_flow[], integer[])', _flow.shape_schema);
BEGIN
  SELECT string_agg(format('WHEN %s THEN %s', tgid, wed.keys_expression(c)), E'\n      ' ORDER BY tgid) INTO _cases
  FROM wed.trigger_constraint c WHERE flow_id = _flow.flow_id AND keys IS NOT NULL;
  IF _cases IS NULL THEN RETURN; END IF;
  EXECUTE format($f$
CREATE OR REPLACE FUNCTION %1$I.keys_%1$s(_rows %1$I.wed_flow[], _tgids integer[]) RETURNS jsonb[]
LANGUAGE plpgsql STABLE SECURITY DEFINER AS %2$L $f$, _flow.shape_schema, format($keys$
#variable_conflict use_column
BEGIN
  RETURN ARRAY(SELECT CASE _of._tgid
      %2$s
      ELSE '{}' END
    FROM unnest(_tgids) WITH ORDINALITY _of(_tgid, _at) CROSS JOIN LATERAL (SELECT (_rows[_of._at]).*) _row ORDER BY _of._at);
END $keys$, _flow.shape_schema, _cases));
  IF (SELECT proowner <> 'wed_predicate'::regrole FROM pg_proc WHERE oid = _name::regprocedure) THEN
    EXECUTE format('GRANT CREATE ON SCHEMA %I TO wed_predicate', _flow.shape_schema);
    EXECUTE format('ALTER FUNCTION %s OWNER TO wed_predicate', _name);
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _flow.shape_schema);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', _name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', _name, current_user);
  END IF;
END $_$;

ALTER FUNCTION wed.compile_keys(_flow wed.flow) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.concurrency_left(_tenant_id integer) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
  _allowed bigint := (SELECT concurrency FROM wed.quota WHERE tenant_id = _tenant_id);
BEGIN
  RETURN CASE WHEN _allowed IS NOT NULL
    THEN _allowed - (SELECT count(*) FROM wed.job WHERE tenant_id = _tenant_id AND host_id IS NOT NULL) END;
END $$;

ALTER FUNCTION wed.concurrency_left(_tenant_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.connect_person(_tenant text, _name text, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _delivered bigint;
BEGIN
  UPDATE wed.person SET active = true, connected_at = CASE WHEN active THEN connected_at ELSE _now END, contact_at = _now
  WHERE person_id = _person.person_id;
  UPDATE wed.work_message SET delivered_at = _now WHERE person_id = _person.person_id AND delivered_at IS NULL;
  GET DIAGNOSTICS _delivered = ROW_COUNT;
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN _delivered;
END $$;

ALTER FUNCTION wed.connect_person(_tenant text, _name text, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.constant_text(_fields text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  -- Its bytes, with sign, behind the four of its length.
  SELECT coalesce(string_agg(CASE WHEN b::integer BETWEEN 1 AND 127 THEN chr(b::integer) ELSE '?' END, '' ORDER BY n), '')
  FROM regexp_split_to_table(substring(_fields FROM ':constvalue \d+ \[ (?:-?\d+ ){4}(.*) \]'), ' ') WITH ORDINALITY t(b, n)
$$;

ALTER FUNCTION wed.constant_text(_fields text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.constrain(_rows wed.evaluated[], _tgids integer[], _committed boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
  _one record;
BEGIN
  FOR _one IN
    SELECT f AS flow, u.wids, u.tgids
    FROM (SELECT r.flow_id, array_agg(r.wid ORDER BY r.at) AS wids, array_agg(_tgids[r.at] ORDER BY r.at) AS tgids
          FROM unnest(_rows) WITH ORDINALITY r(flow_id, version, wid, state, payload, fired, kept, final, fault, at)
          GROUP BY r.flow_id) u
    JOIN wed.flow f ON f.flow_id = u.flow_id AND f.constrained ORDER BY u.flow_id
  LOOP
    PERFORM wed.free(_one.flow, _one.wids, _one.tgids, _committed);
    PERFORM wed.ask(_one.flow, _one.wids, NULL);
  END LOOP;
END $$;

ALTER FUNCTION wed.constrain(_rows wed.evaluated[], _tgids integer[], _committed boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.consume(_requests bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
  _bad record;
BEGIN
  IF NOT EXISTS (SELECT FROM wed.request WHERE request_id = ANY (_requests) AND state = 'c' AND consumes) THEN RETURN; END IF;
  WITH used AS (
    SELECT v.tenant_id, v.resource, v.key, sum(v.amount) AS amount FROM wed.reservation v JOIN wed.request r USING (request_id)
    WHERE r.request_id = ANY (_requests) AND r.state = 'c' AND v.held AND v.amount IS NOT NULL GROUP BY 1, 2, 3
  ), locked AS MATERIALIZED (
    SELECT s.ctid AS at, u.* , s.capacity, s.minimum FROM used u JOIN wed.resource s USING (tenant_id, resource, key)
    ORDER BY u.tenant_id, u.resource, u.key FOR UPDATE OF s
  ), taken AS (
    UPDATE wed.resource s SET capacity = s.capacity - l.amount FROM locked l
    WHERE s.tenant_id = l.tenant_id AND s.resource = l.resource AND s.key = l.key AND l.capacity - l.amount >= l.minimum)
  SELECT * INTO _bad FROM locked WHERE capacity - amount < minimum ORDER BY resource, key LIMIT 1;
  IF FOUND THEN PERFORM wed.refuse_capacity(_bad.key, _bad.capacity - _bad.amount, _bad.minimum); END IF;
END $$;

ALTER FUNCTION wed.consume(_requests bigint[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.contact_person(_tenant text, _name text, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS wed.person
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  IF NOT _person.active OR _person.contact_at IS NULL OR _person.contact_at < _now - interval '10 seconds' THEN
    PERFORM wed.connect_person(_tenant, _name, _now);
    RETURN wed.person_of(_tenant, _name);
  END IF;
  RETURN _person;
END $$;

ALTER FUNCTION wed.contact_person(_tenant text, _name text, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.count_overdue() RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _late record;
  _counted bigint := 0;
BEGIN
  FOR _late IN SELECT * FROM wed.late_workers() LOOP
    WITH counted AS (
      UPDATE wed.job j SET attempt = j.attempt + 1, due = now() + least(t.backoff * (2 ^ least(j.attempt, 30)) + interval '1 second', interval '1 day')
      FROM wed.trigger t
      WHERE j.flow_id = _late.flow_id AND j.wid = _late.wid AND j.tgid = _late.tgid AND j.host_id IS NULL
        AND j.due <= now() AND t.tgid = j.tgid
      RETURNING j.*)
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
    SELECT c.flow_id, c.wid, c.tgid, c.trname, c.attempt, 'timed_out',
           format('the worker held the lock for longer than %s and was ended', c.timeout), _late.usename FROM counted c;
    IF FOUND THEN _counted := _counted + 1; END IF;
  END LOOP;
  RETURN _counted;
END $$;

ALTER FUNCTION wed.count_overdue() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.create_flow(_tenant text, _name text, _description text DEFAULT ''::text) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _id integer;
  _s text := 'wf_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16);
  _c text := _s || '_shape';
  _password text := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  _excpt integer := nextval('wed.tgid_seq');
  _statement text;
BEGIN
  INSERT INTO wed.flow (tenant_id, name, description, schema_name, shape_schema, role_name, role_password, excpt_tgid)
  SELECT tenant_id, _name, coalesce(_description, ''), _s, _c, _s, _password, _excpt
  FROM wed.tenant WHERE name = _tenant RETURNING flow_id INTO _id;
  IF _id IS NULL THEN
    RAISE EXCEPTION 'there is no tenant "%"', _tenant USING ERRCODE = 'WF015', HINT = 'Create the tenant first.';
  END IF;
  -- The trigger of _EXCPT is the server's: no condition fires it, the gate does.
  INSERT INTO wed.trigger (tgid, flow_id, tenant_id, tgname, trname, cfinal, enabled, timeout, attempts, backoff, delay, priority, recheck)
  SELECT _excpt, _id, tenant_id, '_EXCPT', '_EXCPT', false, true, '1 day', 3, '1 minute', '0', 0, false
  FROM wed.flow WHERE flow_id = _id;

  EXECUTE format('CREATE ROLE %I LOGIN PASSWORD %L NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION CONNECTION LIMIT %s',
    _s, _password, coalesce((SELECT q.connections FROM wed.quota q JOIN wed.tenant t USING (tenant_id) WHERE t.name = _tenant), -1));
  -- Defaults, which a session may change: what it cannot change are its connections and its jobs' timeouts. A
  -- worker is idle in its transaction while it works, so that is as long as work may take.
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET statement_timeout = %L', _s, current_database(), '5min');
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET idle_in_transaction_session_timeout = %L', _s, current_database(), '1h');
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET search_path = %I, pg_catalog', _s, current_database(), _s);
  EXECUTE format('GRANT %I TO %I', _s, current_user);
  PERFORM wed.let_connect(_s);

  FOREACH _statement IN ARRAY ARRAY[
    'CREATE SCHEMA %1$I',
    'CREATE SCHEMA %2$I',
    'GRANT USAGE ON SCHEMA %1$I TO %1$I',
    'GRANT USAGE, CREATE ON SCHEMA %2$I TO wed_predicate',
    $t$CREATE TABLE %1$I.wed_attr (
      aname text PRIMARY KEY, adv text, atype text NOT NULL DEFAULT 'text', open boolean NOT NULL DEFAULT false)$t$,
    $t$CREATE TABLE %1$I.wed_trig (
      tgid integer PRIMARY KEY, tgname text, enabled boolean NOT NULL DEFAULT true, trname text, cname text,
      cpred text NOT NULL, cfinal boolean NOT NULL DEFAULT false, timeout interval NOT NULL DEFAULT '1 minute',
      attempts integer NOT NULL DEFAULT 3, backoff interval NOT NULL DEFAULT '1 second',
      delay interval NOT NULL DEFAULT '0', priority integer NOT NULL DEFAULT 0,
      recheck boolean NOT NULL DEFAULT true, writes text[])$t$,
    'CREATE TABLE %2$I.wed_flow (wid integer)',
    'ALTER TABLE %2$I.wed_flow OWNER TO wed_predicate',
    -- Statistics are for who asks in SQL; the gate's plans need none, and each analysis and each vacuum discards them in
    -- every session. Old versions of a row are tidied away by whoever reads its page.
    $t$CREATE TABLE %1$I.wed_flow (
      wid integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)
      WITH (fillfactor = 70, autovacuum_analyze_threshold = 20000, autovacuum_vacuum_threshold = 20000)$t$,
    $t$CREATE VIEW %1$I.wed_trace AS
      SELECT wid, state::jsonb AS state, trf, trw, status, tstmp, seq, tgid, attempt, writer, note, fuel, elapsed_us, memory_bytes
      FROM wed.trace WHERE flow_id = %3$s$t$,
    $t$CREATE VIEW %1$I.wed_attempt AS
      SELECT wid, tgid, trname, attempt, outcome, message, writer, tstmp, fuel, elapsed_us, memory_bytes
      FROM wed.attempt WHERE flow_id = %3$s$t$,
    $t$CREATE VIEW %1$I.wed_instance AS
      SELECT wid, status, started, changed FROM wed.instance WHERE flow_id = %3$s$t$,
    'GRANT SELECT, INSERT, UPDATE, DELETE ON %1$I.wed_attr, %1$I.wed_trig TO %1$I',
    'GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON %1$I.wed_flow TO %1$I',
    'GRANT SELECT ON %1$I.wed_trace, %1$I.wed_attempt, %1$I.wed_instance TO %1$I',

    -- Definitions.
    'CREATE TRIGGER attribute AFTER INSERT OR UPDATE OR DELETE ON %1$I.wed_attr
       FOR EACH ROW EXECUTE FUNCTION wed.on_attribute(%3$s)',
    'CREATE TRIGGER zz_compile AFTER INSERT OR UPDATE OR DELETE ON %1$I.wed_attr
       FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition(%3$s)',
    'CREATE TRIGGER before_trigger BEFORE INSERT OR UPDATE ON %1$I.wed_trig
       FOR EACH ROW EXECUTE FUNCTION wed.before_trigger(%3$s)',
    'CREATE TRIGGER trigger AFTER INSERT OR UPDATE OR DELETE ON %1$I.wed_trig
       FOR EACH ROW EXECUTE FUNCTION wed.on_trigger(%3$s)',
    'CREATE TRIGGER zz_compile AFTER INSERT OR UPDATE OR DELETE ON %1$I.wed_trig
       FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition(%3$s)',

    -- The gate: what is the flow's own of it. The rest is in 0004_gate.sql. Its plans are made once in
    -- a session, perhaps when the tables are still empty: they must be by index all the same.
    $t$CREATE FUNCTION %2$I.evaluate_%2$s(_rows %2$I.wed_flow[]) RETURNS wed.evaluated[]
    LANGUAGE plpgsql AS $f$
    DECLARE _all wed.evaluated[]; _one wed.evaluated;
    BEGIN
      BEGIN
        RETURN %2$I.match_%2$s(_rows, NULL);
      EXCEPTION WHEN OTHERS THEN
        NULL; -- some condition fails on some row: find out which
      END;
      FOR _i IN 1 .. cardinality(_rows) LOOP
        BEGIN
          _one := (%2$I.match_%2$s(_rows[_i:_i], NULL))[1];
        EXCEPTION WHEN OTHERS THEN
          _one := ROW(%3$s, NULL, (_rows[_i]).wid, (to_jsonb(_rows[_i]) - 'wid')::text, NULL, '{}', '{}', false,
                      'a condition failed: ' || SQLERRM)::wed.evaluated;
        END;
        _all := _all || _one;
      END LOOP;
      RETURN _all;
    END $f$ $t$,
    $t$CREATE FUNCTION %2$I.current_%2$s(_wids integer[]) RETURNS wed.evaluated[]
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
    SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' SET standard_conforming_strings = on
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET plan_cache_mode = force_generic_plan AS $f$
      SELECT %2$I.evaluate_%2$s(ARRAY(SELECT ROW(_now.*)::%2$I.wed_flow FROM %1$I.wed_flow _now
                                 WHERE _now.wid = ANY (_wids) ORDER BY _now.wid))
    $f$ $t$
  ] LOOP
    EXECUTE format(_statement, _s, _c, _id);
  END LOOP;
  PERFORM wed.install_constraints(_id);
  PERFORM wed.bound_rows(_s);
  PERFORM wed.compile(_id);

  FOREACH _statement IN ARRAY ARRAY[
    'CREATE TRIGGER gate_insert AFTER INSERT ON %1$I.wed_flow REFERENCING NEW TABLE AS new_rows
       FOR EACH STATEMENT EXECUTE FUNCTION %2$I.gate_insert()',
    'CREATE TRIGGER gate_update AFTER UPDATE ON %1$I.wed_flow
       REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
       WHEN (wed.is_by_hand())
       EXECUTE FUNCTION %2$I.gate_update()',
    'CREATE TRIGGER gate_delete BEFORE DELETE ON %1$I.wed_flow FOR EACH ROW EXECUTE FUNCTION wed.refuse_delete()',
    'CREATE TRIGGER gate_truncate BEFORE TRUNCATE ON %1$I.wed_flow
       FOR EACH STATEMENT EXECUTE FUNCTION wed.refuse_truncate()',

    -- The papers' worker protocol, made safe: the lock of (wid, tgid) is granted only while the job is
    -- there, is nobody''s, is due, and its condition holds. Unqualified calls find these first.
    $t$CREATE FUNCTION %1$I.pg_try_advisory_xact_lock(integer, integer) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.take_job(%3$s, $1, $2) $f$ $t$,
    $t$CREATE FUNCTION %1$I.wed_rematch(preview boolean DEFAULT true)
    RETURNS TABLE (wid integer, fires text[], becomes text) LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $f$ SELECT * FROM wed.rematch(%3$s, preview) $f$ $t$,
    'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %2$I FROM PUBLIC',
    'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %1$I FROM PUBLIC',
    'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %1$I TO %1$I'
  ] LOOP
    EXECUTE format(_statement, _s, _c, _id);
  END LOOP;
  EXECUTE format('ALTER FUNCTION %1$I.match_%1$s(%1$I.wed_flow[], integer[]) OWNER TO wed_predicate', _c);
  EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _c);
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I FROM PUBLIC', _c);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %1$I.match_%1$s(%1$I.wed_flow[], integer[]) TO %2$I', _c, current_user);
  RETURN _id;
END $_$;

ALTER FUNCTION wed.create_flow(_tenant text, _name text, _description text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.create_person(_tenant text, _name text, _roles text[] DEFAULT '{}'::text[]) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _tenant_id integer := (SELECT tenant_id FROM wed.tenant WHERE name = _tenant);
  _person_id integer;
BEGIN
  IF _tenant_id IS NULL THEN
    RAISE EXCEPTION 'there is no tenant "%"', _tenant USING ERRCODE = 'WF015', HINT = 'Create the tenant first.';
  ELSIF (SELECT count(*) FROM wed.person WHERE tenant_id = _tenant_id) >= 100000 THEN
    RAISE EXCEPTION 'the tenant has 100000 people, and no more are allowed' USING ERRCODE = 'WF085',
      HINT = 'Remove people who left.';
  END IF;
  INSERT INTO wed.person (tenant_id, name) VALUES (_tenant_id, _name) ON CONFLICT DO NOTHING;
  SELECT person_id INTO _person_id FROM wed.person WHERE tenant_id = _tenant_id AND name = _name;
  INSERT INTO wed.membership (person_id, role_id)
  SELECT _person_id, wed.make_role(_tenant_id, r) FROM unnest(_roles) r WHERE r IS NOT NULL ON CONFLICT DO NOTHING;
  RETURN _person_id;
END $$;

ALTER FUNCTION wed.create_person(_tenant text, _name text, _roles text[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.create_token(_tenant_id integer, _user text, _name text, _prefix text, _hash bytea, _scopes text[], _days integer, _live integer) RETURNS timestamp with time zone
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _user_id integer;
  _most integer;
  _expires timestamptz := clock_timestamp() + _days * interval '1 day';
BEGIN
  -- The lock keeps two makers of one name apart.
  SELECT u.user_id, t.token_days INTO _user_id, _most FROM wed.user u JOIN wed.tenant t USING (tenant_id)
  WHERE u.tenant_id = _tenant_id AND u.name = _user FOR NO KEY UPDATE OF u;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF _days NOT BETWEEN 1 AND _most THEN
    RAISE EXCEPTION 'a token of this tenant lives for 1 to % days, not for %', _most, _days
      USING ERRCODE = 'WF023', HINT = 'Ask for fewer days.';
  END IF;
  IF (SELECT count(*) FROM wed.token WHERE user_id = _user_id AND name = _name AND revoked_at IS NULL
      AND expires_at > clock_timestamp()) >= _live THEN
    RAISE EXCEPTION 'user "%" has % named "%" already', _user,
        CASE _live WHEN 1 THEN 'a live token' ELSE 'two live tokens' END, _name
      USING ERRCODE = 'WF023', HINT = CASE _live WHEN 1 THEN 'Rotate it, or choose another name.'
        ELSE 'Revoke the older one first, or wait until it expires.' END;
  END IF;
  INSERT INTO wed.token (tenant_id, user_id, name, prefix, hash, scopes, expires_at)
  VALUES (_tenant_id, _user_id, _name, _prefix, _hash, _scopes, _expires);
  RETURN _expires;
END $$;

ALTER FUNCTION wed.create_token(_tenant_id integer, _user text, _name text, _prefix text, _hash bytea, _scopes text[], _days integer, _live integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.data_attributes(_plan jsonb, _names jsonb) RETURNS text[]
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT CASE WHEN jsonb_typeof(_names) = 'array' THEN ARRAY(
    SELECT coalesce((SELECT d ->> 'attribute' FROM jsonb_array_elements(_plan -> 'data') d WHERE d ->> 'name' = n LIMIT 1), n)
    FROM jsonb_array_elements_text(_names) n) END
$$;

ALTER FUNCTION wed.data_attributes(_plan jsonb, _names jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.decide_late(_tenant text, _name text, _item_id bigint, _continue boolean, _extend interval DEFAULT NULL::interval, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id AND tenant_id = _person.tenant_id AND ended_at IS NULL;
  IF NOT FOUND OR NOT wed.answers_for(_person.person_id, _item.flow_id, _item.wid) THEN
    PERFORM wed.take_over_work(_tenant, _name, _item_id, _now);
  END IF;
  IF _continue THEN
    UPDATE wed.work_item SET deadline_at = coalesce(_now + _extend, deadline_at),
      warned = CASE WHEN _extend IS NULL THEN warned ELSE '{}' END
    WHERE item_id = _item_id RETURNING * INTO _item;
    PERFORM wed.set_alarm(_item_id, _now);
    PERFORM wed.record_work(_item, _name, 'continued', jsonb_build_object('deadline_at', _item.deadline_at), _now);
    RETURN wed.work_document(_item);
  END IF;
  IF _item.holder IS DISTINCT FROM _person.person_id THEN
    PERFORM wed.hand_over(_item, _person.person_id, _name, 'taken_over', _now);
  END IF;
  RETURN wed.report_work(_tenant, _name, _item_id, false, '{}', 'late-' || _item_id, 'stopped: its deadline passed', NULL, _now);
END $$;

ALTER FUNCTION wed.decide_late(_tenant text, _name text, _item_id bigint, _continue boolean, _extend interval, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.declared(_flow_id integer, _kind text) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT CASE WHEN bool_and(d.attributes IS NOT NULL) THEN ARRAY(
      SELECT DISTINCT r ->> 'name' FROM wed.trigger t JOIN wed.component c USING (component_id)
      CROSS JOIN LATERAL jsonb_array_elements(c.manifest -> 'transitions') e CROSS JOIN LATERAL jsonb_array_elements(e -> _kind) r
      WHERE t.flow_id = _flow_id AND e ->> 'transition' = t.trname) END
  FROM wed.trigger t JOIN wed.component c USING (component_id)
  LEFT JOIN LATERAL (SELECT nullif(e -> _kind, 'null') AS attributes FROM jsonb_array_elements(c.manifest -> 'transitions') e
                     WHERE e ->> 'transition' = t.trname) d ON true
  WHERE t.flow_id = _flow_id
$$;

ALTER FUNCTION wed.declared(_flow_id integer, _kind text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.delay_jobs(_flow_id integer, _wid integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  WITH b AS MATERIALIZED (
    SELECT j.ctid AS at, j.wid, j.tgid FROM wed.job j
    WHERE j.flow_id = _flow_id AND (_wid IS NULL OR j.wid = _wid) AND j.host_id IS NULL AND j.blocked IS NULL
      AND EXISTS (SELECT FROM wed.precedence p WHERE p.tgid = j.tgid AND (p.wid IS NULL OR p.wid = j.wid))
      AND NOT wed.is_in_order(_flow_id, j.wid, j.tgid) AND NOT wed.is_held(_flow_id, j.wid, j.tgid) FOR UPDATE OF j SKIP LOCKED
  ), l AS MATERIALIZED (
    SELECT b.at, pg_try_advisory_xact_lock(b.wid, b.tgid) AS ours FROM b)
  UPDATE wed.job j SET blocked = 'p', due = 'infinity' FROM l WHERE l.ours AND j.ctid = l.at;
END $$;

ALTER FUNCTION wed.delay_jobs(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.delegate_work(_tenant text, _name text, _item_id bigint, _to text, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _other wed.person := wed.person_of(_tenant, _to);
  _item wed.work_item;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id AND tenant_id = _person.tenant_id AND ended_at IS NULL;
  IF NOT FOUND THEN PERFORM wed.refuse_claim(_person, _item_id, 'SELECTED'); END IF;
  IF NOT wed.answers_for(_person.person_id, _item.flow_id, _item.wid) THEN
    IF _item.holder IS DISTINCT FROM _person.person_id THEN PERFORM wed.refuse_holder(_person, _item_id); END IF;
    IF _item.role_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM wed.membership WHERE person_id = _other.person_id AND role_id = _item.role_id) THEN
      RAISE EXCEPTION '"%" has not the role of work item % (%)', _to, _item_id, _item.task USING ERRCODE = 'WF083',
        HINT = 'Delegate to somebody of the role, or ask who is in charge.';
    END IF;
  END IF;
  RETURN wed.hand_over(_item, _other.person_id, _person.name, 'delegated', _now);
END $$;

ALTER FUNCTION wed.delegate_work(_tenant text, _name text, _item_id bigint, _to text, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.disconnect_person(_tenant text, _name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  UPDATE wed.person SET active = false WHERE person_id = _person.person_id;
END $$;

ALTER FUNCTION wed.disconnect_person(_tenant text, _name text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.drop_flow(_flow_id integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _flow wed.flow;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id FOR UPDATE;
  EXECUTE format('DROP SCHEMA %I CASCADE', _flow.schema_name);
  EXECUTE format('DROP SCHEMA %I CASCADE', _flow.shape_schema);
  DELETE FROM wed.job WHERE flow_id = _flow_id;
  UPDATE wed.request SET state = 'f', leads = true, xid = pg_current_xact_id() WHERE flow_id = _flow_id;
  DELETE FROM wed.resource WHERE tenant_id = _flow.tenant_id AND resource = '#' || _flow_id;
  DELETE FROM wed.task_done WHERE flow_id = _flow_id;
  DELETE FROM wed.flow WHERE flow_id = _flow_id;
  INSERT INTO wed.residue VALUES (_flow_id);
  -- A role that was let connect by a grant of its own (let_connect) loses it, last of all: others wait for that.
  IF EXISTS (SELECT FROM pg_database d, aclexplode(d.datacl) a
             WHERE d.datname = current_database() AND a.grantee = to_regrole(quote_ident(_flow.role_name))) THEN
    PERFORM wed.hold_database_grants();
  END IF;
  EXECUTE format('DROP OWNED BY %I', _flow.role_name);
  EXECUTE format('DROP ROLE %I', _flow.role_name);
END $$;

ALTER FUNCTION wed.drop_flow(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.drop_order(_flow_id integer, _trigger text, _after text, _wid integer, _actor text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _flow wed.flow;
BEGIN
  IF _wid IS NOT NULL THEN PERFORM wed.operated(_flow_id, _wid); END IF;
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  DELETE FROM wed.precedence p USING wed.trigger t
  WHERE t.tgid = p.tgid AND p.flow_id = _flow_id AND p.wid IS NOT DISTINCT FROM _wid AND p.after = _after AND _trigger IN (t.tgname, t.trname);
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM wed.ask(_flow, ARRAY(SELECT j.wid FROM wed.job j WHERE j.flow_id = _flow_id AND j.blocked = 'p' AND (_wid IS NULL OR j.wid = _wid)), NULL);
  PERFORM wed.note_flow(_actor, _flow_id, 'order.drop', _trigger, jsonb_build_object('after', _after, 'wid', _wid));
  RETURN true;
END $$;

ALTER FUNCTION wed.drop_order(_flow_id integer, _trigger text, _after text, _wid integer, _actor text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.drop_person(_tenant text, _name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  UPDATE wed.work_item SET state = 'READY', holder = NULL, claim = claim + 1, held_since = NULL
  WHERE holder = _person.person_id AND ended_at IS NULL;
  DELETE FROM wed.person WHERE person_id = _person.person_id;
  PERFORM wed.tell_people(_person.tenant_id);
END $$;

ALTER FUNCTION wed.drop_person(_tenant text, _name text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.drop_tenant(_tenant_id integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _flow_id integer;
BEGIN
  FOR _flow_id IN SELECT flow_id FROM wed.flow WHERE tenant_id = _tenant_id ORDER BY flow_id LOOP
    PERFORM wed.drop_flow(_flow_id);
  END LOOP;
  DELETE FROM wed.tenant WHERE tenant_id = _tenant_id;
END $$;

ALTER FUNCTION wed.drop_tenant(_tenant_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.end_late(_limit integer) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    SET "IntervalStyle" TO 'postgres'
    AS $$
DECLARE
  _late record;
  _ended bigint := 0;
BEGIN
  FOR _late IN
    SELECT j.flow_id, j.wid, j.tgid, j.trname, p.deadline FROM wed.trigger_policy p
    JOIN wed.job j ON j.flow_id = p.flow_id AND j.tgid = p.tgid
    WHERE p.deadline IS NOT NULL AND j.fired_at + p.deadline <= clock_timestamp() AND NOT wed.is_paused(j.due)
    ORDER BY j.flow_id, j.wid LIMIT _limit
  LOOP
    BEGIN
      IF wed.pass_as_it_stands(_late.flow_id, _late.wid, _late.tgid, '_DEADLINE',
                               format('%s: not done within %s', _late.trname, _late.deadline), NULL, NULL) THEN
        _ended := _ended + 1;
      END IF;
    EXCEPTION WHEN lock_not_available THEN
      NULL; -- somebody commits for it just now
    END;
  END LOOP;
  RETURN _ended;
END $$;

ALTER FUNCTION wed.end_late(_limit integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.end_overdue() RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _late record;
  _job wed.job;
  _ended bigint := 0;
BEGIN
  FOR _late IN SELECT * FROM wed.late_workers() w WHERE w.due > now() LOOP
    CONTINUE WHEN NOT pg_terminate_backend(_late.pid, 2000);
    _ended := _ended + 1;
    -- What kept others from the job until now (count_overdue).
    UPDATE wed.job SET due = due - interval '1 second'
    WHERE flow_id = _late.flow_id AND wid = _late.wid AND tgid = _late.tgid AND due = _late.due;
    SELECT j.* INTO _job FROM wed.job j JOIN wed.trigger t USING (tgid)
    WHERE j.flow_id = _late.flow_id AND j.wid = _late.wid AND j.tgid = _late.tgid AND j.host_id IS NULL AND j.attempt >= t.attempts;
    CONTINUE WHEN NOT FOUND;
    PERFORM wed.pass_as_it_stands(_job.flow_id, _job.wid, _job.tgid, '_ABORT',
      format('%s: timed_out after %s attempts', _job.trname, _job.attempt), NULL, NULL);
  END LOOP;
  RETURN _ended;
END $$;

ALTER FUNCTION wed.end_overdue() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.enter_host(_name text, _lease interval) RETURNS integer
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  INSERT INTO wed.host (name, expires_at, beside_old)
  VALUES (_name, clock_timestamp() + _lease, wed.is_beside_old()) RETURNING host_id
$$;

ALTER FUNCTION wed.enter_host(_name text, _lease interval) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.escalate_work(_item wed.work_item, _to text, _now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO wed.work_offer (person_id, item_id, offered_at)
  SELECT p.person_id, _item.item_id, _now FROM wed.person p
  WHERE p.tenant_id = _item.tenant_id AND (p.name = _to OR EXISTS (
    SELECT FROM wed.membership m WHERE m.person_id = p.person_id AND m.role_id = wed.role_named(_item.tenant_id, _to)))
  ORDER BY p.person_id LIMIT 10000 ON CONFLICT DO NOTHING;
  PERFORM wed.send_message(wed.in_charge(_item.flow_id, _item.wid), 'task_escalated', wed.work_place(_item.flow_id, _item.wid),
    format('Nobody took %s; it was offered to %s as well.', _item.task, coalesce(_to, 'nobody else')), _item.item_id, _now);
  PERFORM wed.record_work(_item, 'wedflow', 'escalated', jsonb_build_object('to', _to), _now);
  PERFORM wed.tell_people(_item.tenant_id);
END $$;

ALTER FUNCTION wed.escalate_work(_item wed.work_item, _to text, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.fail_batch(_host_id integer, _items jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $_$
DECLARE
  _item record;
  _job wed.job;
  _trigger wed.trigger;
  _running integer;
  _others integer;
BEGIN
  FOR _item IN
    SELECT i.*, f.schema_name
    FROM jsonb_to_recordset(_items) AS i(flow integer, wid integer, token bigint, outcome text, message text,
      retry boolean, after_us bigint, fuel bigint, us bigint, mem bigint)
    JOIN wed.flow f ON f.flow_id = i.flow ORDER BY i.flow, i.wid
  LOOP
    EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _item.schema_name) USING _item.wid;
    SELECT * INTO _job FROM wed.job
    WHERE flow_id = _item.flow AND wid = _item.wid AND host_id = _host_id AND token = _item.token FOR UPDATE;
    CONTINUE WHEN NOT FOUND; -- the lease was lost; whoever has the job now goes on with it
    SELECT * INTO _trigger FROM wed.trigger WHERE tgid = _job.tgid;
    INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, fuel, elapsed_us, memory_bytes, writer)
    VALUES (_job.flow_id, _job.wid, _job.tgid, _job.trname, _job.attempt, _item.outcome, left(_item.message, 8192),
            _item.fuel, _item.us, _item.mem, 'host:' || _host_id);
    IF _item.outcome = 'final_pending' THEN
      SELECT count(*), count(*) FILTER (WHERE waits_for IS NULL) INTO _others, _running
      FROM wed.job WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid <> _job.tgid;
      IF _others = 0 OR _running > 0 THEN
        UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1,
          due = CASE WHEN _others = 0 THEN now() ELSE 'infinity' END,
          waits_for = CASE WHEN _others > 0 THEN 'the pending transitions of its instance' END
        WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
        IF _others = 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
        CONTINUE;
      END IF;
    ELSIF _item.retry AND _job.attempt < _trigger.attempts THEN
      UPDATE wed.job SET host_id = NULL, token = 0,
        due = now() + least(CASE WHEN _item.after_us IS NULL THEN _trigger.backoff * (2 ^ least(_job.attempt - 1, 30))
          ELSE least(_item.after_us, 86400000000) * interval '1 microsecond' END, interval '1 day')
      WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid RETURNING due INTO _job.due;
      IF _trigger.constrained THEN PERFORM wed.ask_again(_job.flow_id, ARRAY[_job.wid], ARRAY[_job.tgid], _job.due); END IF;
      CONTINUE;
    END IF;
    PERFORM wed.pass_as_it_stands(_job.flow_id, _job.wid, _job.tgid, '_ABORT',
      format('%s: %s after %s attempts: %s', _job.trname, _item.outcome, _job.attempt, left(_item.message, 1000)),
      NULL, _host_id, _item.fuel, _item.us, _item.mem);
  END LOOP;
END $_$;

ALTER FUNCTION wed.fail_batch(_host_id integer, _items jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.fail_task(_flow_id integer, _wid integer, _tgid integer, _token bigint, _note text, _host_id integer, _fuel bigint, _us bigint, _memory bigint) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _state text;
BEGIN
  SELECT task ->> 'state' INTO _state
  FROM wed.work_plan p CROSS JOIN LATERAL jsonb_array_elements(p.plan -> 'tasks') task
  JOIN wed.trigger t ON t.tgid = _tgid AND t.tgname = task ->> 'trigger'
  WHERE p.flow_id = _flow_id AND task ->> 'type' = 'automatic' AND (task ->> 'failure_expected')::boolean;
  IF _state IS NULL THEN RETURN false; END IF;
  PERFORM wed.write_values(_flow_id, _wid, jsonb_build_object(_state, 'FAILED'));
  -- What is fired is left to any host.
  PERFORM wed.settle(wed.as_it_stands(_flow_id, _wid), ARRAY[_tgid], ARRAY[_token], _host_id, NULL, NULL, _note,
                     ARRAY[_fuel], ARRAY[_us], ARRAY[_memory], false);
  PERFORM pg_notify('wed_jobs', '');
  RETURN true;
END $$;

ALTER FUNCTION wed.fail_task(_flow_id integer, _wid integer, _tgid integer, _token bigint, _note text, _host_id integer, _fuel bigint, _us bigint, _memory bigint) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.first_in_queue(_key wed.resource_key) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
  RETURN (SELECT request_id FROM wed.reservation
          WHERE tenant_id = _key.tenant_id AND resource = _key.resource AND key = _key.key AND NOT held
          ORDER BY priority DESC, request_id LIMIT 1);
END $$;

ALTER FUNCTION wed.first_in_queue(_key wed.resource_key) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.first_of_all(_keys wed.resource_key[], _covered bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
  _ids bigint[];
  _some bigint[];
BEGIN
  _ids := ARRAY(SELECT DISTINCT f FROM (SELECT wed.first_in_queue(k) AS f FROM unnest(_keys) k) q WHERE f IS NOT NULL);
  IF _ids = '{}' THEN RETURN NULL; END IF;
  -- Counted keys bring in others, whose locks nobody foresaw.
  IF NOT _ids <@ _covered THEN
    _some := ARRAY(SELECT i FROM unnest(_ids) i WHERE i <> ALL (_covered));
    _ids := ARRAY(
      SELECT i FROM unnest(_ids) i WHERE i = ANY (_covered)
      UNION ALL
      SELECT n.i FROM (
        SELECT s.i, ARRAY(SELECT ROW(tenant_id, resource, key)::wed.resource_key FROM wed.reservation WHERE request_id = s.i) AS needs
        FROM unnest(_some) s(i)) n
      WHERE cardinality(wed.lock_keys(n.needs, true)) = cardinality(n.needs));
  END IF;
  RETURN (
    WITH l AS MATERIALIZED (
      SELECT r.* FROM wed.request r WHERE r.request_id = ANY (_ids) AND r.state IN ('n', 'w')
      ORDER BY r.request_id FOR UPDATE OF r SKIP LOCKED)
    SELECT array_agg(l.request_id) FROM l WHERE wed.in_the_way(ROW(l.*)::wed.request) IS NULL);
END $$;

ALTER FUNCTION wed.first_of_all(_keys wed.resource_key[], _covered bigint[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.forget_audit(_actor text, _older interval) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _forgotten bigint;
BEGIN
  IF _older IS NULL OR _older < interval '30 days' THEN
    RAISE EXCEPTION 'the audit log is kept for 30 days at the least' USING ERRCODE = 'WF022',
      HINT = 'Give a longer time.';
  END IF;
  DELETE FROM wed.audit WHERE at < clock_timestamp() - _older;
  GET DIAGNOSTICS _forgotten = ROW_COUNT;
  PERFORM wed.note(_actor, NULL, 'audit.forget', _older::text, jsonb_build_object('entries', _forgotten));
  RETURN _forgotten;
END $$;

ALTER FUNCTION wed.forget_audit(_actor text, _older interval) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.format_uses(_format text, _n integer) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _place text[];
  _argument integer := 0;
  _uses integer := 0;
BEGIN
  FOR _place IN SELECT regexp_matches(replace(_format, '%%', ''), '%(?:([0-9]{1,4})\$)?', 'g') LOOP
    _argument := coalesce(_place[1]::integer, _argument + 1);
    _uses := _uses + (_argument = _n)::integer;
  END LOOP;
  RETURN _uses;
END $_$;

ALTER FUNCTION wed.format_uses(_format text, _n integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.free(_flow wed.flow, _wids integer[], _tgids integer[], _committed boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF _flow.ordered THEN
    IF _committed THEN
      INSERT INTO wed.task_done (flow_id, wid, tgid)
      SELECT _flow.flow_id, u.wid, u.tgid FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
      WHERE u.tgid IS NOT NULL ON CONFLICT DO NOTHING;
    END IF;
    PERFORM wed.take_order(_flow, _wids);
  END IF;
  WITH i AS MATERIALIZED (
    SELECT u.wid, u.tgid, s.status, g.tgname, g.trname FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
    JOIN wed.instance s ON s.flow_id = _flow.flow_id AND s.wid = u.wid
    LEFT JOIN LATERAL (SELECT tgname, trname FROM wed.trigger WHERE tgid = u.tgid OFFSET 0) g ON true
  ), gone AS (
    SELECT r.request_id, r.consumes AND r.state = 'h' AND _committed AND (r.holds = 'transition' AND r.tgid = i.tgid
             OR r.holds IN (i.tgname, i.trname) OR r.holds = 'instance' AND i.status = 'F') IS TRUE AS takes,
           row_number() OVER () = 1 AS leads
    FROM i JOIN wed.request r ON r.flow_id = _flow.flow_id AND r.wid = i.wid AND r.state NOT IN ('f', 'c')
    WHERE r.tgid = i.tgid AND (r.holds = 'transition' OR r.state <> 'h' OR NOT _committed)
       OR _committed AND r.state = 'h' AND r.holds IN (i.tgname, i.trname)
       OR i.status <> 'R' AND NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = r.flow_id AND j.wid = r.wid AND j.tgid = r.tgid
                                          AND j.blocked IS DISTINCT FROM 'a'))
  UPDATE wed.request r SET state = CASE WHEN g.takes THEN 'c' ELSE 'f' END, leads = g.leads, xid = pg_current_xact_id()
  FROM gone g WHERE r.request_id = g.request_id;
END $$;

ALTER FUNCTION wed.free(_flow wed.flow, _wids integer[], _tgids integer[], _committed boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.free_abandoned() RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _gone integer[];
  _of record;
  _freed bigint := 0;
BEGIN
  _gone := ARRAY(SELECT host_id FROM wed.host WHERE expires_at < clock_timestamp() FOR UPDATE SKIP LOCKED);
  _gone := _gone || ARRAY(SELECT h.host_id FROM wed.hosts_with_jobs() h
                          WHERE NOT EXISTS (SELECT FROM wed.host k WHERE k.host_id = h.host_id));
  IF _gone = '{}' THEN RETURN 0; END IF;
  FOR _of IN
    WITH freed AS (
      UPDATE wed.job SET host_id = NULL, token = 0, due = least(due, now())
      WHERE host_id = ANY (_gone) RETURNING *
    ), kept AS (
      INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
      SELECT flow_id, wid, tgid, trname, attempt, 'abandoned', 'the host that ran it is gone', 'wedflow' FROM freed)
    SELECT flow_id, array_agg(wid ORDER BY wid) AS wids, array_agg(tgid ORDER BY wid) AS tgids FROM freed GROUP BY flow_id ORDER BY flow_id
  LOOP
    _freed := _freed + cardinality(_of.wids);
    -- Who waits for what they hold comes first now.
    IF EXISTS (SELECT FROM wed.flow WHERE flow_id = _of.flow_id AND constrained) THEN
      PERFORM wed.ask_again(_of.flow_id, _of.wids, _of.tgids, NULL);
    END IF;
  END LOOP;
  DELETE FROM wed.host WHERE host_id = ANY (_gone);
  IF _freed > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  RETURN _freed;
END $$;

ALTER FUNCTION wed.free_abandoned() OWNER TO CURRENT_USER;

CREATE TABLE wed.usage (
    tenant_id integer NOT NULL,
    instances bigint DEFAULT 0 NOT NULL,
    jobs bigint DEFAULT 0 NOT NULL,
    started bigint DEFAULT 0 NOT NULL,
    measured_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    minute timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    fuel bigint DEFAULT 0 NOT NULL,
    fuel_before bigint DEFAULT 0 NOT NULL,
    resting boolean DEFAULT false NOT NULL,
    trace_bytes bigint DEFAULT 0 NOT NULL,
    row_bytes bigint DEFAULT 0 NOT NULL,
    weighed_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE wed.usage OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.usage.started IS 'Where the sequence was when the others were counted.';

COMMENT ON COLUMN wed.usage.fuel IS 'What hosts have told of this minute; fuel_before of the one before.';

COMMENT ON COLUMN wed.usage.resting IS 'Its fuel is used up: nobody claims its jobs.';

CREATE FUNCTION wed.fuel_used(_usage wed.usage) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
  SELECT CASE (_usage).minute
    WHEN m.now THEN (_usage).fuel + ((_usage).fuel_before * m.rest)::bigint
    WHEN m.now - interval '1 minute' THEN ((_usage).fuel * m.rest)::bigint ELSE 0 END
  FROM (SELECT date_trunc('minute', clock_timestamp()) AS now,
               1 - extract(second FROM clock_timestamp())::float8 / 60 AS rest) m
$$;

ALTER FUNCTION wed.fuel_used(_usage wed.usage) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.gate_insert(_flow_id integer, _rows wed.evaluated[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
  _code text;
  _said text;
  _detail text;
  _hint text;
  _bad wed.evaluated;
  _most CONSTANT integer := 2000000000;
  _schema text;
BEGIN
  SELECT * INTO _bad FROM unnest(_rows) r
  WHERE r.wid < 1 OR r.wid > _most OR r.fault IS NOT NULL OR (r.fired = '{}' AND NOT r.final) ORDER BY r.wid LIMIT 1;
  IF _bad.wid > _most THEN
    -- The sequence follows the largest number, whether its transaction is committed or not.
    RAISE EXCEPTION 'the wid of an instance is at most %, and % is more', _most, _bad.wid USING ERRCODE = '23514',
      HINT = 'Leave it out: the next free one is taken.';
  END IF;
  IF _bad.wid < 1 THEN
    RAISE EXCEPTION 'the wid of an instance is a positive number, and % is none', _bad.wid USING ERRCODE = '23514',
      HINT = 'Leave it out: the next free one is taken.';
  END IF;
  IF _bad.fault IS NOT NULL THEN
    RAISE EXCEPTION 'the initial state of instance % cannot be evaluated: %', _bad.wid, _bad.fault
      USING ERRCODE = 'WF014', HINT = 'Mend the values, or write the condition so that it holds for them too.';
  ELSIF _bad.wid IS NOT NULL THEN
    RAISE EXCEPTION 'the initial state of instance % satisfies no condition', _bad.wid
      USING ERRCODE = 'WF001', DETAIL = left(_bad.state::jsonb::text, 1000),
        HINT = 'A new instance must fire at least one transition, or be final; see wed_trig.';
  END IF;
  INSERT INTO wed.instance (flow_id, wid, status) SELECT _flow_id, r.wid, 'R' FROM unnest(_rows) r;
  IF EXISTS (SELECT FROM wed.work_plan WHERE flow_id = _flow_id) THEN
    PERFORM wed.name_instances(_flow_id, ARRAY(SELECT r.wid FROM unnest(_rows) r ORDER BY r.wid));
  END IF;
  PERFORM wed.settle(_rows, NULL, NULL);
  -- A wid given by hand must not be given again by the sequence.
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = _flow_id;
  PERFORM setval(s.seq, m.wid)
  FROM (SELECT max(r.wid) AS wid FROM unnest(_rows) r) m,
       (SELECT pg_get_serial_sequence(format('%I.wed_flow', _schema), 'wid')::regclass AS seq) s
  WHERE m.wid > coalesce(pg_sequence_last_value(s.seq), 0);
EXCEPTION WHEN OTHERS THEN
  -- Said again from here: whoever writes by hand reads why, and not the statements of the gate.
  GET STACKED DIAGNOSTICS _code = RETURNED_SQLSTATE, _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL,
    _hint = PG_EXCEPTION_HINT;
  RAISE EXCEPTION USING ERRCODE = _code, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END $$;

ALTER FUNCTION wed.gate_insert(_flow_id integer, _rows wed.evaluated[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.gate_update(_rows wed.evaluated[], _tgids integer[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
  _code text;
  _said text;
  _detail text;
  _hint text;
  _none bigint[] := array_fill(0::bigint, ARRAY[cardinality(_tgids)]);
  _events integer[];
BEGIN
  IF array_position(_tgids, NULL) IS NULL THEN
    PERFORM wed.settle(_rows, _tgids, _none);
    RETURN;
  END IF;
  -- Events apart: what wrote is not a job's transition.
  _events := ARRAY(SELECT at FROM unnest(_tgids) WITH ORDINALITY t(tgid, at) WHERE tgid IS NULL);
  PERFORM wed.settle(ARRAY(SELECT _rows[at] FROM unnest(_events) at), NULL, NULL, NULL, '_EVENT');
  IF cardinality(_events) < cardinality(_tgids) THEN
    PERFORM wed.settle(ARRAY(SELECT _rows[at] FROM generate_subscripts(_rows, 1) at WHERE at <> ALL (_events)),
                       array_remove(_tgids, NULL), _none);
  END IF;
EXCEPTION WHEN OTHERS THEN
  -- Said again from here: whoever writes by hand reads why, and not the statements of the gate.
  GET STACKED DIAGNOSTICS _code = RETURNED_SQLSTATE, _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL,
    _hint = PG_EXCEPTION_HINT;
  RAISE EXCEPTION USING ERRCODE = _code, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END $$;

ALTER FUNCTION wed.gate_update(_rows wed.evaluated[], _tgids integer[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.gather(_rows wed.evaluated[], _tgids integer[], _tokens bigint[], _trw text, _forced text, _fuel bigint[], _us bigint[], _memory bigint[]) RETURNS SETOF wed.passing
    LANGUAGE sql STABLE ROWS 100
    AS $$
  SELECT r.flow_id, r.version, r.wid, r.state, r.payload,
    CASE WHEN r.kept IS NOT NULL THEN s.satisfied END, o.forced, r.tgid,
    coalesce(_trw, q.trname), q.attempt, r.fuel, r.us, r.memory,
    q.own, q.from_seq, q.component_id, coalesce(q.last_seq, 0) + 1, q.others, q.excpt, q.waiting, f.fire, q.was,
    (CASE WHEN r.final AND o.forced IS NULL AND q.others = 0 THEN 'F'
          WHEN o.forced IS NOT NULL OR q.excpt OR (q.others = 0 AND f.fire = '{}') THEN 'E'
          ELSE 'R' END)::"char",
    CASE WHEN r.tgid IS NOT NULL AND q.own IS NULL THEN 'lost'
         WHEN q.was IS NULL AND coalesce(_trw, 'new') <> 'new' THEN 'WF002'
         WHEN q.others > 0 AND r.final AND o.forced IS NULL AND (_trw IS NULL OR _trw = '_EVENT') THEN 'WF007'
         WHEN r.kept <> '{}' AND r.version IS DISTINCT FROM q.version THEN 'again' END
  FROM unnest(_rows) WITH ORDINALITY AS e(flow_id, version, wid, state, payload, fired, kept, final, fault, at)
  CROSS JOIN LATERAL (SELECT e.*, _tgids[e.at] AS tgid, _tokens[e.at] AS token, _fuel[e.at] AS fuel, _us[e.at] AS us,
    _memory[e.at] AS memory) r
  -- Nearly always the job that ends is its instance's only one. Looked for from the index's end: of a row whose old versions
  -- must be kept, the newest is there. (Not by equality, which Postgres takes for any order.)
  LEFT JOIN LATERAL (
    SELECT ctid, trname, attempt, seq, component_id, last_seq, version, satisfied FROM wed.job
    WHERE flow_id = r.flow_id AND wid >= r.wid AND wid <= r.wid AND tgid = r.tgid AND token = r.token AND beside = 0
    ORDER BY wid DESC LIMIT 1) a ON true
  CROSS JOIN LATERAL (
    -- Where there is none, all of the instance's are looked at. Not a join: that would be begun for each, for nothing.
    SELECT CASE WHEN a.ctid IS NULL THEN (
      SELECT ROW(
        max(j.ctid) FILTER (WHERE j.mine),
        max(j.trname) FILTER (WHERE j.mine),
        max(j.attempt) FILTER (WHERE j.mine),
        max(j.seq) FILTER (WHERE j.mine),
        max(j.component_id) FILTER (WHERE j.mine),
        max(j.last_seq), max(j.version), max(j.satisfied),
        count(*) FILTER (WHERE NOT j.mine),
        bool_or(j.trname = '_EXCPT' AND NOT j.mine),
        bool_or(j.waits_for IS NOT NULL AND NOT j.mine),
        array_agg(j.tgid) FILTER (WHERE NOT j.mine),
        bool_or(j.trname = '_EXCPT'))::wed.pool
      FROM (SELECT *, ctid, (tgid = r.tgid AND token = r.token) IS TRUE AS mine FROM wed.job
            WHERE flow_id = r.flow_id AND wid = r.wid OFFSET 0) j) END AS pool OFFSET 0) b
  CROSS JOIN LATERAL (
    SELECT coalesce(a.ctid, (b.pool).own) AS own, coalesce(a.trname, (b.pool).trname) AS trname,
           greatest(coalesce(a.attempt, (b.pool).attempt), 1) AS attempt, coalesce(a.seq, (b.pool).from_seq) AS from_seq,
           coalesce(a.component_id, (b.pool).component_id) AS component_id, coalesce(a.last_seq, (b.pool).last_seq) AS last_seq,
           coalesce(a.version, (b.pool).version) AS version, coalesce(a.satisfied, (b.pool).satisfied) AS satisfied,
           coalesce((b.pool).others, 0) AS others, coalesce((b.pool).excpt, false) AS excpt, coalesce((b.pool).waiting, false) AS waiting,
           coalesce((b.pool).pending, '{}') AS pending,
           (CASE coalesce(a.trname = '_EXCPT', (b.pool).served) WHEN true THEN 'E' WHEN false THEN 'R' END)::"char" AS was) q
  -- A compensation's state fires nothing (wed.undo_next).
  CROSS JOIN LATERAL (
    SELECT coalesce(_forced, r.fault, CASE WHEN q.satisfied = '{-1}' THEN 'undone by ' || q.trname END) AS forced) o
  CROSS JOIN LATERAL (
    SELECT CASE WHEN r.kept IS NULL OR r.kept = '{}' THEN r.fired
                ELSE r.fired || ARRAY(SELECT x FROM unnest(q.satisfied) x WHERE (x >> 32)::integer = ANY (r.kept))
           END AS satisfied) s
  CROSS JOIN LATERAL (
    SELECT CASE
      WHEN r.final OR o.forced IS NOT NULL THEN '{}'
      WHEN r.kept IS NULL AND q.others = 0 THEN r.fired::integer[]
      WHEN r.kept IS NULL THEN ARRAY(SELECT x::integer FROM unnest(s.satisfied) x WHERE x <> ALL (q.pending))
      ELSE ARRAY(SELECT (x & 4294967295)::integer FROM unnest(s.satisfied) x
                 WHERE (x & 4294967295)::integer <> ALL (q.pending) ORDER BY 1) END AS fire OFFSET 0) f
$$;

ALTER FUNCTION wed.gather(_rows wed.evaluated[], _tgids integer[], _tokens bigint[], _trw text, _forced text, _fuel bigint[], _us bigint[], _memory bigint[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.give_up_attempts(_flow_id integer, _wid integer) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = greatest(attempt - 1, 0)
  WHERE flow_id = _flow_id AND wid = _wid AND host_id IS NOT NULL
$$;

ALTER FUNCTION wed.give_up_attempts(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.go_back(_flow_id integer, _wid integer, _to_seq integer, _actor text, _reason text) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _last integer;
  _steps integer;
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  IF wed.operated(_flow_id, _wid) <> 'E' THEN
    RAISE EXCEPTION 'instance % is no exception', _wid USING ERRCODE = 'WF043',
      HINT = 'Only an exception goes back; skip or cancel what is pending first.';
  END IF;
  SELECT max(last_seq) INTO _last FROM wed.job WHERE flow_id = _flow_id AND wid = _wid;
  IF _to_seq NOT BETWEEN 1 AND _last THEN
    RAISE EXCEPTION 'instance % has no step %', _wid, _to_seq USING ERRCODE = 'WF040',
      HINT = format('Its trace goes from 1 to %s.', _last);
  END IF;
  SELECT count(*) INTO _steps FROM wed.steps_to_undo(_flow_id, _wid, _to_seq);
  INSERT INTO wed.going_back (flow_id, wid, to_seq, from_seq, actor, reason)
  VALUES (_flow_id, _wid, _to_seq, _last, _actor, _reason)
  ON CONFLICT (flow_id, wid) DO UPDATE SET to_seq = excluded.to_seq, from_seq = excluded.from_seq, stopped = false,
    actor = excluded.actor, reason = excluded.reason;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.back', _wid::text,
                        jsonb_build_object('to', _to_seq, 'steps', _steps, 'reason', _reason));
  PERFORM wed.undo_next(_flow_id, _wid);
  RETURN _steps;
END $$;

ALTER FUNCTION wed.go_back(_flow_id integer, _wid integer, _to_seq integer, _actor text, _reason text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.grant_keys(_keys wed.resource_key[], _covered bigint[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
  _ids bigint[];
  _all bigint[] := '{}';
BEGIN
  LOOP
    _ids := wed.first_of_all(_keys, _covered);
    EXIT WHEN _ids IS NULL;
    -- What the same trigger holds of its last firing is replaced.
    WITH o AS (
      SELECT o.request_id FROM wed.request r JOIN wed.request o
      ON o.flow_id = r.flow_id AND o.wid = r.wid AND o.tgid = r.tgid AND o.state = 'h' WHERE r.request_id = ANY (_ids)
    ), v AS (
      DELETE FROM wed.reservation v USING o WHERE v.request_id = o.request_id)
    DELETE FROM wed.request r USING o WHERE r.request_id = o.request_id;
    UPDATE wed.reservation v SET held = true, beside = v.amount IS NULL AND EXISTS (
        SELECT FROM wed.reservation o WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key
        AND o.held AND o.amount IS NULL AND o.request_id <> v.request_id)
    WHERE v.request_id = ANY (_ids);
    UPDATE wed.request SET state = 'h', leads = false, granted_at = clock_timestamp() WHERE request_id = ANY (_ids);
    _all := _all || _ids;
    -- Perhaps there is enough for the next one too.
    SELECT array_agg(DISTINCT ROW(v.tenant_id, v.resource, v.key)::wed.resource_key) INTO _keys FROM wed.reservation v
    WHERE v.request_id = ANY (_ids) AND EXISTS (
      SELECT FROM wed.reservation n WHERE n.tenant_id = v.tenant_id AND n.resource = v.resource AND n.key = v.key AND NOT n.held);
    EXIT WHEN _keys IS NULL;
  END LOOP;
  RETURN (SELECT sum(wed.make_due(g.flow_id, g.wids, g.tgids, false)) FROM (SELECT flow_id, array_agg(wid ORDER BY wid) AS wids, array_agg(tgid ORDER BY wid) AS tgids FROM wed.request
        WHERE request_id = ANY (_all) GROUP BY flow_id ORDER BY flow_id) g);
END $$;

ALTER FUNCTION wed.grant_keys(_keys wed.resource_key[], _covered bigint[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.guarded(_sql text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _t text[];
  _n integer;
  _out text[];
  _opens integer[] := '{}';   -- where in _out each open bracket stands
  _names text[] := '{}';      -- the function it belongs to
  _argument integer[] := '{}';
  _wrapped boolean[] := '{}'; -- an inner bracket is to be closed with it
  _d integer := 0;
  _i integer := 0;
  _token text;
  _rest text;
  _next text;
  _number text;
  _literal text;
  _sought integer := 0;       -- bytes that are searched for, altogether
  _what text;                 -- how: as a text, a set of characters, the parts of a list
  _range text := '(int4range|int8range|numrange|daterange|tsrange|tstzrange)';
  _list text := $r$ARRAY\[(?:(?:'(?:[^']|'')*'|\(?-?[0-9.]+\)?)(?:::[a-z ]+)?(?:, |(?=\])))+\]$r$;
BEGIN
  IF _sql !~ '::(numeric|date|time|jsonpath)|[@|?#^~]|&&| - |<@|\m(strpos|btrim|ltrim|rtrim|split_part|string_to_array|array_to_string|to_char|to_date|to_number|to_timestamp|translate|replace|concat_ws|lpad|rpad|repeat|power|pow|format|jsonb_exists_a[nl][yl]|regexp_[a-z_]+)\(|"substring"\(|POSITION\(|TRIM\(' THEN
    RETURN _sql;
  END IF;
  _t := ARRAY(SELECT m[1] FROM regexp_matches(_sql,
    $r$('(?:[^']|'')*'|"(?:[^"]|"")*"|(?:[A-Za-z_]|[^\x01-\x7f])(?:[A-Za-z0-9_$]|[^\x01-\x7f])*|[0-9.]+|\s+|::|[-+*/<>=~!@#%^&|?]+|.)$r$,
    'g') AS m);
  _n := cardinality(_t);
  _out := _t;
  WHILE _i < _n LOOP
    _i := _i + 1;
    _token := _t[_i];
    IF _t[_i + 1] = '::' AND _t[_i + 2] = 'jsonpath' THEN
      _literal := replace(substr(_token, 2, length(_token) - 2), '''''', '''');
      PERFORM wed.check_path(_literal);
      _sought := _sought + wed.path_cost(_literal);
    ELSIF _token IN ('(', '[') THEN
      _d := _d + 1;
      _opens[_d] := _i;
      _names[_d] := CASE WHEN _token = '(' AND _i > 1 AND _t[_i - 1] ~ '^([A-Za-z_"]|[^\x01-\x7f])' THEN btrim(_t[_i - 1], '"') ELSE '' END;
      _argument[_d] := 1;
      _wrapped[_d] := false;
      IF _names[_d] = 'replace' THEN
        _out[_i - 1] := 'wed_bounded.replace';
      ELSIF _names[_d] = 'POSITION' AND _t[_i + 1] = '(' THEN
        IF _t[_i + 2] ~ '^''' THEN
          _sought := _sought + octet_length(_t[_i + 2]) - 1;
        ELSE
          _out[_i] := _out[_i] || 'wed_bounded.short';
          _sought := _sought + 128;
        END IF;
      ELSIF _names[_d] = 'format' THEN
        IF _t[_i + 1] !~ '^''' THEN
          RAISE EXCEPTION 'the format of format is text in quotes' USING ERRCODE = 'WF011',
            HINT = 'Write the format itself; compose text with || or concat.';
        END IF;
        PERFORM wed.check_format(replace(substr(_t[_i + 1], 2, length(_t[_i + 1]) - 2), '''''', ''''));
      ELSIF _names[_d] = 'concat_ws' THEN
        IF _t[_i + 1] ~ '^''' THEN
          _sought := _sought + octet_length(_t[_i + 1]) - 1;
        ELSE
          _out[_i] := _out[_i] || 'wed_bounded.short(';
          _wrapped[_d] := true;
          _sought := _sought + 128;
        END IF;
      END IF;
    ELSIF _token IN (')', ']') THEN
      IF _wrapped[_d] THEN _out[_i] := ')' || _out[_i]; END IF;
      IF _token = ')' AND _names[_d] IN ('', 'CASE') AND _t[_i + 1] = '::' AND _t[_i + 2] = 'numeric' THEN
        _out[_opens[_d]] := 'wed_bounded.number' || _out[_opens[_d]];
      ELSIF _token = ')' AND _names[_d] IN ('', 'CASE') AND _t[_i + 1] = '::' AND _t[_i + 2] IN ('date', 'timestamp', 'time') THEN
        _out[_opens[_d]] := 'wed_bounded.moment' || _out[_opens[_d]];
      END IF;
      _d := _d - 1;
    ELSIF _token = ',' AND _d > 0 THEN
      IF _wrapped[_d] THEN
        _out[_i] := ')' || _out[_i];
        _wrapped[_d] := false;
      END IF;
      _argument[_d] := _argument[_d] + 1;
      _next := _t[_i + 2]; -- behind one space
      IF _next = '(' AND _t[_i + 3] ~ '^''' AND _t[_i + 7] = 'COLLATE' THEN _next := _t[_i + 3]; END IF;
      IF _names[_d] IN ('lpad', 'rpad', 'repeat', 'power', 'pow') AND _argument[_d] = 2 THEN
        _number := wed.written_number(_t[_i + 1 : _i + 12]);
        IF abs(_number::numeric) > 1000 THEN
          RAISE EXCEPTION 'the second argument of % is too large', _names[_d] USING ERRCODE = 'WF011', HINT = 'At most 1000.';
        END IF;
        IF _number IS NULL OR _names[_d] IN ('power', 'pow') AND (abs(_number::numeric) > 16 OR strpos(_number, '.') > 0)
           OR _names[_d] = 'repeat' AND _t[_opens[_d] + 1] !~ '^''' THEN
          _out[_opens[_d] - 1] := 'wed_bounded.' || _names[_d];
        END IF;
      ELSIF _names[_d] ~ '^regexp_'
         OR _names[_d] = 'substring' AND _argument[_d] = 2 AND _next ~ '^''' AND _t[_i + 4] = 'text' THEN
        IF _argument[_d] = 2 OR _argument[_d] = (CASE _names[_d] WHEN 'regexp_replace' THEN 4 ELSE 3 END) THEN
          IF _next !~ '^''' OR _t[_i + 3] IS DISTINCT FROM '::' OR _t[_i + 5] NOT IN (',', ')') THEN
            RAISE EXCEPTION 'a regular expression and its flags are text in quotes' USING ERRCODE = 'WF011',
              HINT = 'Write it itself; for a pattern in an attribute use LIKE.';
          END IF;
          _literal := replace(substr(_next, 2, length(_next) - 2), '''''', '''');
          IF _argument[_d] = 2 THEN
            PERFORM wed.check_pattern(_literal);
            _out[_opens[_d]] := _out[_opens[_d]] || CASE WHEN _names[_d] IN ('regexp_count', 'regexp_split_to_array')
              THEN 'wed_bounded.matched_often(' ELSE 'wed_bounded.matched(' END;
            _out[_i] := ')' || _out[_i];
          ELSIF _literal !~ (CASE _names[_d] WHEN 'regexp_replace' THEN '^[icnmspwg]*$' ELSE '^[icnmspw]*$' END) THEN
            RAISE EXCEPTION 'the flags % are not allowed here', quote_literal(left(_literal, 20)) USING ERRCODE = 'WF011',
              HINT = 'Allowed are i, c, n, s, m, p, w; of regexp_replace also g.';
          ELSIF strpos(_literal, 'g') > 0 THEN
            _out[_opens[_d]] := replace(_out[_opens[_d]], 'wed_bounded.matched(', 'wed_bounded.matched_often(');
          END IF;
        ELSE
          IF _names[_d] = 'regexp_replace' AND _argument[_d] = 3 THEN
            _sought := _sought + CASE WHEN _next ~ '^''' THEN octet_length(_next) - 1 ELSE 128 END;
          END IF;
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.short(';
            _wrapped[_d] := true;
          END IF;
        END IF;
      ELSE
        _what := CASE WHEN _argument[_d] = 2 AND _names[_d] IN ('btrim', 'ltrim', 'rtrim', 'translate') THEN 'set'
          WHEN _argument[_d] = 2 AND _names[_d] IN ('strpos', 'split_part', 'string_to_array', 'array_to_string', 'to_char',
                 'to_date', 'to_number', 'to_timestamp', 'replace')
            OR _argument[_d] = 3 AND _names[_d] IN ('translate', 'string_to_array', 'array_to_string', 'replace', 'lpad', 'rpad')
            THEN 'text'
          WHEN _argument[_d] = 2 AND _names[_d] IN ('jsonb_exists_any', 'jsonb_exists_all') THEN 'parts' END;
        IF _what = 'set' THEN
          _sought := _sought + wed.written_set(_next);
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.few(';
            _wrapped[_d] := true;
          END IF;
        ELSIF _what = 'parts' THEN
          _rest := substring(array_to_string(_t[_i + 2 :], '') FROM ('^' || _list));
          _sought := _sought + CASE WHEN _next ~ '^''' THEN octet_length(_next) - 2
            WHEN _rest IS NOT NULL THEN wed.written_list(_rest) WHEN _next = 'ARRAY' THEN 128 ELSE 256 END;
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.short(';
            _wrapped[_d] := true;
          END IF;
        ELSIF _what = 'text' THEN
          _sought := _sought + CASE WHEN _next ~ '^''' THEN octet_length(_next) - 1 WHEN _next = 'NULL' THEN 1 ELSE 128 END;
          IF _next !~ '^''' THEN
            _out[_i] := _out[_i] || ' wed_bounded.short(';
            _wrapped[_d] := true;
          END IF;
        END IF;
      END IF;
    ELSIF _d > 0 AND _names[_d] = 'TRIM' AND _token IN ('BOTH', 'LEADING', 'TRAILING') THEN
      IF _t[_i + 2] <> 'FROM' THEN
        _sought := _sought + wed.written_set(_t[_i + 2]);
        IF _t[_i + 2] !~ '^''' THEN
          _out[_i] := _out[_i] || ' wed_bounded.few(';
          _wrapped[_d] := true;
        END IF;
      END IF;
    ELSIF _d > 0 AND _names[_d] = 'TRIM' AND _token = 'FROM' AND _wrapped[_d] THEN
      _out[_i] := ') FROM';
      _wrapped[_d] := false;
    ELSIF _d > 0 AND _token IN ('~', '!~', '~*', '!~*') AND _t[_i - 1] ~ '^\s' THEN
      _rest := array_to_string(_t[_i + 1 : _i + 7], '');
      _literal := substring(_rest FROM $r$^ (?:similar_to_escape\()?'((?:[^']|'')*)'::text\)$r$);
      IF _literal IS NULL THEN
        RAISE EXCEPTION 'a regular expression is text in quotes' USING ERRCODE = 'WF011',
          HINT = 'Write it itself; for a pattern in an attribute use LIKE.';
      END IF;
      PERFORM wed.check_pattern(replace(_literal, '''''', ''''), _rest ~ '^ similar_to_escape');
      _out[_opens[_d]] := _out[_opens[_d]] || 'wed_bounded.matched(';
      _out[_i] := ') ' || _token;
    ELSIF _token IN ('~~', '!~~', '~~*', '!~~*') AND _t[_i + 2] IN ('ANY', 'ALL') THEN
      IF array_to_string(_t[_i + 3 :], '') !~ $r$^ \((?:ARRAY\['(?:[^']|'')*'::text(?:, '(?:[^']|'')*'::text)*\]|'(?:[^'\\]|'')*'::text\[\])\)$r$ THEN
        RAISE EXCEPTION 'the patterns of LIKE ANY are written there, as text in quotes' USING ERRCODE = 'WF011',
          HINT = 'Write LIKE ANY (ARRAY[...]), or several LIKE joined by OR.';
      END IF;
      _rest := substring(array_to_string(_t[_i + 3 :], '') FROM $r$^ \((ARRAY\['(?:[^']|'')*'::text(?:, '(?:[^']|'')*'::text)*\]|'(?:[^'\\]|'')*')$r$);
      _sought := _sought + (SELECT sum(octet_length(m[1]) - 2 + CASE WHEN _token ~ '\*' THEN 8 ELSE 1 END
                                       * (1 + CASE WHEN _rest ~ '^''' THEN length(_rest) - length(replace(_rest, ',', '')) ELSE 0 END))
                            FROM regexp_matches(_rest, $r$('(?:[^']|'')*')$r$, 'g') m);
    ELSIF _d > 0 AND _token IN ('@>', '<@', '&&', '?|', '?&', '~~', '!~~', '~~*', '!~~*', '-') AND _t[_i + 1] = ' ' THEN
      _next := _t[_i + 2];
      IF _next = '(' AND _t[_i + 3] ~ '^''' AND _t[_i + 7] = 'COLLATE' THEN _next := _t[_i + 3]; END IF;
      _rest := array_to_string(_t[_opens[_d] + 1 : _i - 1], '');
      IF _token !~ '[-~]' AND (_rest ~ $r$^'(?:[^']|'')*'::[a-z ]+(?:\[\])? $$r$ OR _rest ~ ('^' || _list || ' $')) THEN
        -- What is searched for stands on the left, and is written there.
        _sought := _sought + wed.written_list(_rest);
      ELSIF _token IN ('@>', '<@', '&&') AND (_rest ~ ('^' || _range || '\(') OR _next ~ ('^' || _range || '$') AND _t[_i + 3] = '(') THEN
        -- A range takes no longer than its bounds. By the call, not the name alone: an attribute may be called so.
        NULL;
      ELSE
        IF _token IN ('@>', '<@', '&&') AND _rest !~ '^("[^"]*"|[^[:space:]("]+) $' THEN
          _out[_opens[_d]] := _out[_opens[_d]] || 'wed_bounded.list(';
          _out[_i] := ') ' || _token;
        END IF;
        IF _next !~ '^(''|[0-9])' THEN
          _out[_i] := _out[_i] || ' wed_bounded.short(';
          _wrapped[_d] := true;
        END IF;
        IF _next = 'ARRAY' THEN
          _rest := substring(array_to_string(_t[_i + 2 :], '') FROM ('^' || _list));
        END IF;
        _sought := _sought + CASE
          WHEN _next ~ '^''' THEN octet_length(_next) - 2 + CASE WHEN _token IN ('~~', '!~~') THEN 1 WHEN _token ~ '~~\*' THEN 8 ELSE 0 END
          WHEN _next = 'ARRAY' AND _rest IS NOT NULL THEN wed.written_list(_rest)
          WHEN _token = '-' THEN 0
          WHEN _token ~ '~~' OR _next IN ('ARRAY', 'jsonb_build_object', 'jsonb_build_array') THEN 128 ELSE 256 END;
      END IF;
    ELSIF _token = '^' THEN
      _number := wed.written_number(_t[_i + 1 : _i + 12]);
      IF abs(_number::numeric) > 1000 THEN
        RAISE EXCEPTION 'a power''s exponent is too large' USING ERRCODE = 'WF011', HINT = 'At most 1000.';
      END IF;
      IF _number IS NULL OR abs(_number::numeric) > 16 OR strpos(_number, '.') > 0 THEN
        _out[_opens[_d]] := _out[_opens[_d]] || 'wed_bounded.power(';
        _out[_i] := ',';
        _wrapped[_d] := true;
      END IF;
    END IF;
  END LOOP;
  IF _sought > 1024 THEN
    RAISE EXCEPTION 'the predicate searches for more than 1024 bytes' USING ERRCODE = 'WF011',
      HINT = 'Use fewer or shorter patterns of LIKE; compare whole values with IN (...). What is no constant counts 128, an array or document 256.';
  END IF;
  RETURN array_to_string(_out, '');
END $_$;

ALTER FUNCTION wed.guarded(_sql text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.hand_over(_item wed.work_item, _to integer, _by text, _action text, _now timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
DECLARE
  _moved wed.work_item;
  _name text := (SELECT name FROM wed.person WHERE person_id = _to);
  _former integer[] := array_remove(ARRAY[_item.holder], NULL);
BEGIN
  UPDATE wed.work_item i SET state = 'SELECTED', holder = _to, claim = claim + 1, held_since = _now
  WHERE i.item_id = _item.item_id AND i.claim = _item.claim AND i.ended_at IS NULL RETURNING * INTO _moved;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'work item % (%) changed hands meanwhile', _item.item_id, _item.task USING ERRCODE = 'WF081',
      HINT = 'Look at it again: `wed work history`.';
  END IF;
  DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
  PERFORM wed.record_work(_moved, _by, _action, jsonb_build_object('to', _name), _now);
  PERFORM wed.send_message(array_remove(_former, _to),
    CASE _action WHEN 'transferred' THEN 'task_transferred' ELSE 'task_delegated' END, wed.work_place(_item.flow_id, _item.wid),
    format('%s was given to %s (%s by %s).', _item.task, _name, _action, _by), _item.item_id, _now);
  PERFORM wed.send_message(ARRAY[_to],
    CASE _action WHEN 'transferred' THEN 'task_transferred' ELSE 'task_delegated' END, wed.work_place(_item.flow_id, _item.wid),
    format('%s is yours now (%s by %s).', _item.task, _action, _by), _item.item_id, _now);
  PERFORM wed.tell_people(_item.tenant_id);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _moved.state, 'holder', _name, 'claim', _moved.claim);
END $$;

ALTER FUNCTION wed.hand_over(_item wed.work_item, _to integer, _by text, _action text, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.hand_over_requests(_requests bigint[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
  _keys wed.resource_key[];
  _own wed.resource_key[];
  _first bigint[];
  _freed bigint[];
  _hosted bigint;
BEGIN
  IF _requests = '{}' THEN RETURN 0; END IF;
  SELECT array_agg(DISTINCT k.key) INTO _own
  FROM (SELECT ROW(tenant_id, resource, key)::wed.resource_key AS key FROM wed.reservation
        WHERE request_id = ANY (_requests) AND held IS NOT NULL) k;
  _first := ARRAY(SELECT DISTINCT f FROM (SELECT wed.first_in_queue(o) AS f FROM unnest(_own) o) q WHERE f <> ALL (_requests));
  IF _first = '{}' THEN
    _keys := _own;
  ELSE
    SELECT array_agg(k) INTO _keys FROM (
      SELECT unnest(_own) UNION
      SELECT ROW(tenant_id, resource, key)::wed.resource_key FROM wed.reservation WHERE request_id = ANY (_first)) q(k);
  END IF;
  PERFORM wed.lock_keys(_keys, false);
  _freed := ARRAY(SELECT request_id FROM wed.request WHERE request_id = ANY (_requests) AND state IN ('f', 'c'));
  IF _freed <> '{}' THEN
    PERFORM wed.consume(_freed);
    DELETE FROM wed.reservation WHERE request_id = ANY (_freed);
    DELETE FROM wed.request WHERE request_id = ANY (_freed);
    -- Who held a key by two requests holds it by the other.
    UPDATE wed.reservation v SET beside = false FROM unnest(_own) k
    WHERE v.tenant_id = k.tenant_id AND v.resource = k.resource AND v.key = k.key AND v.held AND v.beside
      AND NOT EXISTS (SELECT FROM wed.reservation o WHERE o.tenant_id = k.tenant_id AND o.resource = k.resource AND o.key = k.key
                      AND o.held AND o.amount IS NULL AND (NOT o.beside OR o.request_id < v.request_id));
  END IF;
  _hosted := wed.grant_keys(_own, _requests || _first);
  UPDATE wed.request SET state = 'w', leads = false WHERE request_id = ANY (_requests) AND state = 'n';
  RETURN coalesce(_hosted, 0);
END $$;

ALTER FUNCTION wed.hand_over_requests(_requests bigint[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.held(_host_id integer, _taken tid[]) RETURNS SETOF wed.claimed
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  RETURN QUERY SELECT j.flow_id, j.wid, j.tgid, t.tgname, j.trname, j.token, j.attempt, t.timeout_ms,
         coalesce(j.payload, r.state), j.component_id, f.version, j.seq
  FROM unnest(_taken) a(at)
  CROSS JOIN LATERAL (SELECT * FROM wed.job WHERE ctid = a.at OFFSET 0) j
  -- One look for each, however few triggers and flows there were when the plan was made.
  CROSS JOIN LATERAL (SELECT * FROM wed.trigger WHERE tgid = j.tgid OFFSET 0) t
  CROSS JOIN LATERAL (SELECT * FROM wed.flow WHERE flow_id = j.flow_id OFFSET 0) f
  LEFT JOIN wed.trace r ON r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq = j.seq AND r.tstmp = j.fired_at
  WHERE j.host_id = _host_id;
END $$;

ALTER FUNCTION wed.held(_host_id integer, _taken tid[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.hold_database_grants() RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT pg_advisory_xact_lock(hashtextextended('wed.hold_database_grants', 0))
$$;

ALTER FUNCTION wed.hold_database_grants() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.hosts_with_jobs() RETURNS TABLE(host_id integer)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  WITH RECURSIVE n(host_id) AS (
    SELECT min(j.host_id) FROM wed.job j WHERE j.host_id IS NOT NULL
    UNION ALL
    SELECT (SELECT min(j.host_id) FROM wed.job j WHERE j.host_id IS NOT NULL AND j.host_id > n.host_id)
    FROM n WHERE n.host_id IS NOT NULL)
  SELECT n.host_id FROM n WHERE n.host_id IS NOT NULL
$$;

ALTER FUNCTION wed.hosts_with_jobs() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.in_charge(_flow_id integer, _wid integer) RETURNS integer[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT coalesce(
    (SELECT ARRAY[i.in_charge] FROM wed.work_instance i WHERE i.flow_id = _flow_id AND i.wid = _wid AND i.in_charge IS NOT NULL),
    ARRAY(SELECT m.person_id FROM wed.flow f JOIN wed.role_of_people r USING (tenant_id) JOIN wed.membership m USING (role_id)
          WHERE f.flow_id = _flow_id AND r.name = 'administrator' ORDER BY 1 LIMIT 100))
$$;

ALTER FUNCTION wed.in_charge(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE TABLE wed.request (
    request_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    tgid integer NOT NULL,
    state "char" NOT NULL,
    holds text NOT NULL,
    consumes boolean NOT NULL,
    leads boolean DEFAULT false NOT NULL,
    ready_at timestamp with time zone,
    asked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    granted_at timestamp with time zone,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT request_state_check CHECK ((state = ANY (ARRAY['d'::"char", 'n'::"char", 'w'::"char", 'h'::"char", 'f'::"char", 'c'::"char"])))
)
WITH (fillfactor='60');

ALTER TABLE wed.request OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.request.state IS 'd: later (ready_at); n: new; w: waits; h: has all; f: to be freed; c: to be freed and taken from the capacity.';

COMMENT ON COLUMN wed.request.leads IS 'Stands for what its statement wrote: one hand-over for all.';

CREATE FUNCTION wed.in_the_way(_request wed.request) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
  RETURN (
    SELECT v.key FROM wed.reservation v
    WHERE v.request_id = _request.request_id AND (
      wed.first_in_queue(ROW(v.tenant_id, v.resource, v.key)::wed.resource_key) IS DISTINCT FROM v.request_id
      OR EXISTS (
        SELECT FROM wed.reservation o JOIN wed.request r USING (request_id)
        WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key AND o.held
          AND (o.amount IS NULL OR v.amount IS NULL) AND (r.flow_id, r.wid) <> (_request.flow_id, _request.wid))
      OR v.amount IS NOT NULL AND v.amount + (
        SELECT coalesce(sum(o.amount), 0) FROM wed.reservation o JOIN wed.request r USING (request_id)
        WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key AND o.held
          AND (r.flow_id, r.wid, r.tgid) <> (_request.flow_id, _request.wid, _request.tgid))
        > coalesce((SELECT s.capacity - s.minimum FROM wed.resource s
                    WHERE s.tenant_id = v.tenant_id AND s.resource = v.resource AND s.key = v.key), 0))
    ORDER BY v.key LIMIT 1);
END $$;

ALTER FUNCTION wed.in_the_way(_request wed.request) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.insert_values(_schema text, _values jsonb) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    AS $_$
DECLARE
  _columns text := (SELECT string_agg(quote_ident(k), ', ') FROM jsonb_object_keys(_values) k);
  _wid integer;
BEGIN
  IF _columns IS NULL THEN
    EXECUTE format('INSERT INTO %I.wed_flow DEFAULT VALUES RETURNING wid', _schema) INTO _wid;
  ELSE
    EXECUTE format('INSERT INTO %1$I.wed_flow (%2$s) SELECT %2$s FROM jsonb_populate_record(NULL::%1$I.wed_flow, $1) RETURNING wid',
                   _schema, _columns) INTO _wid USING _values;
  END IF;
  RETURN _wid;
END $_$;

ALTER FUNCTION wed.insert_values(_schema text, _values jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.install_constraints(_flow_id integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _flow wed.flow;
  _statement text;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  FOREACH _statement IN ARRAY ARRAY[
    $t$ALTER TABLE %1$I.wed_trig ADD COLUMN IF NOT EXISTS reserves text, ADD COLUMN IF NOT EXISTS quantity text,
      ADD COLUMN IF NOT EXISTS resource text, ADD COLUMN IF NOT EXISTS holds text,
      ADD COLUMN IF NOT EXISTS consumes boolean NOT NULL DEFAULT false, ADD COLUMN IF NOT EXISTS after text$t$,
    $t$CREATE OR REPLACE VIEW %1$I.job_pool AS
      SELECT j.wid, j.tgid, j.trname, 'host:' || j.host_id AS lckid, j.timeout,
        coalesce(j.payload, (SELECT r.state FROM wed.trace r WHERE r.flow_id = j.flow_id AND r.wid = j.wid
                             AND r.seq = j.seq AND r.tstmp = j.fired_at))::jsonb AS payload,
        j.attempt, j.due, j.priority, coalesce(j.waits_for,
          CASE WHEN j.blocked IS NOT NULL THEN wed.waits_on(j.flow_id, j.wid, j.tgid) END,
          (SELECT 'its tenant''s fuel_per_minute' FROM wed.usage u
           WHERE u.tenant_id = j.tenant_id AND u.resting AND j.host_id IS NULL AND j.component_id IS NOT NULL)) AS waits_for
      FROM wed.job j WHERE j.flow_id = %3$s$t$,
    $t$CREATE OR REPLACE VIEW %1$I.wed_resource AS
      SELECT CASE WHEN s.resource LIKE '#%%' THEN NULL ELSE s.resource END AS resource, s.key, s.capacity, s.minimum,
        (SELECT coalesce(sum(v.amount), 0) FROM wed.reservation v
         WHERE v.tenant_id = s.tenant_id AND v.resource = s.resource AND v.key = s.key AND v.held) AS held
      FROM wed.resource s WHERE s.tenant_id = %4$s AND (s.resource = '#%3$s' OR s.resource IN (
        SELECT c.resource FROM wed.trigger_constraint c WHERE c.flow_id = %3$s))$t$,
    $t$CREATE OR REPLACE TRIGGER resource INSTEAD OF INSERT OR UPDATE OR DELETE ON %1$I.wed_resource
       FOR EACH ROW EXECUTE FUNCTION wed.on_resource(%3$s)$t$,
    $t$CREATE OR REPLACE VIEW %1$I.wed_reservation AS
      SELECT r.wid, r.tgid, t.tgname, t.trname, CASE WHEN v.resource LIKE '#%%' THEN NULL ELSE v.resource END AS resource, v.key,
        v.amount, coalesce(v.held, false) AS held, r.holds, r.asked_at, r.granted_at
      FROM wed.request r JOIN wed.reservation v USING (request_id) JOIN wed.trigger t ON t.tgid = r.tgid
      WHERE r.flow_id = %3$s AND r.state NOT IN ('f', 'c')$t$,
    $t$CREATE OR REPLACE VIEW %1$I.wed_order AS
      SELECT p.precedence_id, p.wid, coalesce(t.tgname, t.trname) AS "trigger", p.after, p.actor, p.added_at
      FROM wed.precedence p JOIN wed.trigger t USING (tgid) WHERE p.flow_id = %3$s$t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_after("trigger" text, after text, wid integer DEFAULT NULL) RETURNS integer
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.add_order(%3$s, $1, $2, $3, session_user::text) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_drop_after("trigger" text, after text, wid integer DEFAULT NULL) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.drop_order(%3$s, $1, $2, $3, session_user::text) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_order_by(attribute text) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.order_by_attribute(%3$s, $1) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_number(attribute text, gapless boolean DEFAULT false) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.set_numbering(%3$s, $1, $2) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_next_number(attribute text) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.next_number(%3$s, $1) $f$ $t$,
    'GRANT SELECT, INSERT, UPDATE, DELETE ON %1$I.wed_resource TO %1$I',
    'GRANT SELECT ON %1$I.job_pool, %1$I.wed_reservation, %1$I.wed_order TO %1$I',
    'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %1$I FROM PUBLIC',
    'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %1$I TO %1$I'
  ] LOOP
    EXECUTE format(_statement, _flow.schema_name, _flow.shape_schema, _flow_id, _flow.tenant_id);
  END LOOP;
END $_$;

ALTER FUNCTION wed.install_constraints(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.installation() RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT jsonb_build_object(
    'server', current_setting('server_version'),
    'database_bytes', pg_database_size(current_database()),
    'hosts', (SELECT coalesce(jsonb_agg(jsonb_build_object('name', h.name, 'host_id', h.host_id, 'version', h.version,
        'started', h.started, 'lease_ms', (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000)::bigint,
        'jobs', (SELECT count(*) FROM wed.job j WHERE j.host_id = h.host_id)) ORDER BY h.host_id), '[]') FROM wed.host h),
    'queue', (SELECT jsonb_build_object(
        'in_hand', count(*) FILTER (WHERE host_id IS NOT NULL),
        'ready', count(*) FILTER (WHERE host_id IS NULL AND component_id IS NOT NULL AND due <= now()),
        'ready_age_s', coalesce(extract(epoch FROM now() - min(due) FILTER (WHERE host_id IS NULL AND component_id IS NOT NULL AND due <= now()))::bigint, 0),
        'external', count(*) FILTER (WHERE component_id IS NULL AND trname <> '_EXCPT'),
        'exceptions', count(*) FILTER (WHERE trname = '_EXCPT'),
        'paused', count(*) FILTER (WHERE wed.is_paused(due)),
        'later', count(*) FILTER (WHERE host_id IS NULL AND due > now() AND NOT wed.is_paused(due))) FROM wed.job),
    'partitions', (SELECT coalesce(jsonb_agg(jsonb_build_object('name', c.relname, 'bytes', pg_total_relation_size(c.oid)) ORDER BY c.relname), '[]')
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'wed.trace'::regclass),
    'pauses', (SELECT count(*) FROM wed.pause),
    'problems', (SELECT coalesce(jsonb_agg(jsonb_build_object('code', code, 'text', text, 'hint', hint)), '[]') FROM wed.problems()))
$$;

ALTER FUNCTION wed.installation() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.is_administrator(_person_id integer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT EXISTS (SELECT FROM wed.membership m JOIN wed.role_of_people r USING (role_id)
                 WHERE m.person_id = _person_id AND r.name = 'administrator')
$$;

ALTER FUNCTION wed.is_administrator(_person_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.is_beside_old() RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT EXISTS (SELECT FROM pg_stat_activity
                 WHERE (datname = current_database() OR datname IS NULL) AND pid <> pg_backend_pid()
                   AND backend_type <> 'autovacuum worker'
                   AND greatest(age(backend_xmin), age(backend_xid)) > 500)
      OR EXISTS (SELECT FROM pg_prepared_xacts WHERE database = current_database() AND age(transaction) > 500)
      OR EXISTS (SELECT FROM pg_replication_slots WHERE age(xmin) > 500)
$$;

ALTER FUNCTION wed.is_beside_old() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.is_by_hand() RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
  RETURN session_user OPERATOR(pg_catalog.<>) 'postgres'::pg_catalog.name
    OR (pg_catalog.current_setting('wed.commit', true) OPERATOR(pg_catalog.=) 'batch') IS NOT TRUE;
END $$;

ALTER FUNCTION wed.is_by_hand() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.is_held(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  SELECT EXISTS (SELECT FROM wed.work_item i WHERE i.flow_id = _flow_id AND i.wid = _wid AND i.tgid = _tgid
                 AND i.ended_at IS NULL AND i.holder IS NOT NULL)
$$;

ALTER FUNCTION wed.is_held(_flow_id integer, _wid integer, _tgid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.is_in_order(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
  RETURN NOT EXISTS (
    SELECT FROM (
      SELECT terms FROM wed.trigger_constraint WHERE tgid = _tgid AND terms IS NOT NULL
      UNION ALL
      SELECT terms FROM wed.precedence WHERE tgid = _tgid AND (wid IS NULL OR wid = _wid)) o
    WHERE NOT wed.is_met(o.terms, wed.names_done(_flow_id, _wid)));
END $$;

ALTER FUNCTION wed.is_in_order(_flow_id integer, _wid integer, _tgid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.is_met(_terms jsonb, _done text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT EXISTS (SELECT FROM jsonb_array_elements(_terms) c
                 WHERE NOT EXISTS (SELECT FROM jsonb_array_elements_text(c) n WHERE n <> ALL (_done)))
$$;

ALTER FUNCTION wed.is_met(_terms jsonb, _done text[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.is_offered(_item wed.work_item, _person wed.person, _now timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT _person.active AND (
    _item.policy = 1
      AND (CASE WHEN _item.role_id IS NULL THEN NOT _item.candidates
             ELSE EXISTS (SELECT FROM wed.membership m WHERE m.person_id = _person.person_id AND m.role_id = _item.role_id) END)
      AND _now >= _item.offered_at + _item.renotify
        * ceil(greatest(extract(epoch FROM _person.connected_at - _item.offered_at), 0) / extract(epoch FROM _item.renotify))::double precision
    OR EXISTS (SELECT FROM wed.work_offer o WHERE o.person_id = _person.person_id AND o.item_id = _item.item_id))
$$;

ALTER FUNCTION wed.is_offered(_item wed.work_item, _person wed.person, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.is_paused(_due timestamp with time zone) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT _due >= '9000-01-01 00:00:00+00'::timestamptz AND _due < 'infinity'::timestamptz $$;

ALTER FUNCTION wed.is_paused(_due timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.is_zone(_text text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  SELECT _text ~* '^\s*(?:[a-z][a-z/_-]{0,39}|(?:etc/)?(?:gmt|utc|uct)[+-]?[0-9]{1,2}|est5edt|cst6cdt|mst7mdt|pst8pdt|[+-]?[0-2]?[0-9](?::?(?:00|15|30|45))?)\s*$'
$_$;

ALTER FUNCTION wed.is_zone(_text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.join_terms(_operator text, _a jsonb, _b jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _joined jsonb;
BEGIN
  IF _operator = 'OR' THEN
    _joined := _a || _b;
  ELSE
    SELECT jsonb_agg(x || y) INTO _joined FROM jsonb_array_elements(_a) x CROSS JOIN jsonb_array_elements(_b) y;
  END IF;
  IF jsonb_array_length(_joined) > 64 THEN
    RAISE EXCEPTION 'the order has more than 64 alternatives' USING ERRCODE = 'WF062', HINT = 'Name fewer triggers, or a trigger that stands for some.';
  END IF;
  RETURN _joined;
END $$;

ALTER FUNCTION wed.join_terms(_operator text, _a jsonb, _b jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.keep_audit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  _stack text;
BEGIN
  GET DIAGNOSTICS _stack = PG_CONTEXT;
  IF TG_OP = 'DELETE' AND _stack ~ 'function wed\.forget_audit\(' THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'the audit log is only ever appended to' USING ERRCODE = 'WF022',
    HINT = 'Old entries are removed by wed.forget_audit(interval), which keeps 30 days at the least.';
END $$;

ALTER FUNCTION wed.keep_audit() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.keep_beside(_writer text, _flow_id integer, _wid integer, _own tid, _seq integer, _version integer, _satisfied bigint[], _beside integer, _waiting boolean) RETURNS text
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE wed.job SET last_seq = _seq, version = _version, satisfied = _satisfied, beside = _beside,
    due = CASE WHEN waits_for IS NULL THEN due ELSE now() END, waits_for = NULL
  WHERE flow_id = _flow_id AND wid = _wid AND last_seq < _seq AND (_own IS NULL OR ctid <> _own);
  IF _waiting THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  RETURN _writer;
END $$;

ALTER FUNCTION wed.keep_beside(_writer text, _flow_id integer, _wid integer, _own tid, _seq integer, _version integer, _satisfied bigint[], _beside integer, _waiting boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.keep_host(_host_id integer, _lease interval) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  UPDATE wed.host SET expires_at = clock_timestamp() + _lease, beside_old = wed.is_beside_old() WHERE host_id = _host_id;
  RETURN FOUND;
END $$;

ALTER FUNCTION wed.keep_host(_host_id integer, _lease interval) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.keep_numbers() RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _one record;
  _made bigint := 0;
BEGIN
  FOR _one IN SELECT n.flow_id, n.attribute FROM wed.numbering n
              WHERE n.gapless AND (SELECT count(*) FROM (SELECT FROM wed.free_number f WHERE f.flow_id = n.flow_id
                                                         AND f.attribute = n.attribute LIMIT 128) f) < 128
              ORDER BY 1, 2 LIMIT 100 FOR UPDATE SKIP LOCKED LOOP
    PERFORM wed.make_numbers(_one.flow_id, _one.attribute);
    _made := _made + 1;
  END LOOP;
  RETURN _made;
END $$;

ALTER FUNCTION wed.keep_numbers() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.keep_paused(_flow_id integer) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _shift CONSTANT interval := '8000 years';
  _all boolean;
  _tgids integer[];
  _wids integer[];
  _changed bigint;
BEGIN
  SELECT coalesce(bool_or(p.tgid IS NULL AND p.wid IS NULL), false), coalesce(array_agg(p.tgid) FILTER (WHERE p.tgid IS NOT NULL), '{}'),
         coalesce(array_agg(p.wid) FILTER (WHERE p.wid IS NOT NULL), '{}')
  INTO _all, _tgids, _wids
  FROM wed.flow f JOIN wed.pause p ON p.tenant_id = f.tenant_id AND (p.flow_id IS NULL OR p.flow_id = f.flow_id)
  WHERE f.flow_id = _flow_id;
  UPDATE wed.trigger t SET delay = CASE WHEN t.delay < _shift THEN t.delay + _shift ELSE t.delay - _shift END
  WHERE t.flow_id = _flow_id AND (_all OR t.tgid = ANY (_tgids)) <> (t.delay >= _shift);
  WITH picked AS (
    SELECT j.ctid, wed.is_paused(j.due) AS paused FROM wed.job j
    WHERE j.flow_id = _flow_id AND j.host_id IS NULL AND j.due < 'infinity'
      AND (_all OR j.tgid = ANY (_tgids) OR j.wid = ANY (_wids)) <> wed.is_paused(j.due)
    FOR UPDATE SKIP LOCKED)
  UPDATE wed.job j SET due = CASE WHEN p.paused THEN j.due - _shift ELSE j.due + _shift END
  FROM picked p WHERE j.ctid = p.ctid;
  GET DIAGNOSTICS _changed = ROW_COUNT;
  IF _changed > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  RETURN _changed;
END $$;

ALTER FUNCTION wed.keep_paused(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.keep_pauses() RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _flow_id integer;
  _changed bigint := 0;
BEGIN
  FOR _flow_id IN
    SELECT DISTINCT f.flow_id FROM wed.pause p
    JOIN wed.flow f ON f.tenant_id = p.tenant_id AND (p.flow_id IS NULL OR p.flow_id = f.flow_id) ORDER BY 1
  LOOP
    _changed := _changed + wed.keep_paused(_flow_id);
  END LOOP;
  RETURN _changed;
END $$;

ALTER FUNCTION wed.keep_pauses() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.keep_records(_host_id integer, _records jsonb) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
  RETURN _host_id;
END $$;

ALTER FUNCTION wed.keep_records(_host_id integer, _records jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.keep_reservations() RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $$
DECLARE
  _some bigint[];
  _done bigint := 0;
  _hosted bigint;
  _one record;
BEGIN
  _some := ARRAY(SELECT request_id FROM wed.request WHERE state = 'd' AND ready_at <= clock_timestamp()
                 ORDER BY ready_at LIMIT 500 FOR UPDATE SKIP LOCKED);
  UPDATE wed.reservation SET held = false WHERE request_id = ANY (_some) AND held IS NULL;
  UPDATE wed.request SET state = 'n', xid = pg_current_xact_id() WHERE request_id = ANY (_some);
  _some := _some || ARRAY(SELECT request_id FROM wed.request WHERE state IN ('n', 'f', 'c') AND request_id <> ALL (_some)
                          ORDER BY request_id LIMIT 500 FOR UPDATE SKIP LOCKED);
  _some := _some || ARRAY(SELECT r.request_id FROM (
      SELECT * FROM wed.request WHERE state = 'w' AND asked_at < clock_timestamp() - interval '1 s' ORDER BY request_id LIMIT 1000) r
    WHERE wed.in_the_way(r) IS NULL);
  _hosted := wed.hand_over_requests(_some);
  _done := cardinality(_some);
  FOR _one IN SELECT r.flow_id, array_agg(r.wid) AS wids, array_agg(r.tgid) AS tgids FROM wed.job j
              JOIN wed.request r ON r.flow_id = j.flow_id AND r.wid = j.wid AND r.tgid = j.tgid AND r.state = 'h'
              WHERE j.blocked = 'r' AND NOT EXISTS (SELECT FROM wed.request w WHERE w.flow_id = j.flow_id AND w.wid = j.wid
                                                    AND w.tgid = j.tgid AND w.state IN ('d', 'n', 'w'))
              GROUP BY r.flow_id LOOP
    _hosted := _hosted + wed.make_due(_one.flow_id, _one.wids, _one.tgids, false);
  END LOOP;
  IF _hosted > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  DELETE FROM wed.resource_lock WHERE ctid = ANY (ARRAY(
    SELECT l.ctid FROM wed.resource_lock l WHERE l.used_at < now() - interval '10 minutes'
      AND NOT EXISTS (SELECT FROM wed.reservation v WHERE v.tenant_id = l.tenant_id AND v.resource = l.resource AND v.key = l.key)
    LIMIT 500 FOR UPDATE SKIP LOCKED));
  RETURN _done;
END $$;

ALTER FUNCTION wed.keep_reservations() OWNER TO CURRENT_USER;

CREATE TABLE wed.trigger_constraint (
    tgid integer NOT NULL,
    flow_id integer NOT NULL,
    keys text,
    quantity text,
    reads text[] DEFAULT '{}'::text[] NOT NULL,
    resource text,
    holds text DEFAULT 'transition'::text NOT NULL,
    consumes boolean DEFAULT false NOT NULL,
    after text,
    terms jsonb,
    CONSTRAINT trigger_constraint_holds_check CHECK (((octet_length(holds) >= 1) AND (octet_length(holds) <= 63))),
    CONSTRAINT trigger_constraint_resource_check CHECK (((resource IS NULL) OR (((octet_length(resource) >= 1) AND (octet_length(resource) <= 63)) AND (resource !~ '^#|[[:cntrl:]]'::text))))
);

ALTER TABLE wed.trigger_constraint OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.trigger_constraint.keys IS 'Expression over the row, as Postgres understood it: a key, an array, or a document of quantities.';

COMMENT ON COLUMN wed.trigger_constraint.resource IS 'Shared by the flows of the tenant that declare it; null: the flow''s own.';

COMMENT ON COLUMN wed.trigger_constraint.holds IS 'transition, instance, or the trigger or transition whose commit ends it.';

COMMENT ON COLUMN wed.trigger_constraint.consumes IS 'What was held is taken from the capacity when it is released by a commit.';

COMMENT ON COLUMN wed.trigger_constraint.terms IS 'after, as a disjunction of conjunctions of names.';

CREATE FUNCTION wed.keys_expression(_of wed.trigger_constraint) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  SELECT format('wed_bounded.keys(to_jsonb(%s), %s, to_jsonb(%s))', wed.guarded(_of.keys), (_of.quantity IS NOT NULL)::text,
                CASE WHEN _of.quantity IS NULL THEN 'NULL::text' ELSE wed.guarded(_of.quantity) END)
$$;

ALTER FUNCTION wed.keys_expression(_of wed.trigger_constraint) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.late_workers() RETURNS TABLE(pid integer, usename name, flow_id integer, wid integer, tgid integer, due timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT l.pid, a.usename, j.flow_id, j.wid, j.tgid, j.due
  FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
  JOIN wed.job j ON j.wid = l.classid::bigint AND j.tgid = l.objid::bigint
  -- Numbers of locks are everybody's: only sessions of the flow's own role are its workers.
  JOIN wed.flow f ON f.flow_id = j.flow_id AND f.role_name = a.usename
  WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND j.host_id IS NULL
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND a.pid <> pg_backend_pid() AND coalesce(a.xact_start, a.state_change) < clock_timestamp() - j.timeout
$$;

ALTER FUNCTION wed.late_workers() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.lease_granted(_host_id integer, _rows wed.evaluated[]) RETURNS SETOF wed.claimed
    LANGUAGE plpgsql
    AS $$
DECLARE
  _hosted bigint;
  _leased bigint;
BEGIN
  PERFORM set_config('lock_timeout', '1s', true);
  BEGIN
    _hosted := wed.hand_over_requests(wed.open_requests());
  EXCEPTION WHEN lock_not_available THEN
    RETURN;
  END;
  RETURN QUERY
    WITH j AS MATERIALIZED (
      SELECT q.at, coalesce(r.payload, r.state) AS payload, r.version
      FROM unnest(_rows) r
      CROSS JOIN LATERAL (
        SELECT tgid FROM wed.request WHERE flow_id = r.flow_id AND wid = r.wid AND state = 'h' AND xid = pg_current_xact_id() OFFSET 0) g
      CROSS JOIN LATERAL (
        SELECT ctid AS at FROM wed.job WHERE flow_id = r.flow_id AND wid >= r.wid AND wid <= r.wid AND tgid = g.tgid
          AND blocked IS NULL AND host_id IS NULL AND component_id IS NOT NULL AND seq = last_seq AND due <= now()
        ORDER BY wid DESC LIMIT 1) q
    ), u AS (
      UPDATE wed.job k SET host_id = _host_id, token = nextval('wed.fence'), attempt = 1, waits_for = NULL
      FROM j WHERE k.ctid = j.at
      RETURNING k.flow_id, k.wid, k.tgid, k.trname, k.token, k.component_id, k.seq, j.payload, j.version)
    SELECT u.flow_id, u.wid, u.tgid, t.tgname, u.trname, u.token, 1, t.timeout_ms, u.payload, u.component_id, u.version, u.seq
    FROM u CROSS JOIN LATERAL (SELECT tgname, timeout_ms FROM wed.trigger WHERE tgid = u.tgid OFFSET 0) t;
  GET DIAGNOSTICS _leased = ROW_COUNT;
  IF _hosted > _leased THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;

ALTER FUNCTION wed.lease_granted(_host_id integer, _rows wed.evaluated[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.leave_host(_host_id integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1 WHERE host_id = _host_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  DELETE FROM wed.host WHERE host_id = _host_id;
END $$;

ALTER FUNCTION wed.leave_host(_host_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.let_connect(_role text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF has_database_privilege(_role, current_database(), 'CONNECT') THEN RETURN; END IF;
  PERFORM wed.hold_database_grants();
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), _role);
END $$;

ALTER FUNCTION wed.let_connect(_role text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.lint(_flow_id integer) RETURNS TABLE(code text, place text, text text, hint text, state jsonb, certain boolean)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET statement_timeout TO '20s'
    AS $$
DECLARE
  _states wed.evaluated[];
  _whole boolean;
BEGIN
  -- Of very many triggers it would take too long.
  IF (SELECT count(*) FROM wed.trigger WHERE flow_id = _flow_id) <= 200 THEN
    SELECT s.states, s.whole INTO _states, _whole FROM wed.lint_states(_flow_id) s;
    RETURN QUERY SELECT * FROM wed.lint_conditions(_flow_id, _states, _whole);
    RETURN QUERY SELECT * FROM wed.lint_writes(_flow_id, _states);
  END IF;
  RETURN QUERY SELECT * FROM wed.lint_constraints(_flow_id);
END $$;

ALTER FUNCTION wed.lint(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.lint_conditions(_flow_id integer, _states wed.evaluated[], _whole boolean) RETURNS TABLE(code text, place text, text text, hint text, state jsonb, certain boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  WITH s AS MATERIALIZED (
    SELECT r.wid, r.state::jsonb AS state, r.final, ARRAY(SELECT (f & 4294967295)::integer FROM unnest(r.fired) f) AS fired
    FROM unnest(_states) r WHERE r.fault IS NULL
  ), t AS (
    SELECT g.*, coalesce(nullif(g.tgname, ''), g.trname) AS label, (SELECT s.state FROM s WHERE g.tgid = ANY (s.fired) ORDER BY s.wid LIMIT 1) AS shown
    FROM wed.trigger g WHERE g.flow_id = _flow_id AND g.enabled AND NOT g.cfinal AND g.predicate IS NOT NULL)
  SELECT 'dead_trigger', t.label, format('the condition of %s holds in no state that was tried: %s', t.label, left(t.predicate, 200)),
    'Look for parts that exclude each other; remove the trigger if it is not needed.', NULL::jsonb,
    _whole AND NOT t.timely AND NOT EXISTS (
      SELECT FROM wed.flow f JOIN pg_attribute a ON a.attrelid = format('%I.wed_flow', f.shape_schema)::regclass
      WHERE f.flow_id = _flow_id AND a.attname = ANY (t.reads) AND a.atttypid NOT IN ('boolean'::regtype, 'text'::regtype, 'integer'::regtype, 'bigint'::regtype))
      AND t.predicate !~* '[~|+*/%]|\mlike\M|\mlength\M|\(\w+\(| - '
  FROM t WHERE t.shown IS NULL
  UNION ALL
  SELECT 'endless_loop', t.label, format('%s may set %s only, and its condition reads %s: it fires itself again for ever', t.label,
      coalesce(nullif(array_to_string(t.writes, ', '), ''), 'nothing'), coalesce(nullif(array_to_string(t.reads, ', '), ''), 'nothing')),
    'Let the transition set an attribute of its condition, so that it ends.', t.shown, true
  FROM t WHERE t.writes IS NOT NULL AND NOT t.writes && t.reads AND t.shown IS NOT NULL AND NOT t.timely
    AND NOT EXISTS (SELECT FROM wed.trigger o WHERE o.flow_id = _flow_id AND o.tgid <> t.tgid AND NOT o.cfinal AND o.predicate IS NOT NULL
                    AND (o.writes IS NULL OR o.writes && t.reads))
    AND NOT EXISTS (SELECT FROM wed.flow f WHERE f.flow_id = _flow_id AND f.open_attributes && t.reads)
  UNION ALL
  SELECT 'always_true', t.label, format('the condition of %s holds in every state that was tried', t.label),
    'It is fired by each commit, also of others: narrow it.', t.shown, false
  FROM t WHERE t.shown IS NOT NULL AND cardinality(_states) > 1 AND NOT EXISTS (SELECT FROM s WHERE t.tgid <> ALL (s.fired))
  UNION ALL
  SELECT 'no_final', 'final', 'the flow has no final condition: every instance ends as an exception', 'Write `final` in flow.toml.', NULL, true
  WHERE NOT EXISTS (SELECT FROM wed.trigger WHERE flow_id = _flow_id AND cfinal AND enabled)
  UNION ALL
  SELECT 'unreachable_final', 'final', 'the final condition holds in no state that was tried: ' || left(g.predicate, 200),
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

ALTER FUNCTION wed.lint_conditions(_flow_id integer, _states wed.evaluated[], _whole boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.lint_constraints(_flow_id integer) RETURNS TABLE(code text, place text, text text, hint text, state jsonb, certain boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  WITH c AS (
    SELECT c.*, coalesce(nullif(t.tgname, ''), t.trname) AS label, f.tenant_id, coalesce(c.resource, '#' || f.flow_id) AS namespace
    FROM wed.trigger_constraint c JOIN wed.trigger t USING (tgid) JOIN wed.flow f ON f.flow_id = c.flow_id
    WHERE c.flow_id = _flow_id AND t.enabled)
  SELECT 'reservation_never', c.label, format('%s reserves quantities of %s, and there is no row of it in wed_resource', c.label,
      coalesce('"' || c.resource || '"', 'the flow''s own keys')),
    'Insert what there is into wed_resource, or set it with `wed flow resource set`.', NULL::jsonb, false
  FROM c WHERE c.quantity IS NOT NULL
    AND NOT EXISTS (SELECT FROM wed.resource s WHERE s.tenant_id = c.tenant_id AND s.resource = c.namespace)
  UNION ALL
  SELECT 'reservation_never', c.label, format('%s reserves %s, and there is never more than %s', c.label, c.quantity, m.most),
    'Raise the capacity in wed_resource, or reserve less.', NULL, true
  FROM c CROSS JOIN LATERAL (SELECT max(s.capacity - s.minimum) AS most FROM wed.resource s
                             WHERE s.tenant_id = c.tenant_id AND s.resource = c.namespace) m
  WHERE c.quantity ~ '^[0-9]{1,18}$' AND c.quantity::numeric > m.most
  UNION ALL
  SELECT 'reservation_kept', c.label, format('%s holds until %s commits, which is disabled: it holds until its instance ends', c.label, c.holds),
    'Enable it, or name another trigger.', NULL, true
  FROM c WHERE c.keys IS NOT NULL AND c.holds NOT IN ('transition', 'instance') AND NOT EXISTS (
    SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND t.enabled AND NOT t.cfinal AND c.holds IN (t.tgname, t.trname))
  UNION ALL
  SELECT 'circle_of_reservations', a.label || ', ' || b.label,
    format('%s and %s reserve one after the other of the same resource, and the first is held meanwhile: instances can wait in a circle', a.label, b.label),
    'Reserve all keys by one trigger, or name different resources.', NULL, false
  FROM c a JOIN c b ON a.tgid < b.tgid AND a.namespace = b.namespace AND a.keys IS NOT NULL AND b.keys IS NOT NULL
    AND (a.holds <> 'transition' OR b.holds <> 'transition') AND (a.keys, a.quantity) IS DISTINCT FROM (b.keys, b.quantity)
  UNION ALL
  SELECT 'order_never', c.label, format('%s comes after %s, of which a part is disabled', c.label, c.after), 'Enable it, or change after.', NULL, true
  FROM c WHERE c.terms IS NOT NULL AND NOT wed.is_met(c.terms, ARRAY(
    SELECT n FROM wed.trigger t CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
    WHERE t.flow_id = _flow_id AND t.enabled AND NOT t.cfinal AND n IS NOT NULL))
  UNION ALL
  SELECT 'order_cycle', y.cycle[1], 'the order of tasks has a cycle: ' || array_to_string(y.cycle, ' after '), 'Leave out one of these.', NULL, true
  FROM (SELECT wed.order_cycle(_flow_id, NULL) AS cycle) y WHERE y.cycle IS NOT NULL
$_$;

ALTER FUNCTION wed.lint_constraints(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.lint_states(_flow_id integer, OUT states wed.evaluated[], OUT whole boolean) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    AS $_$
DECLARE
  _most CONSTANT integer := 1024;
  _flow wed.flow;
  _names text[];
  _values jsonb[];
  _all numeric;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  SELECT array_agg(v.name ORDER BY v.name), array_agg(v.list ORDER BY v.name), coalesce(exp(sum(ln(jsonb_array_length(v.list)))), 1)
  INTO _names, _values, _all FROM wed.lint_values(_flow_id) v;
  whole := _all <= _most + 0.5;
  EXECUTE format($f$
    SELECT %1$I.evaluate_%1$s(array_agg(r ORDER BY i)) FROM (
      SELECT i, jsonb_populate_record(NULL::%1$I.wed_flow, jsonb_build_object('wid', i + 1) || coalesce((
        -- A number in which each attribute has a digit; of too many combinations, digits by chance that is the same each time.
        SELECT jsonb_object_agg(n.name, l.list -> CASE WHEN $4 THEN (i / n.step) %% jsonb_array_length(l.list)
                 ELSE abs(hashint4(i * 1009 + n.at::integer)) %% jsonb_array_length(l.list) END)
        FROM (SELECT u.name, u.at, round(least(1e9, coalesce((SELECT exp(sum(ln(jsonb_array_length($2[b])))) FROM generate_series(1, u.at - 1) b), 1)))::integer AS step
              FROM unnest($1) WITH ORDINALITY u(name, at)) n
        CROSS JOIN LATERAL (SELECT $2[n.at] AS list) l), '{}')) AS r
      FROM generate_series(0, least($3, %2$s)::integer - 1) i) s $f$, _flow.shape_schema, _most)
    INTO states USING _names, _values, round(_all), whole;
END $_$;

ALTER FUNCTION wed.lint_states(_flow_id integer, OUT states wed.evaluated[], OUT whole boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.lint_texts(_flow_id integer) RETURNS SETOF text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  RETURN QUERY SELECT format('%s: %s. %s', l.place, l.text, l.hint) FROM wed.lint(_flow_id) l WHERE l.certain AND l.code <> 'no_final';
EXCEPTION WHEN OTHERS THEN
  RETURN;
END $$;

ALTER FUNCTION wed.lint_texts(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.lint_values(_flow_id integer) RETURNS TABLE(name text, list jsonb)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _flow wed.flow;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  RETURN QUERY
    WITH a AS (
      SELECT t.attname::text AS name, t.atttypid::regtype::text AS type FROM pg_attribute t
      WHERE t.attrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND t.attnum > 1 AND NOT t.attisdropped
        AND EXISTS (SELECT FROM wed.trigger g WHERE g.flow_id = _flow_id AND t.attname = ANY (g.reads))
    ), c AS (
      -- Constants of the conditions that read it.
      SELECT DISTINCT a.name, a.type, m[1] AS quoted, m[2] AS number FROM a
      JOIN wed.trigger g ON g.flow_id = _flow_id AND a.name = ANY (g.reads)
      CROSS JOIN LATERAL regexp_matches(g.predicate, $r$'((?:[^']|'')*)'|\m([0-9]{1,9})\M$r$, 'g') m
    ), v AS (
      SELECT a.name, to_jsonb(b) AS value FROM a CROSS JOIN (VALUES (true), (false)) n(b) WHERE a.type = 'boolean'
      UNION SELECT c.name, to_jsonb(c.number::bigint + d) FROM c CROSS JOIN generate_series(-1, 1) d
            WHERE c.type IN ('integer', 'bigint', 'numeric', 'double precision') AND c.number IS NOT NULL
      UNION SELECT c.name, to_jsonb(replace(c.quoted, '''''', '''')) FROM c WHERE c.type = 'text' AND c.quoted IS NOT NULL
      UNION SELECT a.name, to_jsonb('other'::text) FROM a WHERE a.type = 'text'
      UNION SELECT a.name, '0' FROM a WHERE a.type IN ('integer', 'bigint', 'numeric', 'double precision')
      UNION SELECT a.name, to_jsonb('2026-01-01T00:00:00Z'::text) FROM a WHERE a.type IN ('date', 'timestamp with time zone')
      UNION SELECT a.name, to_jsonb('1 day'::text) FROM a WHERE a.type = 'interval'
      UNION SELECT a.name, '{}' FROM a WHERE a.type = 'jsonb'
      UNION SELECT a.name, '[]' FROM a WHERE a.type ~ '\[\]$'
      UNION SELECT a.name, to_jsonb('00000000-0000-0000-0000-000000000000'::text) FROM a WHERE a.type = 'uuid'
      UNION SELECT a.name, 'null' FROM a
    )
    SELECT v.name, jsonb_path_query_array(jsonb_agg(v.value ORDER BY v.value), '$[0 to 11]') FROM v GROUP BY v.name;
END $_$;

ALTER FUNCTION wed.lint_values(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.lint_writes(_flow_id integer, _states wed.evaluated[]) RETURNS TABLE(code text, place text, text text, hint text, state jsonb, certain boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  WITH s AS MATERIALIZED (
    SELECT r.wid, r.state::jsonb AS state, ARRAY(SELECT (f & 4294967295)::integer FROM unnest(r.fired) f) AS fired
    FROM unnest(_states) r WHERE r.fault IS NULL AND NOT r.final
  ), t AS (
    SELECT g.tgid, g.tgname, g.trname, g.writes, coalesce(nullif(g.tgname, ''), g.trname) AS label FROM wed.trigger g
    WHERE g.flow_id = _flow_id AND g.enabled AND NOT g.cfinal AND g.predicate IS NOT NULL AND g.writes IS NOT NULL)
  SELECT 'write_conflict', a.label || ', ' || b.label,
    format('%s and %s may run side by side and both set %s: the later commit wins', a.label, b.label, w.name),
    format('Let one come after the other (after = "%s"), or make their conditions exclude each other.', a.label),
    (SELECT s.state FROM s WHERE s.fired @> ARRAY[a.tgid, b.tgid] ORDER BY s.wid LIMIT 1), true
  FROM t a JOIN t b ON a.tgid < b.tgid
  CROSS JOIN LATERAL (SELECT n AS name FROM unnest(a.writes) n WHERE n = ANY (b.writes) ORDER BY 1 LIMIT 1) w
  WHERE EXISTS (SELECT FROM s WHERE s.fired @> ARRAY[a.tgid, b.tgid])
    AND NOT EXISTS (
      SELECT FROM wed.order_of(_flow_id, NULL) o CROSS JOIN LATERAL jsonb_array_elements(o.terms) c
      WHERE o.tgid = b.tgid AND c ?| ARRAY[a.tgname, a.trname] OR o.tgid = a.tgid AND c ?| ARRAY[b.tgname, b.trname])
  ORDER BY 2 LIMIT 100
$$;

ALTER FUNCTION wed.lint_writes(_flow_id integer, _states wed.evaluated[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.lock_keys(_keys wed.resource_key[], _now boolean) RETURNS wed.resource_key[]
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF _now THEN
    RETURN ARRAY(
      SELECT ROW(l.tenant_id, l.resource, l.key)::wed.resource_key FROM unnest(_keys) k
      JOIN wed.resource_lock l ON l.tenant_id = k.tenant_id AND l.resource = k.resource AND l.key = k.key
      FOR UPDATE OF l SKIP LOCKED);
  END IF;
  INSERT INTO wed.resource_lock (tenant_id, resource, key, used_at)
  SELECT DISTINCT k.tenant_id, k.resource, k.key, now() FROM unnest(_keys) k ORDER BY 1, 2, 3
  ON CONFLICT (tenant_id, resource, key) DO UPDATE SET used_at = excluded.used_at;
  RETURN _keys;
END $$;

ALTER FUNCTION wed.lock_keys(_keys wed.resource_key[], _now boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.lock_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT wed.claim_work(_tenant, _name, _item_id, 'LOCKED', _now)
$$;

ALTER FUNCTION wed.lock_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.make_due(_flow_id integer, _wids integer[], _tgids integer[], _delayed boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
  _hosted bigint;
BEGIN
  IF _wids = '{}' THEN RETURN 0; END IF;
  WITH b AS MATERIALIZED (
    SELECT j.at, t.delay FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
    CROSS JOIN LATERAL (
      SELECT q.ctid AS at FROM wed.job q WHERE q.flow_id = _flow_id AND q.wid >= u.wid AND q.wid <= u.wid AND q.tgid = u.tgid
        AND q.blocked IS NOT NULL FOR UPDATE SKIP LOCKED) j
    CROSS JOIN LATERAL (SELECT delay FROM wed.trigger WHERE tgid = u.tgid OFFSET 0) t
  ), d AS (
    UPDATE wed.job j SET blocked = NULL, due = now() + CASE WHEN _delayed THEN b.delay ELSE '0' END
    FROM b WHERE j.ctid = b.at
    RETURNING j.component_id IS NOT NULL AS hosted,
      CASE WHEN j.component_id IS NULL THEN pg_notify(trname, format('{"wid":%s,"tgid":%s}', wid, tgid)) END AS told)
  SELECT count(*) FILTER (WHERE hosted) INTO _hosted FROM d;
  IF EXISTS (SELECT FROM wed.pause p JOIN wed.flow f ON f.tenant_id = p.tenant_id AND f.flow_id = _flow_id) THEN
    PERFORM wed.keep_paused(_flow_id);
  END IF;
  RETURN _hosted;
END $$;

ALTER FUNCTION wed.make_due(_flow_id integer, _wids integer[], _tgids integer[], _delayed boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.make_numbers(_flow_id integer, _attribute text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  WITH m AS (
    UPDATE wed.numbering SET made_to = made_to + 256 WHERE flow_id = _flow_id AND attribute = _attribute RETURNING made_to)
  INSERT INTO wed.free_number (flow_id, attribute, number)
  SELECT _flow_id, _attribute, n FROM m CROSS JOIN LATERAL generate_series(m.made_to - 255, m.made_to) n
$$;

ALTER FUNCTION wed.make_numbers(_flow_id integer, _attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.make_role(_tenant_id integer, _name text) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _role_id integer := wed.role_named(_tenant_id, _name);
BEGIN
  IF _role_id IS NOT NULL OR _name IS NULL THEN RETURN _role_id; END IF;
  IF (SELECT count(*) FROM wed.role_of_people WHERE tenant_id = _tenant_id) >= 1000 THEN
    RAISE EXCEPTION 'the tenant has 1000 roles of people, and no more are allowed' USING ERRCODE = 'WF085',
      HINT = 'Remove roles that are not used.';
  END IF;
  INSERT INTO wed.role_of_people (tenant_id, name) VALUES (_tenant_id, _name)
  ON CONFLICT DO NOTHING RETURNING role_id INTO _role_id;
  RETURN coalesce(_role_id, wed.role_named(_tenant_id, _name));
END $$;

ALTER FUNCTION wed.make_role(_tenant_id integer, _name text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.mark_constrained(_flow_id integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
      OR EXISTS (SELECT FROM wed.precedence p WHERE p.flow_id = _flow_id)
  WHERE f.flow_id = _flow_id;
  IF NOT _was AND (SELECT ordered FROM wed.flow WHERE flow_id = _flow_id) THEN
    INSERT INTO wed.task_done (flow_id, wid, tgid)
    SELECT DISTINCT r.flow_id, r.wid, r.tgid FROM wed.trace r JOIN wed.instance i USING (flow_id, wid)
    WHERE r.flow_id = _flow_id AND i.status <> 'F' AND r.tgid IS NOT NULL AND r.trw NOT LIKE '\_%' ON CONFLICT DO NOTHING;
  END IF;
  PERFORM wed.check_order(_flow_id, NULL);
END $$;

ALTER FUNCTION wed.mark_constrained(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.matching_exceptions(_flow_id integer, _transition text, _message text, _since timestamp with time zone, _limit integer) RETURNS TABLE(wid integer, transition text, message text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT i.wid, g.trname, r.note
  FROM wed.instance i
  CROSS JOIN LATERAL (
    SELECT t.tgid, t.trw, t.note FROM wed.trace t
    WHERE t.flow_id = i.flow_id AND t.wid = i.wid AND t.status = 'E' ORDER BY t.seq DESC LIMIT 1) r
  LEFT JOIN wed.trigger g ON g.tgid = r.tgid
  WHERE i.flow_id = _flow_id AND i.status = 'E'
    AND (_transition IS NULL OR g.trname = _transition)
    AND (_message IS NULL OR strpos(coalesce(r.note, ''), _message) > 0)
    AND (_since IS NULL OR i.changed >= _since)
  ORDER BY i.changed, i.wid LIMIT _limit
$$;

ALTER FUNCTION wed.matching_exceptions(_flow_id integer, _transition text, _message text, _since timestamp with time zone, _limit integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.measure(_tenant_id integer, _started bigint) RETURNS wed.usage
    LANGUAGE sql
    AS $$
  UPDATE wed.usage u SET instances = m.instances, jobs = m.jobs, started = _started, measured_at = clock_timestamp()
  FROM (SELECT count(*) AS instances, coalesce(sum(jobs), 0)::bigint AS jobs
        FROM (SELECT count(*) AS jobs FROM wed.flow f JOIN wed.job j USING (flow_id)
              WHERE f.tenant_id = _tenant_id GROUP BY j.flow_id, j.wid) i) m
  WHERE u.tenant_id = _tenant_id RETURNING u.*
$$;

ALTER FUNCTION wed.measure(_tenant_id integer, _started bigint) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.measure_usage() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _due record;
BEGIN
  FOR _due IN
    SELECT u.tenant_id, coalesce(pg_sequence_last_value(('wed.started_' || u.tenant_id)::regclass), 0) AS top
    FROM wed.usage u JOIN wed.quota q USING (tenant_id)
    WHERE (u.instances + coalesce(pg_sequence_last_value(('wed.started_' || u.tenant_id)::regclass), 0) - u.started
             > q.instances * 0.8
           OR u.jobs + coalesce(pg_sequence_last_value(('wed.started_' || u.tenant_id)::regclass), 0) - u.started
             > q.jobs * 0.8)
      AND u.measured_at < clock_timestamp() - interval '1 second'
    FOR UPDATE OF u SKIP LOCKED
  LOOP
    PERFORM wed.measure(_due.tenant_id, _due.top);
  END LOOP;
END $$;

ALTER FUNCTION wed.measure_usage() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.move_to_partition(_day date) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
DECLARE
  _name text := 'trace_' || to_char(_day, 'YYYYMMDD');
BEGIN
  LOCK TABLE wed.trace IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE wed.trace DETACH PARTITION wed.trace_else;
  EXECUTE format('CREATE TABLE wed.%I PARTITION OF wed.trace FOR VALUES FROM (%L) TO (%L)', _name, _day, _day + 1);
  EXECUTE format('REVOKE ALL ON wed.%I FROM PUBLIC', _name);
  EXECUTE format('WITH moved AS (DELETE FROM wed.trace_else WHERE tstmp >= %L AND tstmp < %L RETURNING *)
                  INSERT INTO wed.%I SELECT * FROM moved', _day, _day + 1, _name);
  ALTER TABLE wed.trace ATTACH PARTITION wed.trace_else DEFAULT;
END $$;

ALTER FUNCTION wed.move_to_partition(_day date) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.move_work(_tenant text, _name text, _item_id bigint, _before bigint DEFAULT NULL::bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _at integer;
  _moved wed.work_item := wed.see_work(_person, _item_id, clock_timestamp());
  _all bigint[] := ARRAY(SELECT (d ->> 'item')::bigint FROM wed.worklist(_tenant, _name, 'own', 1000) d);
BEGIN
  _all := array_remove(_all, _item_id);
  _at := coalesce(array_position(_all, _before), cardinality(_all) + 1);
  _all := _all[:_at - 1] || _moved.item_id || _all[_at:];
  DELETE FROM wed.work_position WHERE person_id = _person.person_id;
  INSERT INTO wed.work_position (person_id, item_id, position)
  SELECT _person.person_id, e.item_id, e.at FROM unnest(_all) WITH ORDINALITY e(item_id, at);
END $$;

ALTER FUNCTION wed.move_work(_tenant text, _name text, _item_id bigint, _before bigint) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.name_instance(_flow_id integer, _wid integer) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM wed.instance_name WHERE flow_id = _flow_id AND wid = _wid) THEN
    PERFORM wed.name_instances(_flow_id, ARRAY[_wid]);
  END IF;
  RETURN (SELECT name FROM wed.instance_name WHERE flow_id = _flow_id AND wid = _wid);
END $$;

ALTER FUNCTION wed.name_instance(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.name_instances(_flow_id integer, _wids integer[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
DECLARE
  _type text;
  _numbers integer[] := '{}';
  _next integer := 1;
  _taken record;
BEGIN
  SELECT plan ->> 'type' INTO _type FROM wed.work_plan WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  IF _type IS NULL THEN RETURN; END IF;
  FOR _taken IN
    SELECT n.wid, n.number, i.status FROM wed.instance_name n LEFT JOIN wed.instance i USING (flow_id, wid)
    WHERE n.flow_id = _flow_id AND NOT n.released ORDER BY n.number
  LOOP
    WHILE _next < _taken.number AND cardinality(_numbers) < cardinality(_wids) LOOP
      _numbers := _numbers || _next;
      _next := _next + 1;
    END LOOP;
    EXIT WHEN cardinality(_numbers) >= cardinality(_wids);
    IF coalesce(_taken.status, 'F') = 'F' THEN
      UPDATE wed.instance_name SET released = true WHERE flow_id = _flow_id AND wid = _taken.wid;
    ELSE
      _next := _taken.number + 1;
    END IF;
  END LOOP;
  WHILE cardinality(_numbers) < cardinality(_wids) LOOP
    _numbers := _numbers || _next;
    _next := _next + 1;
  END LOOP;
  INSERT INTO wed.instance_name (flow_id, wid, type, number)
  SELECT _flow_id, u.wid, _type, u.number FROM unnest(_wids, _numbers) u(wid, number);
END $$;

ALTER FUNCTION wed.name_instances(_flow_id integer, _wids integer[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.names_done(_flow_id integer, _wid integer) RETURNS text[]
    LANGUAGE sql STABLE
    AS $$
  SELECT coalesce(array_agg(n), '{}') FROM wed.task_done d JOIN wed.trigger t USING (tgid)
  CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
  WHERE d.flow_id = _flow_id AND d.wid = _wid AND n IS NOT NULL
$$;

ALTER FUNCTION wed.names_done(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.next_due(OUT waits boolean, OUT next_ms bigint) RETURNS record
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
  _now timestamptz := clock_timestamp();
BEGIN
  waits := wed.tenants_with_work(_now, '{}') <> '{}';
  SELECT (extract(epoch FROM j.due - _now) * 1000)::bigint INTO next_ms FROM wed.job j
  WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.delayed AND j.due > _now AND j.due < 'infinity'
  ORDER BY j.due LIMIT 1;
END $$;

ALTER FUNCTION wed.next_due(OUT waits boolean, OUT next_ms bigint) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.next_number(_flow_id integer, _attribute text) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _number bigint;
  _gapless boolean;
BEGIN
  SELECT gapless INTO _gapless FROM wed.numbering WHERE flow_id = _flow_id AND attribute = _attribute;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the attribute "%" is not numbered', left(_attribute, 80) USING ERRCODE = 'WF013', HINT = 'SELECT wed_number(attribute).';
  ELSIF NOT _gapless THEN
    RETURN (SELECT nextval(format('%I.%I', shape_schema, 'number_' || md5(_attribute))::regclass) FROM wed.flow WHERE flow_id = _flow_id);
  END IF;
  FOR _try IN 1 .. 2 LOOP
    DELETE FROM wed.free_number f WHERE f.flow_id = _flow_id AND f.attribute = _attribute AND f.number = (
      SELECT number FROM wed.free_number WHERE flow_id = _flow_id AND attribute = _attribute
      ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING f.number INTO _number;
    EXIT WHEN _number IS NOT NULL;
    -- The hosts' sweep makes more before there are none left, so that this is rare: it is one at a time.
    PERFORM wed.make_numbers(_flow_id, _attribute);
  END LOOP;
  RETURN _number;
END $$;

ALTER FUNCTION wed.next_number(_flow_id integer, _attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.note(_actor text, _tenant text, _action text, _target text, _detail jsonb) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  INSERT INTO wed.audit (tenant_id, tenant_name, actor, action, target, detail)
  VALUES ((SELECT tenant_id FROM wed.tenant WHERE name = _tenant), _tenant, _actor, _action, left(_target, 300),
          wed.short_detail(_detail))
$$;

ALTER FUNCTION wed.note(_actor text, _tenant text, _action text, _target text, _detail jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.note_flow(_actor text, _flow_id integer, _action text, _part text, _detail jsonb) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  INSERT INTO wed.audit (tenant_id, tenant_name, actor, action, target, detail)
  SELECT t.tenant_id, t.name, _actor, _action, left(concat_ws('/', f.name, _part), 300), wed.short_detail(_detail)
  FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE f.flow_id = _flow_id
$$;

ALTER FUNCTION wed.note_flow(_actor text, _flow_id integer, _action text, _part text, _detail jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.number_default(_flow wed.flow, _attribute text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
  EXECUTE format('ALTER TABLE %1$I.wed_flow ALTER COLUMN %2$I SET DEFAULT %1$I.wed_next_number(%2$L)', _flow.schema_name, _attribute);
END $_$;

ALTER FUNCTION wed.number_default(_flow wed.flow, _attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.offer_item(_item_id bigint, _now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _item wed.work_item;
  _task wed.work_task;
  _limit integer;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id AND state = 'READY';
  IF NOT FOUND THEN RETURN; END IF;
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  SELECT policy_count INTO _limit FROM wed.work_instance WHERE flow_id = _item.flow_id AND wid = _item.wid;
  IF _item.policy <> 1 THEN
    INSERT INTO wed.work_offer (person_id, item_id, offered_at)
    SELECT p.person_id, _item_id, _now FROM wed.person p
    CROSS JOIN LATERAL (
      SELECT count(*) AS assigned, count(*) FILTER (WHERE i.state = 'SELECTED') AS selected
      FROM wed.work_item i WHERE i.holder = p.person_id AND i.ended_at IS NULL) c
    CROSS JOIN LATERAL (
      SELECT count(*) AS offered FROM wed.work_offer o JOIN wed.work_item i USING (item_id)
      WHERE o.person_id = p.person_id AND i.state = 'READY') f
    WHERE p.tenant_id = _item.tenant_id AND p.active
      AND (_item.role_id IS NULL OR EXISTS (SELECT FROM wed.membership m WHERE m.person_id = p.person_id AND m.role_id = _item.role_id))
    ORDER BY CASE _item.policy WHEN 2 THEN c.assigned + f.offered WHEN 3 THEN c.selected END,
             CASE WHEN _item.policy = 4 THEN p.connected_at END DESC NULLS LAST, p.person_id
    LIMIT _limit ON CONFLICT DO NOTHING;
  END IF;
  IF _task.users <> '{}' OR _task.groups <> '{}' THEN
    INSERT INTO wed.work_offer (person_id, item_id, offered_at)
    SELECT p.person_id, _item_id, _now FROM wed.person p
    WHERE p.tenant_id = _item.tenant_id AND p.active AND (p.name = ANY (_task.users) OR EXISTS (
      SELECT FROM wed.membership m WHERE m.person_id = p.person_id
      AND m.role_id IN (SELECT wed.role_named(_item.tenant_id, g) FROM unnest(_task.groups) g)))
    ORDER BY p.person_id LIMIT 10000 ON CONFLICT DO NOTHING;
  END IF;
  UPDATE wed.work_item SET offered_at = _now WHERE item_id = _item_id AND offered_at IS DISTINCT FROM _now;
  PERFORM wed.tell_people(_item.tenant_id);
END $$;

ALTER FUNCTION wed.offer_item(_item_id bigint, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.on_attribute() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET client_min_messages TO 'warning'
    SET standard_conforming_strings TO 'on'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    AS $_$
DECLARE
  _flow wed.flow;
  _type record;
  _schema text;
  _users text;
BEGIN
  -- One definition at a time in a flow.
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  -- The table is locked for an instant only; better a clear error than a queue behind a long reader.
  SET LOCAL lock_timeout = '5s';
  IF TG_OP IN ('INSERT', 'UPDATE') THEN
    PERFORM wed.check_attribute_name(NEW.aname);
    _type := wed.attribute_type(NEW.atype);
  END IF;
  IF TG_OP IN ('INSERT', 'UPDATE') THEN
    -- Instances that there are get a default without passing anything that measures them.
    EXECUTE format('SELECT sum(octet_length(adv)) FROM %I.wed_attr', _flow.schema_name) INTO _users;
    IF _users::bigint > 131072 THEN
      RAISE EXCEPTION 'the default values of the attributes take % bytes together', _users USING ERRCODE = 'WF033',
        HINT = 'At most 131072 (128 KiB). Set long values where instances are started.';
    END IF;
  END IF;
  IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND (NEW.aname <> OLD.aname OR wed.attribute_type(OLD.atype) IS DISTINCT FROM _type) THEN
    PERFORM wed.refuse_constrained(_flow, OLD.aname);
  END IF;
  IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.aname <> OLD.aname) THEN
    EXECUTE format('SELECT aname FROM %I.wed_attr WHERE lower(aname) = lower($1) AND aname <> $1',
                   _flow.schema_name) INTO _users USING NEW.aname;
    IF _users IS NOT NULL THEN
      RAISE EXCEPTION 'the attribute name "%" differs from "%" only in case', NEW.aname, _users
        USING ERRCODE = 'WF012', HINT = 'Choose another name.';
    END IF;
  END IF;
  IF TG_OP = 'DELETE' THEN
    SELECT string_agg(coalesce(tgname, trname, 'the final condition'), ', ') INTO _users
    FROM wed.trigger WHERE flow_id = _flow.flow_id AND OLD.aname = ANY (reads);
    IF _users IS NOT NULL THEN
      RAISE EXCEPTION 'attribute "%" is used by the condition of: %', OLD.aname, _users
        USING ERRCODE = 'WF013', HINT = 'Change or remove these triggers first.';
    END IF;
  ELSIF TG_OP = 'UPDATE' AND wed.attribute_type(OLD.atype) IS DISTINCT FROM _type THEN
    EXECUTE format('SELECT true FROM %I.wed_flow LIMIT 1', _flow.schema_name) INTO _users;
    IF _users IS NOT NULL THEN
      RAISE EXCEPTION 'the type of attribute "%" cannot change while the flow has instances', OLD.aname
        USING ERRCODE = 'WF013', HINT = 'Add a new attribute of the new type.';
    END IF;
    SELECT string_agg(coalesce(tgname, trname, 'the final condition'), ', ') INTO _users
    FROM wed.trigger WHERE flow_id = _flow.flow_id AND OLD.aname = ANY (reads);
    IF _users IS NOT NULL THEN
      RAISE EXCEPTION 'attribute "%" is used by the condition of: %', OLD.aname, _users
        USING ERRCODE = 'WF013', HINT = 'Change its type before writing conditions over it.';
    END IF;
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.aname <> OLD.aname THEN
    PERFORM wed.put_on_shape(_flow.shape_schema, t.tgid, t.predicate)
    FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND OLD.aname = ANY (t.reads);
  END IF;
  FOREACH _schema IN ARRAY ARRAY[_flow.schema_name, _flow.shape_schema] LOOP
    IF TG_OP = 'INSERT' THEN
      EXECUTE format('ALTER TABLE %I.wed_flow ADD COLUMN %I %s DEFAULT %L', _schema, NEW.aname,
                     _type.sql_type, NEW.adv);
    ELSIF TG_OP = 'UPDATE' THEN
      IF NEW.aname <> OLD.aname THEN
        EXECUTE format('ALTER TABLE %I.wed_flow RENAME COLUMN %I TO %I', _schema, OLD.aname, NEW.aname);
      END IF;
      EXECUTE format('ALTER TABLE %I.wed_flow DROP CONSTRAINT IF EXISTS %I, DROP CONSTRAINT IF EXISTS %I, DROP CONSTRAINT IF EXISTS %I',
                     _schema, 'enum_' || OLD.aname, 'digits_' || OLD.aname, 'size_' || md5(OLD.aname));
      IF wed.attribute_type(OLD.atype) IS DISTINCT FROM _type THEN
        EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I DROP DEFAULT, ALTER COLUMN %2$I TYPE %s USING NULL',
                       _schema, NEW.aname, _type.sql_type);
      END IF;
      EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I SET DEFAULT %L', _schema, NEW.aname, NEW.adv);
    ELSE
      EXECUTE format('ALTER TABLE %I.wed_flow DROP COLUMN %I', _schema, OLD.aname);
    END IF;
    IF TG_OP <> 'DELETE' AND _schema = _flow.schema_name THEN
      PERFORM wed.bound_attribute(_schema, NEW.aname, _type.sql_type);
    END IF;
    IF TG_OP <> 'DELETE' AND _type.labels IS NOT NULL AND _schema = _flow.schema_name THEN
      EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (%I %s) NOT VALID', _schema,
        'enum_' || NEW.aname, NEW.aname,
        CASE WHEN _type.sql_type = 'text' THEN format('= ANY (%L::text[])', _type.labels)
             ELSE format('<@ %L::text[]', _type.labels) END);
    END IF;
  END LOOP;
  IF TG_OP = 'UPDATE' AND NEW.aname <> OLD.aname THEN
    -- Conditions follow the name: their tree holds the column, not the text.
    UPDATE wed.trigger t SET
      predicate = (SELECT pg_get_expr(conbin, conrelid) FROM pg_constraint
                   WHERE conrelid = format('%I.wed_flow', _flow.shape_schema)::regclass
                     AND conname = 'c' || t.tgid),
      reads = array_replace(reads, OLD.aname, NEW.aname)
    WHERE flow_id = _flow.flow_id AND OLD.aname = ANY (reads);
    PERFORM wed.take_off_shape(_flow.shape_schema, t.tgid)
    FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND NEW.aname = ANY (t.reads);
    EXECUTE format('UPDATE %I.wed_trig w SET cpred = t.predicate, writes = array_replace(w.writes, $1, $2)
                    FROM wed.trigger t WHERE t.tgid = w.tgid AND ($2 = ANY (t.reads) OR $1 = ANY (w.writes))',
                   _flow.schema_name) USING OLD.aname, NEW.aname;
    UPDATE wed.trigger SET writes = array_replace(writes, OLD.aname, NEW.aname)
    WHERE flow_id = _flow.flow_id AND OLD.aname = ANY (writes);
  END IF;
  IF TG_OP = 'UPDATE' AND EXISTS (SELECT FROM wed.numbering WHERE flow_id = _flow.flow_id AND attribute = NEW.aname) THEN
    PERFORM wed.number_default(_flow, NEW.aname);
  END IF;
  EXECUTE format('UPDATE wed.flow SET open_attributes = ARRAY(SELECT aname FROM %I.wed_attr WHERE open) WHERE flow_id = $1',
                 _flow.schema_name) USING _flow.flow_id;
  RETURN NULL;
END $_$;

ALTER FUNCTION wed.on_attribute() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.on_connections() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  _role text;
BEGIN
  FOR _role IN SELECT role_name FROM wed.flow WHERE tenant_id = NEW.tenant_id ORDER BY flow_id LOOP
    EXECUTE format('ALTER ROLE %I CONNECTION LIMIT %s', _role, coalesce(NEW.connections, -1));
  END LOOP;
  RETURN NULL;
END $$;

ALTER FUNCTION wed.on_connections() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.on_people_instance() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  PERFORM wed.send_message(wed.in_charge(NEW.flow_id, NEW.wid), 'process_ended', wed.work_place(NEW.flow_id, NEW.wid),
    format('The process has ended; it was started at %s.', to_char(NEW.started AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')),
    NULL, clock_timestamp());
  DELETE FROM wed.work_reservation WHERE flow_id = NEW.flow_id AND wid = NEW.wid;
  RETURN NULL;
END $$;

ALTER FUNCTION wed.on_people_instance() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.on_people_job() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _item wed.work_item;
BEGIN
  IF TG_OP = 'INSERT' AND NEW.trname = '_EXCPT' THEN
    IF EXISTS (SELECT FROM wed.instance WHERE flow_id = NEW.flow_id AND wid = NEW.wid AND people) THEN
      PERFORM wed.send_message(wed.in_charge(NEW.flow_id, NEW.wid), 'task_failed', wed.work_place(NEW.flow_id, NEW.wid),
        'The instance is an exception; decide what becomes of it: retry, set its state, or cancel it.', NULL, clock_timestamp());
    END IF;
  ELSIF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW.blocked IS NULL THEN
    PERFORM wed.open_work_item(NEW);
  ELSE
    UPDATE wed.work_item SET state = 'WITHDRAWN', ended_at = clock_timestamp()
    WHERE flow_id = OLD.flow_id AND wid = OLD.wid AND tgid = OLD.tgid AND ended_at IS NULL
      -- A trigger that fired itself again goes on with its item.
      AND (TG_OP = 'UPDATE' OR NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = OLD.flow_id AND j.wid = OLD.wid
                                           AND j.tgid = OLD.tgid AND j.blocked IS NULL))
    RETURNING * INTO _item;
    IF FOUND THEN
      PERFORM wed.record_work(_item, session_user, 'withdrawn', '{}', clock_timestamp());
      PERFORM wed.send_message(ARRAY[_item.holder], 'task_withdrawn', wed.work_place(_item.flow_id, _item.wid),
        format('%s was ended by somebody else.', _item.task), _item.item_id, clock_timestamp()) WHERE _item.holder IS NOT NULL;
      DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
      PERFORM wed.tell_people(_item.tenant_id);
    END IF;
  END IF;
  RETURN NULL;
END $$;

ALTER FUNCTION wed.on_people_job() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.on_request() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET lock_timeout TO '1s'
    AS $$
BEGIN
  BEGIN
    IF wed.hand_over_requests(wed.open_requests()) > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  EXCEPTION WHEN lock_not_available THEN
    IF EXISTS (SELECT FROM wed.request WHERE xid = pg_current_xact_id() AND state = 'c') THEN RAISE; END IF;
  END;
  RETURN NULL;
END $$;

ALTER FUNCTION wed.on_request() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.on_resource() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _flow_id integer := TG_ARGV[0];
  _tenant_id integer;
  _resource text;
  _of record;
BEGIN
  _of := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  _resource := coalesce(_of.resource, '#' || _flow_id);
  SELECT tenant_id INTO _tenant_id FROM wed.flow WHERE flow_id = _flow_id;
  IF TG_OP = 'UPDATE' AND (NEW.resource, NEW.key) IS DISTINCT FROM (OLD.resource, OLD.key) THEN
    RAISE EXCEPTION 'the key of a resource cannot change' USING ERRCODE = 'WF013', HINT = 'Insert another row.';
  ELSIF TG_OP = 'INSERT' AND NEW.resource IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.trigger_constraint WHERE flow_id = _flow_id AND resource = NEW.resource) THEN
    RAISE EXCEPTION 'no trigger of the flow declares the resource "%"', left(NEW.resource, 80) USING ERRCODE = 'WF013',
      HINT = 'Set resource of a trigger that reserves; leave it out for the flow''s own.';
  END IF;
  IF TG_OP <> 'DELETE' AND coalesce(NEW.minimum, 0) > NEW.capacity THEN
    PERFORM wed.refuse_capacity(NEW.key, NEW.capacity, coalesce(NEW.minimum, 0));
  END IF;
  PERFORM wed.lock_keys(ARRAY[ROW(_tenant_id, _resource, _of.key)::wed.resource_key], false);
  IF TG_OP = 'DELETE' THEN
    DELETE FROM wed.resource WHERE tenant_id = _tenant_id AND resource = _resource AND key = OLD.key;
    RETURN OLD;
  ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO wed.resource (tenant_id, resource, key, capacity, minimum)
    VALUES (_tenant_id, _resource, NEW.key, NEW.capacity, coalesce(NEW.minimum, 0));
  ELSE
    UPDATE wed.resource SET capacity = NEW.capacity, minimum = NEW.minimum
    WHERE tenant_id = _tenant_id AND resource = _resource AND key = NEW.key;
  END IF;
  -- The first in the queue stands for the key at the end of the transaction.
  UPDATE wed.request SET state = 'n', leads = true, xid = pg_current_xact_id()
  WHERE request_id = (
    SELECT request_id FROM wed.request
    WHERE request_id = wed.first_in_queue(ROW(_tenant_id, _resource, NEW.key)::wed.resource_key) AND state = 'w' FOR UPDATE SKIP LOCKED);
  RETURN NEW;
END $$;

ALTER FUNCTION wed.on_resource() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.on_setting() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  -- Not when the flow itself is on its way out.
  PERFORM wed.compile(flow_id) FROM wed.flow WHERE flow_id = coalesce(NEW.flow_id, OLD.flow_id);
  RETURN NULL;
END $$;

ALTER FUNCTION wed.on_setting() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.on_start() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  _new bigint;
  _top bigint;
  _quota wed.quota;
  _usage wed.usage;
BEGIN
  SELECT q.* INTO _quota FROM (SELECT flow_id FROM new_rows LIMIT 1) i
  JOIN wed.flow f USING (flow_id) JOIN wed.quota q USING (tenant_id);
  IF _quota.instances IS NULL AND _quota.jobs IS NULL AND _quota.trace_bytes IS NULL AND _quota.row_bytes IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT * INTO _usage FROM wed.usage WHERE tenant_id = _quota.tenant_id;
  IF _usage.trace_bytes > _quota.trace_bytes THEN
    PERFORM wed.refuse_quota('trace_bytes', _usage.trace_bytes, _quota.trace_bytes);
  ELSIF _usage.row_bytes > _quota.row_bytes THEN
    PERFORM wed.refuse_quota('row_bytes', _usage.row_bytes, _quota.row_bytes);
  END IF;
  SELECT count(*), max(nextval('wed.started_' || _quota.tenant_id)) INTO _new, _top FROM new_rows;
  IF _usage.instances + _top - _usage.started <= _quota.instances IS NOT FALSE
     AND _usage.jobs + _top - _usage.started <= _quota.jobs IS NOT FALSE THEN
    RETURN NULL;
  END IF;
  -- A limit is near, if nothing has ended meanwhile: count.
  IF _usage.measured_at < clock_timestamp() - interval '1 second' THEN
    _usage := wed.measure(_quota.tenant_id, _top - _new);
  END IF;
  IF (_usage.instances + _top - _usage.started > _quota.instances
      OR _usage.jobs + _top - _usage.started > _quota.jobs)
     AND pg_sequence_last_value(('wed.started_' || _quota.tenant_id)::regclass) = _top THEN
    -- What is refused now was not started: its numbers go back, unless others took some since. The next
    -- measurement rights what is left.
    PERFORM setval(('wed.started_' || _quota.tenant_id)::regclass, greatest(_top - _new, 1), _top > _new);
  END IF;
  IF _usage.instances + _top - _usage.started > _quota.instances THEN
    PERFORM wed.refuse_quota('instances', _usage.instances + _top - _usage.started - _new, _quota.instances);
  ELSIF _usage.jobs + _top - _usage.started > _quota.jobs THEN
    PERFORM wed.refuse_quota('jobs', _usage.jobs + _top - _usage.started - _new, _quota.jobs);
  END IF;
  RETURN NULL;
END $$;

ALTER FUNCTION wed.on_start() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.on_tenant() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    EXECUTE format('DROP SEQUENCE IF EXISTS wed.started_%s', OLD.tenant_id);
  ELSE
    INSERT INTO wed.quota (tenant_id) VALUES (NEW.tenant_id);
    INSERT INTO wed.usage (tenant_id) VALUES (NEW.tenant_id);
    EXECUTE format('CREATE SEQUENCE wed.started_%s', NEW.tenant_id);
  END IF;
  RETURN NULL;
END $$;

ALTER FUNCTION wed.on_tenant() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.on_thing() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
DECLARE
  _suspended timestamptz;
  _used bigint;
  _allowed bigint;
BEGIN
  SELECT t.suspended_at, CASE TG_TABLE_NAME WHEN 'flow' THEN q.flows ELSE q.components END INTO _suspended, _allowed
  FROM wed.tenant t JOIN wed.quota q USING (tenant_id) WHERE t.tenant_id = NEW.tenant_id FOR NO KEY UPDATE OF t;
  IF TG_TABLE_NAME = 'flow' AND _suspended IS NOT NULL THEN
    -- It would bring a role that may log in.
    RAISE EXCEPTION 'the tenant is suspended' USING ERRCODE = 'WF021', HINT = 'The operator resumes it.';
  END IF;
  IF _allowed IS NOT NULL THEN
    EXECUTE format('SELECT count(*) FROM wed.%I WHERE tenant_id = $1', TG_TABLE_NAME) INTO _used USING NEW.tenant_id;
    IF _used >= _allowed THEN
      PERFORM wed.refuse_quota(TG_TABLE_NAME || 's', _used, _allowed);
    END IF;
  END IF;
  RETURN NEW;
END $_$;

ALTER FUNCTION wed.on_thing() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.on_trigger() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _flow wed.flow;
  _checked record;
  _pending bigint;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  IF TG_OP = 'DELETE' THEN
    SELECT count(*) INTO _pending FROM wed.job WHERE flow_id = _flow.flow_id AND tgid = OLD.tgid;
    IF _pending > 0 THEN
      RAISE EXCEPTION 'trigger % has % pending jobs', coalesce(OLD.tgname, OLD.tgid::text), _pending
        USING ERRCODE = 'WF013', HINT = 'Set enabled to false and let them finish first.';
    END IF;
    PERFORM wed.take_off_shape(_flow.shape_schema, OLD.tgid);
    DELETE FROM wed.trigger WHERE tgid = OLD.tgid;
    RETURN NULL;
  END IF;
  IF pg_trigger_depth() > 1 THEN
    RETURN NULL; -- on_attribute writes, after a renaming, and has done the rest
  END IF;
  _checked := wed.check_predicate(_flow.shape_schema, NEW.tgid, NEW.cpred);
  INSERT INTO wed.trigger AS t (tgid, flow_id, tenant_id, tgname, trname, cfinal, enabled, predicate, reads, timely,
      timeout, attempts, backoff, delay, priority, recheck, writes, component_id, weight)
  VALUES (NEW.tgid, _flow.flow_id, _flow.tenant_id, NEW.tgname, NEW.trname, NEW.cfinal, NEW.enabled, _checked.predicate,
      _checked.reads, _checked.timely, NEW.timeout, NEW.attempts, NEW.backoff, NEW.delay, NEW.priority, NEW.recheck, NEW.writes,
      wed.bound_component(_flow.flow_id, NEW.trname), _checked.weight)
  ON CONFLICT (tgid) DO UPDATE SET tgname = excluded.tgname, trname = excluded.trname, cfinal = excluded.cfinal,
    enabled = excluded.enabled, predicate = excluded.predicate, reads = excluded.reads,
    timely = excluded.timely, timeout = excluded.timeout, attempts = excluded.attempts, backoff = excluded.backoff,
    delay = excluded.delay, priority = excluded.priority, recheck = excluded.recheck,
    writes = excluded.writes, component_id = excluded.component_id, weight = excluded.weight;
  PERFORM wed.set_constraint(_flow, NEW.tgid, NEW.reserves, NEW.quantity, NEW.resource, NEW.holds, NEW.consumes, NEW.after);
  RETURN NULL;
END $$;

ALTER FUNCTION wed.on_trigger() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.open_requests() RETURNS bigint[]
    LANGUAGE sql STABLE
    AS $$
  SELECT ARRAY(SELECT request_id FROM wed.request WHERE xid = pg_current_xact_id() AND state IN ('n', 'f', 'c') ORDER BY request_id)
$$;

ALTER FUNCTION wed.open_requests() OWNER TO CURRENT_USER;

CREATE TABLE wed.job (
    flow_id integer,
    tenant_id integer,
    wid integer,
    tgid integer,
    seq integer,
    last_seq integer,
    priority integer,
    attempt integer DEFAULT 0,
    beside integer,
    due timestamp with time zone,
    fired_at timestamp with time zone,
    token bigint DEFAULT 0,
    timeout interval,
    component_id integer,
    host_id integer,
    version integer,
    trname text,
    waits_for text,
    satisfied bigint[],
    payload text,
    delayed boolean GENERATED ALWAYS AS ((due > fired_at)) STORED,
    blocked "char",
    CONSTRAINT complete CHECK ((num_nulls(flow_id, tenant_id, wid, tgid, seq, last_seq, priority, attempt, beside, due, fired_at, token, timeout, trname) = 0))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
ALTER TABLE wed.job OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.job.seq IS 'The trace row of the state that fired it.';

COMMENT ON COLUMN wed.job.last_seq IS 'The newest trace row of its instance; the same in all its jobs.';

COMMENT ON COLUMN wed.job.attempt IS 'Attempts begun by hosts.';

COMMENT ON COLUMN wed.job.beside IS 'How many other jobs its instance has; where none, the gate looks for none.';

COMMENT ON COLUMN wed.job.fired_at IS 'The time of trace row seq, which tells its partition.';

COMMENT ON COLUMN wed.job.token IS 'Fencing token of the present claim; 0 when unclaimed.';

COMMENT ON COLUMN wed.job.version IS 'The flow''s version that satisfied was found with.';

COMMENT ON COLUMN wed.job.waits_for IS 'Why an unclaimed job waits, where it is not for its time.';

COMMENT ON COLUMN wed.job.satisfied IS 'Which conditions held in the newest state, by group (0003); kept for flows that evaluate by group.';

COMMENT ON COLUMN wed.job.delayed IS 'Whether it was not due yet when it was fired, or was put off.';

COMMENT ON COLUMN wed.job.blocked IS 'a: fired just now; p: waits for tasks before it; r: waits for its reservation. Due at infinity meanwhile.';

CREATE FUNCTION wed.open_work_item(_job wed.job) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _task wed.work_task;
  _now timestamptz := greatest(_job.fired_at, now());
  _state jsonb;
  _item wed.work_item;
BEGIN
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _job.tgid;
  IF NOT FOUND THEN RETURN NULL; END IF;
  -- A trigger that fires itself again goes on with the item that is open, and with its holder.
  IF EXISTS (SELECT FROM wed.work_item
             WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid AND ended_at IS NULL) THEN
    RETURN NULL;
  END IF;
  INSERT INTO wed.work_instance (flow_id, wid, tenant_id) VALUES (_job.flow_id, _job.wid, _job.tenant_id) ON CONFLICT DO NOTHING;
  UPDATE wed.instance SET people = true WHERE flow_id = _job.flow_id AND wid = _job.wid AND NOT people;
  SELECT r.state::jsonb INTO _state FROM wed.trace r
  WHERE r.flow_id = _job.flow_id AND r.wid = _job.wid AND r.seq = _job.seq AND r.tstmp = _job.fired_at;
  INSERT INTO wed.work_item (tenant_id, flow_id, wid, tgid, role_id, priority, data_bytes, policy, disconnected, candidates, task,
                             arrived_at, renotify, offered_at, deadline_at)
  SELECT _job.tenant_id, _job.flow_id, _job.wid, _job.tgid, _task.role_id, _task.priority,
    (SELECT coalesce(sum(octet_length(_state ->> a)), 0) FROM unnest(_task.inputs) a), w.policy, _task.disconnected,
    _task.users <> '{}' OR _task.groups <> '{}', _task.task, _now, w.renotify, _now, wed.add_working_time(_now, _task.deadline, _task.calendar_id)
  FROM wed.work_instance w WHERE w.flow_id = _job.flow_id AND w.wid = _job.wid
  RETURNING * INTO _item;
  PERFORM wed.record_work(_item, 'wedflow', 'ready', '{}', _now);
  PERFORM wed.set_alarm(_item.item_id, _now);
  UPDATE wed.work_item i SET state = 'LOCKED', holder = r.person_id, claim = 1, held_since = _now
  FROM wed.work_reservation r
  WHERE r.flow_id = i.flow_id AND r.wid = i.wid AND r.tgid = i.tgid AND i.item_id = _item.item_id;
  DELETE FROM wed.work_reservation WHERE flow_id = _job.flow_id AND wid = _job.wid AND tgid = _job.tgid;
  PERFORM wed.offer_item(_item.item_id, _now);
  RETURN _item.item_id;
END $$;

ALTER FUNCTION wed.open_work_item(_job wed.job) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.operated(_flow_id integer, _wid integer) RETURNS "char"
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _status "char";
BEGIN
  EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) USING _wid;
  SELECT status INTO _status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no instance %', _wid USING ERRCODE = 'WF040', HINT = 'List the instances of the flow.';
  ELSIF _status = 'F' THEN
    RAISE EXCEPTION 'instance % is final and cannot be changed', _wid USING ERRCODE = 'WF002',
      HINT = 'Start a new instance.';
  END IF;
  RETURN _status;
END $_$;

ALTER FUNCTION wed.operated(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.order_by_attribute(_flow_id integer, _attribute text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF _attribute IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.flow f JOIN pg_attribute a ON a.attrelid = format('%I.wed_flow', f.schema_name)::regclass
      WHERE f.flow_id = _flow_id AND a.attname = _attribute AND a.atttypid = 'jsonb'::regtype AND NOT a.attisdropped) THEN
    RAISE EXCEPTION 'the flow has no attribute "%" of type jsonb', left(_attribute, 80) USING ERRCODE = 'WF013',
      HINT = 'Insert it into wed_attr first.';
  END IF;
  UPDATE wed.flow SET order_attribute = _attribute WHERE flow_id = _flow_id AND order_attribute IS DISTINCT FROM _attribute;
  IF FOUND THEN PERFORM wed.mark_constrained(_flow_id); END IF;
END $$;

ALTER FUNCTION wed.order_by_attribute(_flow_id integer, _attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.order_by_result(_flow_id integer, _wid integer, _said jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
  _result CONSTANT text := '_RESULT';
  _unknown text;
BEGIN
  IF jsonb_typeof(coalesce(_said, '{}')) <> 'object' OR (SELECT count(*) FROM jsonb_object_keys(coalesce(_said, '{}'))) > 64 THEN
    RAISE EXCEPTION 'the order of tasks is no document of at most 64 triggers' USING ERRCODE = 'WF062',
      HINT = 'For example: {"ship": "pack AND check"}.';
  END IF;
  IF NOT EXISTS (SELECT FROM wed.precedence WHERE flow_id = _flow_id AND wid = _wid AND actor = _result) AND coalesce(_said, '{}') = '{}' THEN
    RETURN;
  END IF;
  SELECT e.key INTO _unknown FROM jsonb_each_text(coalesce(_said, '{}')) e
  WHERE NOT EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND NOT t.cfinal AND e.key IN (t.tgname, t.trname)) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the order names "%", which is no trigger of this flow', left(_unknown, 80) USING ERRCODE = 'WF062', HINT = 'Name a trigger or a transition.';
  END IF;
  DELETE FROM wed.precedence p WHERE p.flow_id = _flow_id AND p.wid = _wid AND p.actor = _result AND NOT EXISTS (
    SELECT FROM jsonb_each_text(_said) e JOIN wed.trigger t ON t.tgid = p.tgid AND e.key IN (t.tgname, t.trname) WHERE e.value = p.after);
  INSERT INTO wed.precedence (flow_id, wid, tgid, after, terms, actor)
  SELECT _flow_id, _wid, t.tgid, e.value, wed.parse_order(e.value), _result
  FROM jsonb_each_text(_said) e JOIN wed.trigger t ON t.flow_id = _flow_id AND NOT t.cfinal AND e.key IN (t.tgname, t.trname)
  WHERE btrim(e.value) <> '' ON CONFLICT DO NOTHING;
  IF FOUND THEN
    PERFORM wed.check_order(_flow_id, _wid);
    PERFORM wed.delay_jobs(_flow_id, _wid);
  END IF;
END $$;

ALTER FUNCTION wed.order_by_result(_flow_id integer, _wid integer, _said jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.order_cycle(_flow_id integer, _wid integer) RETURNS text[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _free integer[] := '{}';
  _more integer[];
  _done text[];
  _at integer;
  _next integer;
  _path integer[] := '{}';
BEGIN
  LOOP
    _done := ARRAY(SELECT n FROM wed.trigger t CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
                   WHERE t.tgid = ANY (_free) AND n IS NOT NULL);
    _more := ARRAY(SELECT t.tgid FROM wed.trigger t WHERE t.flow_id = _flow_id AND t.tgid <> ALL (_free) AND NOT EXISTS (
                     SELECT FROM wed.order_of(_flow_id, _wid) o WHERE o.tgid = t.tgid AND NOT wed.is_met(o.terms, _done)));
    EXIT WHEN _more = '{}';
    _free := _free || _more;
  END LOOP;
  SELECT min(t.tgid) INTO _at FROM wed.trigger t WHERE t.flow_id = _flow_id AND t.tgid <> ALL (_free);
  IF _at IS NULL THEN RETURN NULL; END IF;
  -- Each that cannot begin waits for another one that cannot: follow them until one comes again.
  WHILE _at <> ALL (_path) LOOP
    _path := _path || _at;
    SELECT min(t.tgid) INTO _next FROM wed.order_of(_flow_id, _wid) o CROSS JOIN LATERAL jsonb_array_elements(o.terms) c
    CROSS JOIN LATERAL jsonb_array_elements_text(c) n
    JOIN wed.trigger t ON t.flow_id = _flow_id AND n IN (t.tgname, t.trname) AND t.tgid <> ALL (_free)
    WHERE o.tgid = _at AND NOT wed.is_met(o.terms, _done);
    _at := _next;
  END LOOP;
  _path := _path[array_position(_path, _at):] || _at;
  RETURN ARRAY(SELECT coalesce(nullif(t.tgname, ''), t.trname) FROM unnest(_path) WITH ORDINALITY p(tgid, at) JOIN wed.trigger t USING (tgid)
               ORDER BY p.at);
END $$;

ALTER FUNCTION wed.order_cycle(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.order_of(_flow_id integer, _wid integer) RETURNS TABLE(tgid integer, terms jsonb)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT c.tgid, c.terms FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id AND c.terms IS NOT NULL
  UNION ALL
  SELECT p.tgid, p.terms FROM wed.precedence p WHERE p.flow_id = _flow_id AND (p.wid IS NULL OR p.wid = _wid)
$$;

ALTER FUNCTION wed.order_of(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.parse_order(_text text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
        CASE WHEN left(_token, 1) = '"' THEN replace(substr(_token, 2, length(_token) - 2), '""', '"') ELSE _token END)));
      _wanted := false;
    ELSE
      RAISE EXCEPTION 'the order % cannot be read at "%"', quote_literal(left(_text, 200)), _token USING ERRCODE = 'WF062',
        HINT = 'Write names of triggers with AND, OR and parentheses, for example: check AND (plan OR waiver).';
    END IF;
  END LOOP;
  IF _left >= 0 OR _wanted IS NOT NULL OR jsonb_array_length(_values) <> 1 THEN
    RAISE EXCEPTION 'the parentheses of the order % do not fit', quote_literal(left(_text, 200)) USING ERRCODE = 'WF062',
      HINT = 'Close each that is opened.';
  END IF;
  RETURN _values -> 0;
END $$;

ALTER FUNCTION wed.parse_order(_text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.pass_as_it_stands(_flow_id integer, _wid integer, _tgid integer, _trw text, _forced text, _note text, _host_id integer, _fuel bigint DEFAULT NULL::bigint, _us bigint DEFAULT NULL::bigint, _memory bigint DEFAULT NULL::bigint) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _schema text;
  _token bigint;
BEGIN
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = _flow_id;
  EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _schema) USING _wid;
  SELECT token INTO _token FROM wed.job
  WHERE flow_id = _flow_id AND wid = _wid AND (tgid = _tgid OR _tgid IS NULL) ORDER BY tgid LIMIT 1;
  IF NOT FOUND THEN RETURN false; END IF;
  IF _trw = '_ABORT' AND wed.fail_task(_flow_id, _wid, _tgid, _token, _forced, _host_id, _fuel, _us, _memory) THEN
    RETURN true;
  END IF;
  PERFORM wed.settle(wed.as_it_stands(_flow_id, _wid), ARRAY[_tgid], ARRAY[_token], _host_id, _trw, _forced, _note,
                     ARRAY[_fuel], ARRAY[_us], ARRAY[_memory]);
  RETURN true;
END $_$;

ALTER FUNCTION wed.pass_as_it_stands(_flow_id integer, _wid integer, _tgid integer, _trw text, _forced text, _note text, _host_id integer, _fuel bigint, _us bigint, _memory bigint) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.path_cost(_path text) RETURNS integer
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  SELECT CASE WHEN _path ~ '^(?:strict )?\$(?:\."(?:[^"\\]|\\.)*"|\[(?:[0-9]+|last)\])*$'
    AND regexp_count(regexp_replace(_path, '"(?:[^"\\]|\\.)*"', '', 'g'), '\[') <= 4 THEN 24 ELSE 128 END
$_$;

ALTER FUNCTION wed.path_cost(_path text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.person_of(_tenant text, _name text) RETURNS wed.person
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _person wed.person;
BEGIN
  SELECT p.* INTO _person FROM wed.person p JOIN wed.tenant t USING (tenant_id) WHERE t.name = _tenant AND p.name = _name;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no person "%"', left(_name, 80) USING ERRCODE = 'WF080',
      HINT = 'Add the person: `wed work people add NAME`.';
  END IF;
  RETURN _person;
END $$;

ALTER FUNCTION wed.person_of(_tenant text, _name text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.place(_name text, _text text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT CASE strpos(lower(_text), lower(_name)) WHEN 0 THEN 'It is what Postgres makes of the predicate.'
    ELSE format('At character %s of the predicate.', strpos(lower(_text), lower(_name))) END
$$;

ALTER FUNCTION wed.place(_name text, _text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.plain_number(_digits text, _rest text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  SELECT CASE
    WHEN _rest ~* '^(_[0-9]+)*(e[0-9]+(_[0-9]+)*)?$' AND strpos(_rest, '_') > 0 THEN _digits || replace(_rest, '_', '')
    WHEN _digits = '0' AND _rest ~* '^(x(_?[0-9a-f])+|o(_?[0-7])+|b(_?[01])+)$' AND length(_rest) <= 60 THEN (
      SELECT trunc(sum((strpos('0123456789abcdef', d) - 1) * CASE lower(left(_rest, 1)) WHEN 'x' THEN 16 WHEN 'o' THEN 8 ELSE 2 END ^ (n - 1)::numeric))::text
      FROM string_to_table(reverse(lower(replace(substr(_rest, 2), '_', ''))), NULL) WITH ORDINALITY t(d, n))
    END
$_$;

ALTER FUNCTION wed.plain_number(_digits text, _rest text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.plan_task(_flow wed.flow, _plan jsonb, _task jsonb) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _name text := coalesce(_task ->> 'task', _task ->> 'trigger');
  _tgid integer;
  _calendar integer := (SELECT calendar_id FROM wed.work_calendar
                        WHERE tenant_id = _flow.tenant_id AND name = _task ->> 'calendar');
BEGIN
  SELECT tgid INTO _tgid FROM wed.trigger
  WHERE flow_id = _flow.flow_id AND NOT cfinal AND (tgname = _task ->> 'trigger' OR trname = _task ->> 'trigger')
  ORDER BY (tgname = _task ->> 'trigger') IS TRUE DESC, tgid LIMIT 1;
  IF _tgid IS NULL THEN
    RAISE EXCEPTION 'task "%" names trigger "%", which flow "%" does not have', left(_name, 80), left(_task ->> 'trigger', 80),
        _flow.name USING ERRCODE = 'WF085', HINT = 'Define the flow''s triggers first; `wed flow show` lists them.';
  ELSIF _task ->> 'calendar' IS NOT NULL AND _calendar IS NULL THEN
    RAISE EXCEPTION 'task "%" names calendar "%", which there is not', left(_name, 80), left(_task ->> 'calendar', 80)
      USING ERRCODE = 'WF085', HINT = 'Make it: `wed work calendar set`.';
  END IF;
  INSERT INTO wed.work_task (tgid, flow_id, task, kind, role_id, priority, deadline, calendar_id, disconnected, application,
                             description, inputs, outputs, state_attribute, users, groups, escalate_after, escalate_to, form)
  VALUES (_tgid, _flow.flow_id, _name, coalesce(_task ->> 'type', 'manual'), wed.make_role(_flow.tenant_id, _task ->> 'role'),
    coalesce((_task ->> 'priority')::integer, 0),
    CASE jsonb_typeof(_task -> 'deadline')
      WHEN 'object' THEN make_interval(
        hours => CASE WHEN _task #>> '{deadline,unit}' = 'hours' THEN (_task #>> '{deadline,amount}')::integer ELSE 0 END,
        days => CASE WHEN _task #>> '{deadline,unit}' = 'days' THEN (_task #>> '{deadline,amount}')::integer ELSE 0 END)
      WHEN 'string' THEN (_task ->> 'deadline')::interval END,
    _calendar, coalesce((_task ->> 'disconnected')::boolean, false), _task ->> 'application',
    coalesce(_task ->> 'description', ''), coalesce(wed.data_attributes(_plan, _task -> 'inputs'), '{}'),
    wed.data_attributes(_plan, _task -> 'outputs'), _task ->> 'state',
    ARRAY(SELECT jsonb_array_elements_text(coalesce(_task -> 'users', '[]'))),
    ARRAY(SELECT jsonb_array_elements_text(coalesce(_task -> 'groups', '[]'))),
    (_task ->> 'escalate_after')::interval, _task ->> 'escalate_to', _task -> 'form')
  ON CONFLICT (tgid) DO UPDATE SET task = excluded.task, kind = excluded.kind, role_id = excluded.role_id,
    priority = excluded.priority, deadline = excluded.deadline, calendar_id = excluded.calendar_id,
    disconnected = excluded.disconnected, application = excluded.application, description = excluded.description,
    inputs = excluded.inputs, outputs = excluded.outputs, state_attribute = excluded.state_attribute, users = excluded.users,
    groups = excluded.groups, escalate_after = excluded.escalate_after, escalate_to = excluded.escalate_to, form = excluded.form;
  RETURN _tgid;
END $$;

ALTER FUNCTION wed.plan_task(_flow wed.flow, _plan jsonb, _task jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.plan_work(_flow_id integer, _plan jsonb) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    SET "IntervalStyle" TO 'iso_8601'
    AS $$
DECLARE
  _flow wed.flow;
  _task jsonb;
  _kept integer[] := '{}';
  _opened bigint;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  IF NOT FOUND OR jsonb_typeof(_plan -> 'tasks') IS DISTINCT FROM 'array' THEN
    RAISE EXCEPTION 'the plan of work is not for a flow, or has no list "tasks"' USING ERRCODE = 'WF085',
      HINT = 'A plan is {"creator_role": …, "tasks": [{"task", "trigger", "type", "role", …}], "data": […]}.';
  ELSIF jsonb_array_length(_plan -> 'tasks') > 1000 OR octet_length(_plan::text) > 1048576 THEN
    RAISE EXCEPTION 'the plan of work has more than 1000 tasks or 1 MiB' USING ERRCODE = 'WF085',
      HINT = 'Divide the process into several flows.';
  END IF;
  FOR _task IN SELECT jsonb_array_elements(_plan -> 'tasks') LOOP
    IF coalesce(_task ->> 'type', 'manual') <> 'automatic' THEN
      _kept := _kept || wed.plan_task(_flow, _plan, _task);
    END IF;
  END LOOP;
  DELETE FROM wed.work_task WHERE flow_id = _flow_id AND tgid <> ALL (_kept);
  INSERT INTO wed.work_plan (flow_id, plan, creator_role)
  VALUES (_flow_id, _plan, wed.make_role(_flow.tenant_id, _plan ->> 'creator_role'))
  ON CONFLICT (flow_id) DO UPDATE SET plan = excluded.plan, creator_role = excluded.creator_role, applied_at = excluded.applied_at;
  SELECT count(wed.open_work_item(j)) INTO _opened FROM wed.job j
  WHERE j.flow_id = _flow_id AND j.tgid = ANY (_kept) AND j.component_id IS NULL
    AND NOT EXISTS (SELECT FROM wed.work_item i WHERE i.flow_id = j.flow_id AND i.wid = j.wid AND i.tgid = j.tgid
                    AND i.ended_at IS NULL);
  RETURN _opened;
END $$;

ALTER FUNCTION wed.plan_work(_flow_id integer, _plan jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.problems() RETURNS TABLE(code text, text text, hint text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT 'no_host', 'no host is running', 'Start one with `wed serve`.'
  WHERE NOT EXISTS (SELECT FROM wed.host WHERE expires_at > clock_timestamp())
  UNION ALL
  SELECT 'host_lost', format('host %s (%s) has not renewed its lease for %s s', host_id, name,
    (extract(epoch FROM clock_timestamp() - expires_at))::bigint), 'Another host frees its jobs within seconds; start one if none runs.'
  FROM wed.host WHERE expires_at <= clock_timestamp()
  UNION ALL
  SELECT 'queue_old', format('the oldest job that could run is due since %s s', q.age), 'Start more hosts, or see which tenant or component is slow with `wed job list`.'
  FROM (SELECT extract(epoch FROM now() - min(due))::bigint AS age FROM wed.job WHERE host_id IS NULL AND component_id IS NOT NULL AND due <= now()) q
  WHERE q.age > 60 AND EXISTS (SELECT FROM wed.host WHERE expires_at > clock_timestamp())
  UNION ALL
  SELECT 'no_component', format('flow %s of tenant %s: component %s of transition %s was not uploaded', f.name, t.name, b.component_name, b.trname),
    'Upload it with `wed component push`.'
  FROM wed.binding b JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id)
  WHERE NOT EXISTS (SELECT FROM wed.component c WHERE c.tenant_id = f.tenant_id AND c.name = b.component_name)
  UNION ALL
  SELECT 'history_misplaced', 'rows of the trace are in its default partition, which no retention drops', 'Run a host: it moves them into the partitions of their days.'
  WHERE EXISTS (SELECT FROM wed.trace_else)
  UNION ALL
  SELECT 'old_transaction', format('session %s (%s) has had a transaction open for %s s', pid, coalesce(usename, '?'), extract(epoch FROM now() - xact_start)::bigint),
    format('End it: SELECT pg_terminate_backend(%s). Old row versions pile up meanwhile.', pid)
  FROM pg_stat_activity WHERE datname = current_database() AND xact_start < now() - interval '10 minutes' AND backend_type = 'client backend'
  UNION ALL
  SELECT 'lock_waited', format('session %s waits for a lock of session %s', a.pid, pg_blocking_pids(a.pid)), 'End the session that holds it, if it is not at work.'
  FROM pg_stat_activity a WHERE a.datname = current_database() AND a.wait_event_type = 'Lock' AND a.query_start < now() - interval '5 seconds'
  UNION ALL
  SELECT 'unowned', format('%s jobs are leased to hosts that there are not', count(*)), 'A host of this version frees them; start one.'
  FROM wed.job j WHERE j.host_id IS NOT NULL AND NOT EXISTS (SELECT FROM wed.host h WHERE h.host_id = j.host_id) HAVING count(*) > 0
$$;

ALTER FUNCTION wed.problems() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.put_off(_host_id integer, _tokens bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1, due = now() + interval '15 s',
    waits_for = 'a lock on the table of its flow'
  WHERE host_id = _host_id AND token = ANY (_tokens);
END $$;

ALTER FUNCTION wed.put_off(_host_id integer, _tokens bigint[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.put_on_shape(_shape_schema text, _tgid integer, _predicate text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET standard_conforming_strings TO 'on'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    AS $$
BEGIN
  -- Parsed and analysed only, never planned or run: for the error's position, which ALTER TABLE does
  -- not give. The predicate stands on lines of its own: an error's LINE 2 is its first.
  EXECUTE format(E'PREPARE wed_condition_check AS SELECT FROM %I.wed_flow WHERE (\n%s\n)', _shape_schema, _predicate);
  DEALLOCATE wed_condition_check;
  EXECUTE format(E'ALTER TABLE %I.wed_flow ADD CONSTRAINT %I CHECK (\n%s\n) NOT VALID',
                 _shape_schema, 'c' || _tgid, _predicate);
END $$;

ALTER FUNCTION wed.put_on_shape(_shape_schema text, _tgid integer, _predicate text) OWNER TO wed_predicate;

CREATE FUNCTION wed.queue_requests(_flow wed.flow, _jobs tid[], _wids integer[], _tgids integer[], _keys jsonb[], _ready timestamp with time zone) RETURNS integer[]
    LANGUAGE plpgsql
    AS $$
DECLARE
  _asked integer[];
BEGIN
  WITH k AS MATERIALIZED (
    SELECT u.job, u.wid, u.tgid, u.keys, u.at::integer AS at, c.holds, c.consumes, coalesce(c.resource, '#' || _flow.flow_id) AS resource, t.priority,
           -- A pause makes the delay longer by its own shift, and keeps the job when it is due.
           coalesce(_ready, now() + CASE WHEN t.delay >= '8000 years' THEN t.delay - interval '8000 years' ELSE t.delay END) AS ready_at,
           nextval('wed.request_request_id_seq') AS request_id,
           EXISTS (SELECT FROM wed.request r WHERE r.flow_id = _flow.flow_id AND r.wid = u.wid AND r.state = 'h') AS holder
    FROM ROWS FROM (unnest(_jobs), unnest(_wids), unnest(_tgids), unnest(_keys)) WITH ORDINALITY u(job, wid, tgid, keys, at)
    JOIN wed.trigger_constraint c ON c.tgid = u.tgid AND c.keys IS NOT NULL JOIN wed.trigger t ON t.tgid = u.tgid
    WHERE u.keys <> '{}' AND NOT EXISTS (
      SELECT FROM wed.request r WHERE r.flow_id = _flow.flow_id AND r.wid = u.wid AND r.tgid = u.tgid AND r.state = 'h'
        AND u.keys = (SELECT jsonb_object_agg(v.key, v.amount) FROM wed.reservation v WHERE v.request_id = r.request_id))
  ), asked AS (
    INSERT INTO wed.request (request_id, tenant_id, flow_id, wid, tgid, state, holds, consumes, leads, ready_at)
    OVERRIDING SYSTEM VALUE
    SELECT k.request_id, _flow.tenant_id, _flow.flow_id, k.wid, k.tgid, CASE WHEN k.ready_at > now() THEN 'd' ELSE 'n' END, k.holds,
           k.consumes, row_number() OVER (PARTITION BY k.ready_at > now()) = 1, k.ready_at FROM k
  ), named AS (
    INSERT INTO wed.reservation (request_id, tenant_id, resource, key, amount, priority, held)
    SELECT k.request_id, _flow.tenant_id, k.resource, e.key, (e.value #>> '{}')::numeric,
           CASE WHEN k.holder THEN 2147483647 ELSE k.priority END, CASE WHEN k.ready_at <= now() THEN false END
    FROM k CROSS JOIN LATERAL jsonb_each(k.keys) e
  ), waits AS (
    UPDATE wed.job j SET blocked = 'r' FROM k WHERE j.ctid = k.job)
  SELECT array_agg(k.at) INTO _asked FROM k;
  RETURN _asked;
END $$;

ALTER FUNCTION wed.queue_requests(_flow wed.flow, _jobs tid[], _wids integer[], _tgids integer[], _keys jsonb[], _ready timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.quotas(_tenant_id integer) RETURNS TABLE(name text, unit text, used bigint, allowed bigint)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _usage wed.usage := wed.measure(_tenant_id,
    coalesce(pg_sequence_last_value(('wed.started_' || _tenant_id)::regclass), 0));
BEGIN
  RETURN QUERY
    SELECT a.attname::text, col_description(a.attrelid, a.attnum), CASE a.attname
             WHEN 'flows' THEN (SELECT count(*) FROM wed.flow f WHERE f.tenant_id = _tenant_id)
             WHEN 'components' THEN (SELECT count(*) FROM wed.component c WHERE c.tenant_id = _tenant_id)
             WHEN 'instances' THEN _usage.instances
             WHEN 'jobs' THEN _usage.jobs
             WHEN 'fuel_per_minute' THEN wed.fuel_used(_usage)
             WHEN 'concurrency' THEN (SELECT count(*) FROM wed.job j WHERE j.tenant_id = _tenant_id AND j.host_id IS NOT NULL)
             WHEN 'trace_bytes' THEN _usage.trace_bytes
             WHEN 'row_bytes' THEN _usage.row_bytes END,
           (to_jsonb(q) ->> a.attname)::bigint
    FROM wed.quota q, pg_attribute a
    WHERE q.tenant_id = _tenant_id AND a.attrelid = 'wed.quota'::regclass AND a.attnum > 1 AND NOT a.attisdropped
    ORDER BY a.attnum;
END $$;

ALTER FUNCTION wed.quotas(_tenant_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.reasoned(_actor text, _reason text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT _actor || coalesce(': ' || left(nullif(btrim(_reason), ''), 1000), '')
$$;

ALTER FUNCTION wed.reasoned(_actor text, _reason text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.reassign_work(_tenant text, _name text, _from text, _to text, _limit integer, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _former wed.person := wed.person_of(_tenant, _from);
  _other wed.person := wed.person_of(_tenant, _to);
  _item wed.work_item;
  _moved bigint := 0;
BEGIN
  FOR _item IN
    SELECT * FROM wed.work_item i WHERE i.holder = _former.person_id AND i.ended_at IS NULL
      AND wed.answers_for(_person.person_id, i.flow_id, i.wid)
    ORDER BY i.item_id LIMIT least(_limit, 1000) FOR UPDATE
  LOOP
    PERFORM wed.hand_over(_item, _other.person_id, _person.name, 'reassigned', _now);
    _moved := _moved + 1;
  END LOOP;
  RETURN _moved;
END $$;

ALTER FUNCTION wed.reassign_work(_tenant text, _name text, _from text, _to text, _limit integer, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.record_work(_item wed.work_item, _person text, _action text, _detail jsonb, _now timestamp with time zone) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  INSERT INTO wed.work_event (item_id, flow_id, wid, at, person, action, detail)
  VALUES (_item.item_id, _item.flow_id, _item.wid, _now, _person, _action, wed.short_detail(jsonb_strip_nulls(_detail)))
$$;

ALTER FUNCTION wed.record_work(_item wed.work_item, _person text, _action text, _detail jsonb, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.refuse_capacity(_key text, _capacity numeric, _minimum numeric) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION '% of "%" would be left, and % is the minimum', _capacity, _key, _minimum USING ERRCODE = 'WF061',
    HINT = 'Add to its capacity in wed_resource, or lower its minimum; then retry.';
END $$;

ALTER FUNCTION wed.refuse_capacity(_key text, _capacity numeric, _minimum numeric) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.refuse_claim(_person wed.person, _item_id bigint, _to text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _item wed.work_item;
  _holder text;
BEGIN
  SELECT i.* INTO _item FROM wed.work_item i WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no work item %', _item_id USING ERRCODE = 'WF080', HINT = 'List your items: `wed work list`.';
  END IF;
  _holder := (SELECT name FROM wed.person WHERE person_id = _item.holder);
  IF _item.ended_at IS NOT NULL THEN
    RAISE EXCEPTION 'work item % (%) has ended: %', _item_id, _item.task, _item.state || coalesce(' by ' || _holder, '')
      USING ERRCODE = 'WF082', HINT = 'Its history says who did what: `wed work history`.';
  ELSIF _item.holder IS NOT NULL THEN
    RAISE EXCEPTION 'work item % (%) is held by %', _item_id, _item.task,
        CASE WHEN _item.holder = _person.person_id THEN 'you already' ELSE coalesce(_holder, 'somebody') END
      USING ERRCODE = 'WF081', DETAIL = jsonb_build_object('holder', _holder, 'state', _item.state, 'since', _item.held_since)::text,
      HINT = 'Choose another item, or ask the holder to release or delegate it.';
  ELSIF _to = 'LOCKED' AND NOT _item.disconnected THEN
    RAISE EXCEPTION 'work item % (%) may not be locked: its task does not allow disconnected work', _item_id, _item.task
      USING ERRCODE = 'WF083', HINT = 'Select it and do it while connected, or set DISCONNECTED_OPERATION of its task.';
  END IF;
  RAISE EXCEPTION 'work item % (%) is not on the worklist of "%"', _item_id, _item.task, _person.name USING ERRCODE = 'WF083',
    HINT = 'It is offered to people of its role who are connected; who connected later gets it with the next round.';
END $$;

ALTER FUNCTION wed.refuse_claim(_person wed.person, _item_id bigint, _to text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.refuse_constrained(_flow wed.flow, _attribute text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _user text;
BEGIN
  SELECT 'what is reserved by ' || coalesce(t.tgname, t.trname) INTO _user FROM wed.trigger_constraint c JOIN wed.trigger t USING (tgid)
  WHERE c.flow_id = _flow.flow_id AND _attribute = ANY (c.reads) ORDER BY t.tgid LIMIT 1;
  IF _flow.order_attribute = _attribute THEN _user := 'the order of tasks'; END IF;
  IF EXISTS (SELECT FROM wed.numbering WHERE flow_id = _flow.flow_id AND attribute = _attribute) THEN _user := 'a series of numbers'; END IF;
  IF _user IS NOT NULL THEN
    RAISE EXCEPTION 'attribute "%" is used by %', _attribute, _user USING ERRCODE = 'WF013', HINT = 'Change or remove that first.';
  END IF;
END $$;

ALTER FUNCTION wed.refuse_constrained(_flow wed.flow, _attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.refuse_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'instances are not deleted (instance %)', OLD.wid USING ERRCODE = 'WF009',
    HINT = 'Let the instance reach its final state; its history is kept.';
END $$;

ALTER FUNCTION wed.refuse_delete() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.refuse_holder(_person wed.person, _item_id bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _item wed.work_item;
  _holder text;
BEGIN
  SELECT i.* INTO _item FROM wed.work_item i WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id;
  IF NOT FOUND OR _item.ended_at IS NOT NULL THEN PERFORM wed.refuse_claim(_person, _item_id, 'SELECTED'); END IF;
  _holder := (SELECT name FROM wed.person WHERE person_id = _item.holder);
  RAISE EXCEPTION 'work item % (%) is %, and not yours to do this with', _item_id, _item.task,
      _item.state || coalesce(' and held by ' || _holder, '')
    USING ERRCODE = 'WF082', DETAIL = jsonb_build_object('holder', _holder, 'state', _item.state)::text,
    HINT = 'Select or lock it first; only who holds an item starts, gives back or reports it.';
END $$;

ALTER FUNCTION wed.refuse_holder(_person wed.person, _item_id bigint) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.refuse_quota(_limit text, _used bigint, _allowed bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'the tenant''s quota of % is used up: % of % are used', _limit, _used, _allowed
    USING ERRCODE = 'WF020', DETAIL = json_build_object('limit', _limit, 'used', _used, 'allowed', _allowed)::text,
      HINT = 'Make room, or ask the operator of this installation for more.';
END $$;

ALTER FUNCTION wed.refuse_quota(_limit text, _used bigint, _allowed bigint) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.refuse_truncate() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION '% cannot be truncated', TG_TABLE_NAME USING ERRCODE = 'WF009',
    HINT = 'Instances keep their history; drop the flow to remove all of it.';
END $$;

ALTER FUNCTION wed.refuse_truncate() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.refuse_update(_code text, _wid integer) RETURNS text
    LANGUAGE plpgsql
    AS $$
BEGIN
  CASE _code
    WHEN 'WF002' THEN
      RAISE EXCEPTION 'instance % is final and cannot be modified', _wid USING ERRCODE = 'WF002',
        HINT = 'Start a new instance.';
    WHEN 'WF003' THEN
      RAISE EXCEPTION 'this session holds no lock on a pending job of instance %', _wid USING ERRCODE = 'WF003',
        HINT = 'Take the job''s lock first, SELECT pg_try_advisory_xact_lock(wid, tgid) with a row of job_pool, or declare the attribute open (UPDATE wed_attr SET open = true).';
    WHEN 'WF004' THEN
      RAISE EXCEPTION 'the job of instance % that this session has locked is in the hands of a host', _wid
        USING ERRCODE = 'WF004', HINT = 'Abort, and look for another job.';
    WHEN 'WF005' THEN
      RAISE EXCEPTION 'this session holds the locks of several pending jobs of instance %', _wid
        USING ERRCODE = 'WF005', HINT = 'One transaction finishes one job of an instance: lock only that one.';
    WHEN 'WF006' THEN
      RAISE EXCEPTION 'instance % was already updated in this transaction', _wid USING ERRCODE = 'WF006',
        HINT = 'One transaction finishes one job of an instance, with one UPDATE: commit, then go on.';
    WHEN 'WF007' THEN
      RAISE EXCEPTION 'the final condition of instance % would hold while other transitions of it are pending', _wid
        USING ERRCODE = 'WF007', HINT = 'Let the pending transitions in job_pool finish first, then try again.';
    WHEN 'WF081' THEN
      RAISE EXCEPTION 'the job of instance % that this session has locked is held by a person', _wid
        USING ERRCODE = 'WF081', HINT = 'Abort, and look for another job; its holder reports it with `wed work report`.';
    WHEN 'WF045' THEN
      RAISE EXCEPTION 'the job of instance % that this session has locked waits: for its reservation, or for tasks before it', _wid
        USING ERRCODE = 'WF045', HINT = 'waits_for in job_pool says for what; take the lock when it is due.';
    ELSE
      -- Its claim was lost, or the flow was changed just now: to be tried again with what is still held.
      RAISE EXCEPTION 'instance % moved on meanwhile', _wid USING ERRCODE = '40001';
  END CASE;
END $$;

ALTER FUNCTION wed.refuse_update(_code text, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.refuse_without_reason(_reason text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF coalesce(btrim(_reason), '') = '' THEN
    RAISE EXCEPTION 'this action needs a reason' USING ERRCODE = 'WF041',
      HINT = 'Say in a few words why; it is kept in the trace and in the audit log.';
  END IF;
END $$;

ALTER FUNCTION wed.refuse_without_reason(_reason text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.refuse_write(_wid integer, _transition text, _attribute text, _allowed text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'transition % may not set attribute "%"', _transition, _attribute
    USING ERRCODE = 'WF010', DETAIL = format('Instance %s; it may set: %s.', _wid,
      coalesce(nullif(array_to_string(_allowed, ', '), ''), 'nothing')),
    HINT = 'Add the attribute to the trigger''s writes in wed_trig, or do not set it.';
END $$;

ALTER FUNCTION wed.refuse_write(_wid integer, _transition text, _attribute text, _allowed text[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.refused_report(_item wed.work_item, _person wed.person, _values jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _holder text := (SELECT name FROM wed.person WHERE person_id = _item.holder);
  _state jsonb;
BEGIN
  EXECUTE format('SELECT to_jsonb(w) - ''wid'' FROM %I.wed_flow w WHERE wid = $1',
                 (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) INTO _state USING _item.wid;
  PERFORM wed.record_work(_item, _person.name, 'report_refused', '{}', clock_timestamp());
  RETURN jsonb_build_object('applied', false, 'item', _item.item_id, 'code', 'WF084', 'holder', _holder, 'state', _item.state,
    'reason', format('work item %s (%s) is no longer held by %s under the claim that was reported: it is %s%s', _item.item_id,
      _item.task, _person.name, _item.state, coalesce(', held by ' || _holder, '')),
    'hint', 'The result is kept. Compare both versions, then hand yours to the present holder, or ask who is in charge to take the item over and report it.',
    'yours', coalesce(_values, '{}'),
    'present', (SELECT coalesce(jsonb_object_agg(k, _state -> k), '{}') FROM unnest(wed.work_outputs(_item)) k WHERE _state ? k));
END $_$;

ALTER FUNCTION wed.refused_report(_item wed.work_item, _person wed.person, _values jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.release(_host_id integer, _tokens bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1
  WHERE host_id = _host_id AND token = ANY (_tokens);
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;

ALTER FUNCTION wed.release(_host_id integer, _tokens bigint[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.release_work(_tenant text, _name text, _item_id bigint, _states text[], _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  UPDATE wed.work_item i SET state = 'READY', holder = NULL, claim = claim + 1, held_since = NULL
  WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id AND i.holder = _person.person_id AND i.state = ANY (_states)
  RETURNING * INTO _item;
  IF NOT FOUND THEN PERFORM wed.refuse_holder(_person, _item_id); END IF;
  PERFORM wed.record_work(_item, _person.name, 'released', '{}', _now);
  PERFORM wed.offer_item(_item_id, _now);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _item.state, 'claim', _item.claim);
END $$;

ALTER FUNCTION wed.release_work(_tenant text, _name text, _item_id bigint, _states text[], _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.rematch(_flow_id integer, _preview boolean) RETURNS TABLE(wid integer, fires text[], becomes text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
#variable_conflict use_column
DECLARE
  _flow wed.flow;
  _last integer := 0;
  _wids integer[];
  _rows wed.evaluated[];
  _tgids integer[];
  _chosen integer[];
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  LOOP
    -- A thousand at a time; their rows are held, unless they are only looked at.
    _wids := ARRAY(SELECT i.wid FROM wed.instance i
                   WHERE i.flow_id = _flow_id AND i.wid > _last AND i.status <> 'F' ORDER BY i.wid LIMIT 1000);
    EXIT WHEN _wids = '{}';
    _last := _wids[cardinality(_wids)];
    IF NOT _preview THEN
      EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE', _flow.schema_name)
        USING _wids;
      _wids := ARRAY(SELECT i.wid FROM wed.instance i
                     WHERE i.flow_id = _flow_id AND i.wid = ANY (_wids) AND i.status <> 'F' ORDER BY i.wid);
    END IF;
    EXECUTE format('SELECT %1$I.current_%1$s($1)', _flow.shape_schema) INTO _rows USING _wids;
    CONTINUE WHEN _rows = '{}';
    -- Where the new model leads on from an exception, the exception's job is done by that.
    _tgids := ARRAY(
      SELECT j.tgid FROM unnest(_rows) r
      LEFT JOIN wed.job j ON j.flow_id = _flow_id AND j.wid = r.wid AND j.trname = '_EXCPT' AND j.host_id IS NULL
      ORDER BY r.wid);
    _tgids := ARRAY(
      SELECT CASE WHEN p.becomes <> 'E' THEN p.tgid END
      FROM wed.gather(_rows, _tgids, array_fill(0::bigint, ARRAY[cardinality(_tgids)]), '_REMATCH', NULL, NULL, NULL, NULL) p
      ORDER BY p.wid);
    _chosen := '{}';
    FOR wid, fires, becomes IN
      SELECT p.wid, ARRAY(SELECT t.trname FROM wed.trigger t WHERE t.tgid = ANY (p.fire) ORDER BY t.tgid), p.becomes
      FROM wed.gather(_rows, _tgids, array_fill(0::bigint, ARRAY[cardinality(_tgids)]), '_REMATCH', NULL, NULL, NULL, NULL) p
      WHERE p.fire <> '{}' OR p.becomes <> p.was ORDER BY p.wid
    LOOP
      _chosen := _chosen || wid;
      RETURN NEXT;
    END LOOP;
    IF NOT _preview AND _chosen <> '{}' THEN
      PERFORM wed.settle(array_agg(r.row ORDER BY r.at), array_agg(_tgids[r.at] ORDER BY r.at),
                         array_fill(0::bigint, ARRAY[count(*)::integer]), NULL, '_REMATCH')
      FROM (SELECT _rows[at] AS row, at FROM generate_subscripts(_rows, 1) at) r WHERE (r.row).wid = ANY (_chosen);
    END IF;
  END LOOP;
END $_$;

ALTER FUNCTION wed.rematch(_flow_id integer, _preview boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.remove_messages(_tenant text, _name text, _messages bigint[] DEFAULT NULL::bigint[]) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  WITH gone AS (
    DELETE FROM wed.work_message m USING wed.person_of(_tenant, _name) p
    WHERE m.person_id = p.person_id AND m.delivered_at IS NOT NULL AND (_messages IS NULL OR m.message_id = ANY (_messages))
    RETURNING 1)
  SELECT count(*) FROM gone
$$;

ALTER FUNCTION wed.remove_messages(_tenant text, _name text, _messages bigint[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.remove_residue(_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _flow_id integer;
  _wids integer[];
  _table text;
BEGIN
  SELECT flow_id INTO _flow_id FROM wed.residue ORDER BY flow_id LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  _wids := ARRAY(SELECT wid FROM wed.instance WHERE flow_id = _flow_id ORDER BY wid LIMIT _limit);
  FOREACH _table IN ARRAY ARRAY['trace', 'attempt', 'log', 'recording', 'work_note', 'work_report', 'work_event', 'work_item',
                               'work_reservation', 'work_instance', 'instance_name', 'instance'] LOOP
    EXECUTE format('DELETE FROM wed.%I WHERE flow_id = $1 AND wid = ANY ($2)', _table) USING _flow_id, _wids;
  END LOOP;
  IF cardinality(_wids) < _limit THEN
    DELETE FROM wed.residue WHERE flow_id = _flow_id;
  END IF;
  RETURN true;
END $_$;

ALTER FUNCTION wed.remove_residue(_limit integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.report_work(_tenant text, _name text, _item_id bigint, _success boolean, _values jsonb, _key text, _reason text DEFAULT NULL::text, _claim integer DEFAULT NULL::integer, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $_$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
  _print bytea := sha256(convert_to(concat_ws('|', _item_id, _success, _values::text, _reason), 'UTF8'));
  _prior wed.work_report;
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
      RAISE EXCEPTION 'this key was used for another report' USING ERRCODE = 'WF086', HINT = 'Use a new random key for each result.';
    END IF;
    RETURN _prior.answer || '{"replayed": true}';
  END IF;
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id FOR UPDATE;
  IF _item.holder IS DISTINCT FROM _person.person_id OR _item.ended_at IS NOT NULL OR _item.claim <> coalesce(_claim, _item.claim) THEN
    _answer := wed.refused_report(_item, _person, _values);
  ELSE
    _answer := wed.apply_report(_item, _person, _success, coalesce(_values, '{}'), _reason, _now);
  END IF;
  INSERT INTO wed.work_report (person_id, key, item_id, flow_id, wid, fingerprint, applied, code, reason, result, answer, at)
  VALUES (_person.person_id, _key, _item_id, _item.flow_id, _item.wid, _print, (_answer ->> 'applied')::boolean, _answer ->> 'code',
          _answer ->> 'reason', jsonb_build_object('success', _success, 'values', _values, 'reason', _reason), _answer, _now);
  RETURN _answer;
END $_$;

ALTER FUNCTION wed.report_work(_tenant text, _name text, _item_id bigint, _success boolean, _values jsonb, _key text, _reason text, _claim integer, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.reserve_work(_tenant text, _name text, _item_id bigint, _task text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _item wed.work_item := wed.see_work(_person, _item_id, clock_timestamp());
  _next wed.work_task;
  _other text;
BEGIN
  IF _item.holder IS DISTINCT FROM _person.person_id OR _item.state <> 'LOCKED' THEN
    PERFORM wed.refuse_holder(_person, _item_id);
  END IF;
  SELECT * INTO _next FROM wed.work_task WHERE flow_id = _item.flow_id AND task = _task;
  IF NOT FOUND OR NOT _next.disconnected OR _next.role_id IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.membership WHERE person_id = _person.person_id AND role_id = _next.role_id) THEN
    RAISE EXCEPTION 'task "%" cannot be taken away together with work item %', left(_task, 80), _item_id USING ERRCODE = 'WF083',
      HINT = 'It must be a task of the same flow that allows disconnected work, of a role of yours.';
  END IF;
  INSERT INTO wed.work_reservation (flow_id, wid, tgid, person_id) VALUES (_item.flow_id, _item.wid, _next.tgid, _person.person_id)
  ON CONFLICT DO NOTHING;
  SELECT p.name INTO _other FROM wed.work_reservation r JOIN wed.person p USING (person_id)
  WHERE r.flow_id = _item.flow_id AND r.wid = _item.wid AND r.tgid = _next.tgid;
  IF _other <> _name THEN
    RAISE EXCEPTION 'the next "%" of instance % is reserved by %', _task, _item.wid, _other USING ERRCODE = 'WF081',
      HINT = 'Ask that person, or do yours while connected.';
  END IF;
  PERFORM wed.record_work(_item, _name, 'reserved', jsonb_build_object('task', _task), clock_timestamp());
END $$;

ALTER FUNCTION wed.reserve_work(_tenant text, _name text, _item_id bigint, _task text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.resolve_bindings(_flow_id integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  UPDATE wed.trigger SET component_id = wed.bound_component(flow_id, trname)
  WHERE flow_id = _flow_id AND component_id IS DISTINCT FROM wed.bound_component(flow_id, trname);
  UPDATE wed.job j SET component_id = t.component_id FROM wed.trigger t
  WHERE t.flow_id = _flow_id AND j.flow_id = _flow_id AND j.tgid = t.tgid AND j.host_id IS NULL
    AND j.component_id IS DISTINCT FROM t.component_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  PERFORM wed.compile(_flow_id);
END $$;

ALTER FUNCTION wed.resolve_bindings(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.resources_of(_flow_id integer) RETURNS TABLE(resource text, key text, capacity text, minimum text, held text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT CASE WHEN s.resource LIKE '#%' THEN NULL ELSE s.resource END, s.key, s.capacity::text, s.minimum::text,
    (SELECT coalesce(sum(v.amount), 0)::text FROM wed.reservation v
     WHERE v.tenant_id = s.tenant_id AND v.resource = s.resource AND v.key = s.key AND v.held)
  FROM wed.flow f JOIN wed.resource s ON s.tenant_id = f.tenant_id AND (s.resource = '#' || _flow_id OR s.resource IN (
    SELECT c.resource FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id))
  WHERE f.flow_id = _flow_id ORDER BY s.resource, s.key
$$;

ALTER FUNCTION wed.resources_of(_flow_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.resting() RETURNS integer[]
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
  RETURN ARRAY(SELECT tenant_id FROM wed.tenant WHERE suspended_at IS NOT NULL
               UNION ALL SELECT tenant_id FROM wed.usage WHERE resting);
END $$;

ALTER FUNCTION wed.resting() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.retry_exception(_flow_id integer, _wid integer, _actor text, _reason text) RETURNS text[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _rows wed.evaluated[] := wed.as_it_stands(_flow_id, _wid);
  _job wed.job;
  _fired text[];
BEGIN
  SELECT * INTO STRICT _job FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND trname = '_EXCPT' FOR UPDATE;
  IF _rows[1].fault IS NOT NULL THEN
    RAISE EXCEPTION 'instance % cannot be evaluated: %', _wid, _rows[1].fault USING ERRCODE = 'WF042',
      HINT = 'Set a state for which every condition can be evaluated, or mend the condition; then retry.';
  ELSIF _rows[1].fired = '{}' AND NOT _rows[1].final
        AND NOT EXISTS (SELECT FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND trname <> '_EXCPT') THEN
    RAISE EXCEPTION 'the state of instance % satisfies no condition', _wid USING ERRCODE = 'WF042',
      HINT = 'Set another state, go back to an earlier step, or change the flow; then retry.';
  END IF;
  PERFORM wed.settle(_rows, ARRAY[_job.tgid], ARRAY[_job.token], NULL, '_RETRY', NULL, wed.reasoned(_actor, _reason));
  SELECT trf INTO _fired FROM wed.trace
  WHERE flow_id = _flow_id AND wid = _wid AND seq = _job.last_seq + 1 AND tstmp >= now();
  RETURN coalesce(_fired, '{}');
END $$;

ALTER FUNCTION wed.retry_exception(_flow_id integer, _wid integer, _actor text, _reason text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.retry_instance(_flow_id integer, _wid integer, _actor text, _reason text) RETURNS text[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _status "char" := wed.operated(_flow_id, _wid);
  _fired text[];
BEGIN
  DELETE FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid;
  IF _status = 'E' THEN
    _fired := wed.retry_exception(_flow_id, _wid, _actor, _reason);
  ELSE
    WITH hurried AS (
      UPDATE wed.job SET attempt = 0, due = CASE WHEN due < '9000-01-01' THEN least(due, now()) ELSE due END
      WHERE flow_id = _flow_id AND wid = _wid AND host_id IS NULL RETURNING trname)
    SELECT coalesce(array_agg(trname ORDER BY trname), '{}') INTO _fired FROM hurried;
    IF _fired = '{}' THEN
      RAISE EXCEPTION 'instance % has no job that waits', _wid USING ERRCODE = 'WF040',
        HINT = 'All of its jobs are being run.';
    END IF;
    PERFORM pg_notify('wed_jobs', '');
  END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.retry', _wid::text,
                        jsonb_build_object('transitions', _fired, 'reason', _reason));
  RETURN _fired;
END $$;

ALTER FUNCTION wed.retry_instance(_flow_id integer, _wid integer, _actor text, _reason text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.revoke_role(_tenant text, _name text, _role text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  DELETE FROM wed.membership WHERE person_id = _person.person_id AND role_id = wed.role_named(_person.tenant_id, _role);
  RETURN FOUND;
END $$;

ALTER FUNCTION wed.revoke_role(_tenant text, _name text, _role text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.ring_alarm(_item wed.work_item, _now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _of wed.work_instance;
  _task wed.work_task;
  _charge integer[] := wed.in_charge(_item.flow_id, _item.wid);
  _place text := wed.work_place(_item.flow_id, _item.wid);
  _value integer;
  _moved boolean := false;
BEGIN
  SELECT * INTO _of FROM wed.work_instance WHERE flow_id = _item.flow_id AND wid = _item.wid;
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  FOR _value IN
    SELECT v FROM unnest(_of.warnings || 0) v
    WHERE v <> ALL (_item.warned) AND _item.deadline_at - v * interval '1 hour' > _item.arrived_at
      AND _item.deadline_at - v * interval '1 hour' <= _now ORDER BY v DESC
  LOOP
    UPDATE wed.work_item SET warned = warned || _value WHERE item_id = _item.item_id;
    IF _value = 0 THEN
      PERFORM wed.send_message(_charge, 'task_late', _place,
        format('The deadline of %s has passed; decide whether it continues or stops.', _item.task), _item.item_id, _now);
    ELSE
      PERFORM wed.send_message(_charge || array_remove(ARRAY[_item.holder], _charge[1]), 'task_deadline', _place,
        format('%s: %s hours are left until its deadline.', _item.task, _value), _item.item_id, _now);
    END IF;
    PERFORM wed.record_work(_item, 'wedflow', 'deadline', jsonb_build_object('hours_left', _value), _now);
    IF _value = _of.transfer AND _of.in_charge IS NOT NULL AND _item.holder IS DISTINCT FROM _of.in_charge THEN
      PERFORM wed.hand_over(_item, _of.in_charge, 'deadline', 'transferred', _now);
      SELECT * INTO _item FROM wed.work_item WHERE item_id = _item.item_id;
      _moved := true;
    END IF;
  END LOOP;
  IF NOT _item.escalated AND NOT _moved AND _item.arrived_at + _task.escalate_after <= _now THEN
    UPDATE wed.work_item SET escalated = true WHERE item_id = _item.item_id;
    IF _item.state = 'READY' THEN
      PERFORM wed.escalate_work(_item, _task.escalate_to, _now);
    END IF;
  END IF;
  PERFORM wed.set_alarm(_item.item_id, _now);
END $$;

ALTER FUNCTION wed.ring_alarm(_item wed.work_item, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.role_named(_tenant_id integer, _name text) RETURNS integer
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT role_id FROM wed.role_of_people WHERE tenant_id = _tenant_id AND replace(name, '-', '_') = replace(_name, '-', '_')
$$;

ALTER FUNCTION wed.role_named(_tenant_id integer, _name text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.roll_trace() RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '2s'
    SET client_min_messages TO 'warning'
    AS $_$
DECLARE
  _day date;
  _old record;
  _dropped integer := 0;
BEGIN
  -- One at a time; who comes second has nothing to do.
  PERFORM FROM wed.retention FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 0; END IF;
  FOR _day IN SELECT current_date + n FROM generate_series(0, 2) n LOOP
    CONTINUE WHEN to_regclass(format('wed.trace_%s', to_char(_day, 'YYYYMMDD'))) IS NOT NULL;
    -- Rows that came before their partition move into it.
    IF EXISTS (SELECT FROM wed.trace_else WHERE tstmp >= _day AND tstmp < _day + 1) THEN
      PERFORM wed.move_to_partition(_day);
      CONTINUE;
    END IF;
    EXECUTE format('CREATE TABLE wed.trace_%1$s PARTITION OF wed.trace FOR VALUES FROM (%2$L) TO (%3$L)',
                   to_char(_day, 'YYYYMMDD'), _day, _day + 1);
    EXECUTE format('REVOKE ALL ON wed.trace_%s FROM PUBLIC', to_char(_day, 'YYYYMMDD'));
  END LOOP;
  -- Of days that have no partition, since no host ran.
  DELETE FROM wed.trace_else t WHERE t.tstmp < date_trunc('day', now()) - (SELECT trace FROM wed.retention)
    AND NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = t.flow_id AND j.wid = t.wid AND j.seq = t.seq AND j.payload IS NULL);
  FOR _old IN
    SELECT c.relname, to_date(substr(c.relname, 7), 'YYYYMMDD') AS day
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'wed.trace'::regclass AND c.relname ~ '^trace_[0-9]{8}$'
      AND to_date(substr(c.relname, 7), 'YYYYMMDD') + 1 <= now() - (SELECT trace FROM wed.retention)
    ORDER BY 2
  LOOP
    EXECUTE format('UPDATE wed.job j SET payload = r.state FROM wed.%I r
                    WHERE j.payload IS NULL AND r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq = j.seq
                      AND j.fired_at >= %L AND j.fired_at < %L', _old.relname, _old.day, _old.day + 1);
    EXECUTE format('DROP TABLE wed.%I', _old.relname);
    -- What was logged and recorded until then goes with it: it cannot be replayed any more.
    DELETE FROM wed.log WHERE tstmp < _old.day + 1;
    DELETE FROM wed.recording WHERE tstmp < _old.day + 1;
    _dropped := _dropped + 1;
  END LOOP;
  RETURN _dropped;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  RETURN 0; -- somebody reads for long; the next round tries again
END $_$;

ALTER FUNCTION wed.roll_trace() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.see_work(_person wed.person, _item_id bigint, _now timestamp with time zone) RETURNS wed.work_item
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _item wed.work_item;
BEGIN
  SELECT i.* INTO _item FROM wed.work_item i WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id
    AND (i.holder = _person.person_id OR wed.is_offered(i, _person, _now)
         OR EXISTS (SELECT FROM wed.membership m WHERE m.person_id = _person.person_id AND m.role_id = i.role_id)
         OR EXISTS (SELECT FROM wed.work_event e WHERE e.item_id = i.item_id AND e.person = _person.name)
         OR wed.answers_for(_person.person_id, i.flow_id, i.wid));
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no work item % for "%"', _item_id, _person.name USING ERRCODE = 'WF080',
      HINT = 'List your items: `wed work list`.';
  END IF;
  RETURN _item;
END $$;

ALTER FUNCTION wed.see_work(_person wed.person, _item_id bigint, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.select_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT wed.claim_work(_tenant, _name, _item_id, 'SELECTED', _now)
$$;

ALTER FUNCTION wed.select_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.send_message(_people integer[], _kind text, _sender text, _text text, _item_id bigint, _now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO wed.work_message (person_id, kind, sender, text, item_id, at, delivered_at)
  SELECT p.person_id, _kind, _sender, left(_text, 2000), _item_id, _now, CASE WHEN p.active THEN _now END
  FROM wed.person p WHERE p.person_id = ANY (_people);
  DELETE FROM wed.work_message m USING (
    SELECT p.person_id, (SELECT o.message_id FROM wed.work_message o WHERE o.person_id = p.person_id
                         ORDER BY o.message_id DESC OFFSET 1000 LIMIT 1) AS old
    FROM unnest(_people) p(person_id)) k
  WHERE m.person_id = k.person_id AND m.message_id <= k.old;
END $$;

ALTER FUNCTION wed.send_message(_people integer[], _kind text, _sender text, _text text, _item_id bigint, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.set_alarm(_item_id bigint, _now timestamp with time zone) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  UPDATE wed.work_item i SET alarm_at = least(
    (SELECT min(i.deadline_at - v * interval '1 hour') FROM wed.work_instance w CROSS JOIN LATERAL unnest(w.warnings || 0) v
     WHERE w.flow_id = i.flow_id AND w.wid = i.wid AND v <> ALL (i.warned)
       AND i.deadline_at - v * interval '1 hour' > i.arrived_at),
    (SELECT i.arrived_at + t.escalate_after FROM wed.work_task t WHERE t.tgid = i.tgid AND NOT i.escalated))
  WHERE i.item_id = _item_id
$$;

ALTER FUNCTION wed.set_alarm(_item_id bigint, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.set_calendar(_tenant text, _name text, _zone text, _weekdays integer[], _opens time without time zone, _closes time without time zone, _holidays date[]) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _id integer;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_timezone_names WHERE name = _zone) THEN
    RAISE EXCEPTION 'there is no time zone "%"', left(_zone, 80) USING ERRCODE = 'WF085',
      HINT = 'Name a zone of the IANA database, such as America/Sao_Paulo.';
  END IF;
  INSERT INTO wed.work_calendar (tenant_id, name, zone, weekdays, opens, closes, holidays)
  SELECT tenant_id, _name, _zone, _weekdays, _opens, _closes, _holidays FROM wed.tenant WHERE name = _tenant
  ON CONFLICT (tenant_id, name) DO UPDATE SET zone = excluded.zone, weekdays = excluded.weekdays, opens = excluded.opens,
    closes = excluded.closes, holidays = excluded.holidays
  RETURNING calendar_id INTO _id;
  RETURN _id;
END $$;

ALTER FUNCTION wed.set_calendar(_tenant text, _name text, _zone text, _weekdays integer[], _opens time without time zone, _closes time without time zone, _holidays date[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.set_constraint(_flow wed.flow, _tgid integer, _reserves text, _quantity text, _resource text, _holds text, _consumes boolean, _after text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _keys record;
  _amount record;
BEGIN
  IF _reserves IS NULL AND num_nonnulls(_quantity, _resource, _holds) + coalesce(_consumes, false)::integer > 0 THEN
    RAISE EXCEPTION 'quantity, resource, holds and consumes say more of what a trigger reserves, and it reserves nothing'
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
  INSERT INTO wed.trigger_constraint (tgid, flow_id, keys, quantity, reads, resource, holds, consumes, after, terms)
  VALUES (_tgid, _flow.flow_id, _keys.expression, _amount.expression, coalesce(_keys.reads, '{}') || coalesce(_amount.reads, '{}'),
          _resource, coalesce(_holds, 'transition'), coalesce(_consumes, false), _after, wed.parse_order(_after))
  ON CONFLICT (tgid) DO UPDATE SET keys = excluded.keys, quantity = excluded.quantity, reads = excluded.reads,
    resource = excluded.resource, holds = excluded.holds, consumes = excluded.consumes, after = excluded.after, terms = excluded.terms;
END $$;

ALTER FUNCTION wed.set_constraint(_flow wed.flow, _tgid integer, _reserves text, _quantity text, _resource text, _holds text, _consumes boolean, _after text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.set_notification(_flow_id integer, _wid integer, _policy integer, _count integer, _renotify interval, _warnings integer[], _transfer integer, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
DECLARE
  _of wed.work_instance;
  _item_id bigint;
BEGIN
  IF (_transfer IS NOT NULL AND _transfer <> ALL (coalesce(_warnings, '{}'))) OR _policy NOT BETWEEN 1 AND 4 OR _count NOT BETWEEN 1 AND 1000
     OR 1 > ANY (_warnings) THEN
    RAISE EXCEPTION 'the policy is 1 to 4, for 1 to 1000 people; warnings are hours above 0, one of them the transfer value'
      USING ERRCODE = 'WF085', HINT = 'For example policy 2 for 3 people, warnings {6,12,24}, transfer 6.';
  END IF;
  UPDATE wed.work_instance SET policy = coalesce(_policy, policy), policy_count = coalesce(_count, policy_count),
    renotify = coalesce(_renotify, renotify), warnings = coalesce(_warnings, warnings),
    transfer = CASE WHEN _warnings IS NULL THEN transfer ELSE _transfer END
  WHERE flow_id = _flow_id AND wid = _wid RETURNING * INTO _of;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no people work at instance %', _wid USING ERRCODE = 'WF080', HINT = 'Plan its work first.';
  END IF;
  FOR _item_id IN
    UPDATE wed.work_item i SET policy = _of.policy, renotify = _of.renotify
    WHERE flow_id = _flow_id AND wid = _wid AND ended_at IS NULL RETURNING item_id
  LOOP
    DELETE FROM wed.work_offer WHERE item_id = _item_id;
    PERFORM wed.offer_item(_item_id, _now);
    PERFORM wed.set_alarm(_item_id, _now);
  END LOOP;
END $$;

ALTER FUNCTION wed.set_notification(_flow_id integer, _wid integer, _policy integer, _count integer, _renotify interval, _warnings integer[], _transfer integer, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.set_numbering(_flow_id integer, _attribute text, _gapless boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET client_min_messages TO 'warning'
    AS $$
DECLARE
  _flow wed.flow;
  _index text := 'number_' || md5(_attribute);
  _is boolean;
  _made bigint;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  SELECT gapless INTO _is FROM wed.numbering WHERE flow_id = _flow_id AND attribute = _attribute;
  IF _is IS NOT DISTINCT FROM _gapless THEN RETURN; END IF;
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = format('%I.wed_flow', _flow.schema_name)::regclass
                 AND attname = _attribute AND atttypid = 'bigint'::regtype AND NOT attisdropped) THEN
    RAISE EXCEPTION 'the flow has no attribute "%" of type bigint', left(_attribute, 80) USING ERRCODE = 'WF013',
      HINT = 'Insert it into wed_attr first.';
  END IF;
  DELETE FROM wed.numbering WHERE flow_id = _flow_id AND attribute = _attribute;
  EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I DROP DEFAULT', _flow.schema_name, _attribute);
  IF _gapless IS NULL THEN
    EXECUTE format('DROP INDEX IF EXISTS %I.%I', _flow.schema_name, _index);
    RETURN;
  END IF;
  EXECUTE format('CREATE UNIQUE INDEX IF NOT EXISTS %I ON %I.wed_flow (%I)', _index, _flow.schema_name, _attribute);
  EXECUTE format('SELECT coalesce(max(%I), 0) FROM %I.wed_flow', _attribute, _flow.schema_name) INTO _made;
  INSERT INTO wed.numbering (flow_id, attribute, gapless, made_to) VALUES (_flow_id, _attribute, _gapless, _made);
  IF NOT _gapless THEN
    EXECUTE format('CREATE SEQUENCE IF NOT EXISTS %I.%I', _flow.shape_schema, _index);
    PERFORM setval(format('%I.%I', _flow.shape_schema, _index)::regclass, greatest(_made, 1), _made > 0);
  END IF;
  PERFORM wed.number_default(_flow, _attribute);
END $$;

ALTER FUNCTION wed.set_numbering(_flow_id integer, _attribute text, _gapless boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.set_pause(_tenant_id integer, _flow_id integer, _trigger text, _wid integer, _pause boolean, _actor text, _reason text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _tgids integer[] := '{}';
  _changed bigint;
  _of integer;
BEGIN
  IF _pause THEN PERFORM wed.refuse_without_reason(_reason); END IF;
  IF _trigger IS NOT NULL THEN
    _tgids := ARRAY(SELECT tgid FROM wed.trigger WHERE flow_id = _flow_id AND NOT cfinal AND _trigger IN (tgname, trname, tgid::text));
    IF _tgids = '{}' THEN
      RAISE EXCEPTION 'the flow has no trigger "%"', left(_trigger, 80) USING ERRCODE = 'WF040', HINT = 'Show the flow: its triggers are listed.';
    END IF;
  ELSIF _wid IS NOT NULL THEN
    PERFORM wed.operated(_flow_id, _wid);
  END IF;
  IF _pause THEN
    INSERT INTO wed.pause (tenant_id, flow_id, tgid, wid, actor, reason)
    SELECT _tenant_id, _flow_id, t, _wid, _actor, _reason FROM unnest(CASE WHEN _tgids = '{}' THEN ARRAY[NULL::integer] ELSE _tgids END) t
    ON CONFLICT DO NOTHING;
  ELSE
    DELETE FROM wed.pause p WHERE p.tenant_id = _tenant_id AND p.flow_id IS NOT DISTINCT FROM _flow_id
      AND p.wid IS NOT DISTINCT FROM _wid AND (_tgids = '{}' AND p.tgid IS NULL OR p.tgid = ANY (_tgids));
  END IF;
  GET DIAGNOSTICS _changed = ROW_COUNT;
  IF _changed = 0 THEN RETURN false; END IF;
  IF _pause AND _wid IS NOT NULL THEN PERFORM wed.give_up_attempts(_flow_id, _wid); END IF;
  FOR _of IN SELECT flow_id FROM wed.flow WHERE tenant_id = _tenant_id AND (_flow_id IS NULL OR flow_id = _flow_id) ORDER BY 1 LOOP
    PERFORM wed.keep_paused(_of);
  END LOOP;
  INSERT INTO wed.audit (tenant_id, tenant_name, actor, action, target, detail)
  SELECT t.tenant_id, t.name, _actor, CASE WHEN _pause THEN 'pause' ELSE 'resume' END,
         left(concat_ws('/', coalesce((SELECT name FROM wed.flow WHERE flow_id = _flow_id), t.name), _trigger, _wid), 300),
         wed.short_detail(jsonb_build_object('reason', _reason))
  FROM wed.tenant t WHERE t.tenant_id = _tenant_id;
  RETURN true;
END $$;

ALTER FUNCTION wed.set_pause(_tenant_id integer, _flow_id integer, _trigger text, _wid integer, _pause boolean, _actor text, _reason text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.set_policy(_flow_id integer, _tgid integer, _compensation text, _deadline interval) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF _compensation IS NULL AND _deadline IS NULL THEN
    DELETE FROM wed.trigger_policy WHERE tgid = _tgid;
    RETURN;
  END IF;
  INSERT INTO wed.trigger_policy AS p (tgid, flow_id, compensation, deadline)
  VALUES (_tgid, _flow_id, _compensation, _deadline)
  ON CONFLICT (tgid) DO UPDATE SET compensation = excluded.compensation, deadline = excluded.deadline
  WHERE (p.compensation, p.deadline) IS DISTINCT FROM (excluded.compensation, excluded.deadline);
  IF _compensation IS NOT NULL AND wed.compensation_trigger(_flow_id, _compensation) IS NULL THEN
    INSERT INTO wed.trigger (tgid, flow_id, tenant_id, trname, cfinal, enabled, timeout, attempts, backoff, delay, priority,
                             recheck, component_id)
    SELECT nextval('wed.tgid_seq'), t.flow_id, t.tenant_id, _compensation, false, true, t.timeout, t.attempts, t.backoff, '0', 0,
           false, wed.bound_component(_flow_id, _compensation)
    FROM wed.trigger t WHERE t.tgid = _tgid;
  END IF;
END $$;

ALTER FUNCTION wed.set_policy(_flow_id integer, _tgid integer, _compensation text, _deadline interval) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.set_resource(_flow_id integer, _resource text, _key text, _capacity numeric, _minimum numeric, _actor text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _found integer;
BEGIN
  EXECUTE format('UPDATE %I.wed_resource SET capacity = $3, minimum = $4 WHERE resource IS NOT DISTINCT FROM $1 AND key = $2', _schema)
    USING _resource, _key, _capacity, _minimum;
  GET DIAGNOSTICS _found = ROW_COUNT;
  IF _found = 0 THEN
    EXECUTE format('INSERT INTO %I.wed_resource (resource, key, capacity, minimum) VALUES ($1, $2, $3, $4)', _schema)
      USING _resource, _key, _capacity, _minimum;
  END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'resource.set', left(_key, 80),
    jsonb_build_object('resource', _resource, 'capacity', _capacity, 'minimum', _minimum));
END $_$;

ALTER FUNCTION wed.set_resource(_flow_id integer, _resource text, _key text, _capacity numeric, _minimum numeric, _actor text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.set_state(_flow_id integer, _wid integer, _values jsonb, _actor text, _reason text) RETURNS "char"
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    AS $_$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _columns text;
  _unknown text;
  _job wed.job;
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  IF wed.operated(_flow_id, _wid) <> 'E' THEN
    RAISE EXCEPTION 'instance % is no exception', _wid USING ERRCODE = 'WF043',
      HINT = 'A state is set by hand in an exception only; a running instance is paused, cancelled or sent an event.';
  END IF;
  DELETE FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid;
  EXECUTE format('SELECT min(k) FROM jsonb_object_keys($1) k WHERE k NOT IN (SELECT aname FROM %I.wed_attr)', _schema)
    INTO _unknown USING _values;
  IF _unknown IS NOT NULL OR _values = '{}' THEN
    RAISE EXCEPTION '%', CASE WHEN _values = '{}' THEN 'no attribute is given'
        ELSE format('the flow has no attribute "%s"', left(_unknown, 80)) END
      USING ERRCODE = '42703', HINT = 'Name attributes of the flow with their new values.';
  END IF;
  SELECT string_agg(format('%I = n.%1$I', k), ', ') INTO _columns FROM jsonb_object_keys(_values) k;
  -- As a host's batch does: the state is written here and taken through the gate below.
  PERFORM set_config('wed.commit', 'batch', true);
  EXECUTE format('UPDATE %1$I.wed_flow w SET %2$s FROM %1$I.wed_flow o
                  CROSS JOIN LATERAL jsonb_populate_record(o, $1) n WHERE o.wid = $2 AND w.wid = o.wid', _schema, _columns)
    USING _values, _wid;
  PERFORM set_config('wed.commit', '', true);
  EXECUTE format('SELECT wed_bounded.measure_row(w.wid, (w.*)::text) FROM %I.wed_flow w WHERE w.wid = $1', _schema) USING _wid;
  SELECT * INTO STRICT _job FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND trname = '_EXCPT' FOR UPDATE;
  PERFORM wed.settle(wed.as_it_stands(_flow_id, _wid), ARRAY[_job.tgid], ARRAY[_job.token], NULL, '_ADHOC', NULL,
                     wed.reasoned(_actor, _reason));
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.set', _wid::text,
    jsonb_build_object('attributes', ARRAY(SELECT jsonb_object_keys(_values) ORDER BY 1), 'reason', _reason));
  RETURN (SELECT status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid);
END $_$;

ALTER FUNCTION wed.set_state(_flow_id integer, _wid integer, _values jsonb, _actor text, _reason text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.settle(_rows wed.evaluated[], _tgids integer[], _tokens bigint[], _host_id integer DEFAULT NULL::integer, _trw text DEFAULT NULL::text, _forced text DEFAULT NULL::text, _note text DEFAULT NULL::text, _fuel bigint[] DEFAULT NULL::bigint[], _us bigint[] DEFAULT NULL::bigint[], _memory bigint[] DEFAULT NULL::bigint[], _lease boolean DEFAULT true) RETURNS SETOF wed.claimed
    LANGUAGE plpgsql
    AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _writer text := CASE WHEN _host_id IS NULL THEN session_user::text ELSE 'host:' || _host_id END;
  _ending integer := coalesce(cardinality(array_remove(_tgids, NULL)), 0);
BEGIN
  RETURN QUERY
    WITH p AS MATERIALIZED (
      -- First what the parts below choose by: what stands behind columns of varying length costs more to look at.
      SELECT k.turns, NOT k.turns OR cardinality(p.fire) > 1 OR p.becomes <> coalesce(p.was, 'R') AS more,
             p.*, t.tgname AS next_tgname, t.trname AS next_trname, t.timeout AS next_timeout,
             t.timeout_ms AS next_timeout_ms, t.priority AS next_priority, t.component_id AS next_component,
             CASE WHEN k.turns THEN nextval('wed.fence') END AS token
      FROM wed.gather(_rows, _tgids, _tokens, _trw, _forced, _fuel, _us, _memory) p
      -- One look for each, however few triggers there were when the plan was made.
      LEFT JOIN LATERAL (
        SELECT tgname, trname, timeout, timeout_ms, priority, component_id, delay, constrained FROM wed.trigger
        WHERE tgid = p.fire[1] OFFSET 0) t ON true
      CROSS JOIN LATERAL (
        SELECT (_lease AND _host_id IS NOT NULL AND p.own IS NOT NULL AND t.component_id IS NOT NULL
                AND t.delay = '0' AND NOT t.constrained) IS TRUE AS turns) k
    ), rest AS MATERIALIZED (
      -- Most just go on: those of which there is more to do are chosen once. (An instance that goes on is no new exception.)
      SELECT p.*, cardinality(p.fire) > p.turns::integer AS forks, p.own IS NOT NULL AND NOT p.turns AS ends,
             p.becomes = 'E' AND NOT p.excpt AS excepts, p.becomes <> coalesce(p.was, 'R') AS changes,
             p.others + cardinality(p.fire) + (p.becomes = 'E' AND NOT p.excpt)::integer - 1 AS beside
      FROM p WHERE p.more
    ), turned AS (
      UPDATE wed.job j SET tgid = p.tgid, trname = p.next_trname, timeout = p.next_timeout, seq = p.seq,
        last_seq = p.seq, priority = p.next_priority, fired_at = _now, attempt = 1,
        component_id = p.next_component, token = p.token, version = p.version,
        satisfied = p.satisfied, beside = p.beside, payload = NULL
      -- Only what it needs: a row that an update is joined to is made into one value, should the other be updated meanwhile.
      FROM (SELECT q.own, q.fire[1] AS tgid, q.next_trname, q.next_timeout, q.seq, q.next_priority, q.next_component,
                   q.token, q.version, q.satisfied, q.others + cardinality(q.fire) - 1 AS beside FROM p q WHERE q.turns OFFSET 0) p
      WHERE j.ctid = p.own RETURNING 1
    ), ended AS (
      DELETE FROM wed.job j USING rest p WHERE p.ends AND j.ctid = p.own RETURNING 1
    ), fired AS (
      INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at, attempt,
                           component_id, host_id, token, version, satisfied, beside, blocked)
      SELECT p.flow_id, t.tenant_id, p.wid, t.tgid, t.trname, t.timeout, p.seq, p.seq, t.priority,
             CASE WHEN t.constrained THEN 'infinity' ELSE now() + t.delay END, _now,
             l.leased::integer, t.component_id, CASE WHEN l.leased THEN _host_id END,
             CASE WHEN l.leased THEN nextval('wed.fence') ELSE 0 END, p.version, p.satisfied, p.beside,
             CASE WHEN t.constrained THEN 'a'::"char" END
      FROM rest p
      CROSS JOIN LATERAL unnest(CASE WHEN p.turns THEN p.fire[2:] ELSE p.fire END) f(tgid)
      JOIN wed.trigger t ON t.tgid = f.tgid
      CROSS JOIN LATERAL (SELECT _lease AND _host_id IS NOT NULL AND t.component_id IS NOT NULL AND t.delay = '0'
                                 AND NOT t.constrained AS leased) l
      -- Most rows fire nothing beside: they are left out before the list is taken apart.
      WHERE p.forks
      -- Wake the others: external workers by the papers' channel, one notification a job; hosts by one for
      -- the whole transaction (Postgres drops equal ones). Notifications carry numbers only. A transaction that
      -- notifies keeps all others that do waiting while it commits, so a host that leaves jobs to others tells
      -- them afterwards (tell_hosts).
      RETURNING flow_id, wid, tgid, trname, token, component_id, host_id, CASE
        WHEN blocked IS NOT NULL THEN NULL
        WHEN component_id IS NULL THEN pg_notify(trname, format('{"wid":%s,"tgid":%s}', wid, tgid))
        WHEN host_id IS NULL AND (_lease OR due > now()) THEN pg_notify('wed_jobs', '') END
    ), excepted AS (
      -- An exception is served like a transition: by whoever is bound to _EXCPT.
      INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at,
                           component_id, version, satisfied, beside)
      SELECT p.flow_id, t.tenant_id, p.wid, t.tgid, t.trname, t.timeout, p.seq, p.seq, t.priority, now(), _now,
             t.component_id, p.version, p.satisfied, p.beside
      FROM rest p JOIN wed.flow f ON f.flow_id = p.flow_id JOIN wed.trigger t ON t.tgid = f.excpt_tgid
      WHERE p.excepts
      RETURNING CASE WHEN component_id IS NULL THEN pg_notify(trname, format('{"wid":%s,"tgid":%s}', wid, tgid))
                     ELSE pg_notify('wed_jobs', '') END
    ), changed AS (
      UPDATE wed.instance i SET status = p.becomes, changed = _now
      FROM rest p WHERE p.changes AND i.flow_id = p.flow_id AND i.wid = p.wid
    ), traced AS (
      INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, tgid, attempt, fuel, elapsed_us,
                             memory_bytes, component_id, from_seq, writer, note)
      SELECT p.flow_id, p.wid, p.seq, p.becomes, p.trw,
             CASE WHEN cardinality(p.fire) = 1 THEN ARRAY[p.next_trname]
                  ELSE ARRAY(SELECT t.trname FROM unnest(p.fire) WITH ORDINALITY f(tgid, at)
                             JOIN wed.trigger t ON t.tgid = f.tgid ORDER BY f.at) END
               || CASE WHEN p.becomes = 'E' AND NOT p.excpt THEN ARRAY['_EXCPT'] END,
             p.state, _now, p.tgid, p.attempt, p.fuel, p.elapsed_us, p.memory_bytes,
             CASE WHEN _trw IS NULL THEN p.component_id END, p.from_seq,
             CASE WHEN p.others > 0 AND p.refusal IS NULL
               THEN wed.keep_beside(_writer, p.flow_id, p.wid, p.own, p.seq, p.version, p.satisfied,
                                    p.others + cardinality(p.fire) + (p.becomes = 'E' AND NOT p.excpt)::integer - 1, p.waiting)
               ELSE _writer END,
             CASE WHEN p.refusal IS NOT NULL THEN wed.refuse_update(p.refusal, p.wid)
                  -- Somebody changed a job's row in the same moment: an update that finds it moved leaves it out.
                  WHEN (SELECT count(*) FROM turned) + (SELECT count(*) FROM ended)
                    <> _ending THEN wed.refuse_update('lost', p.wid)
                  ELSE coalesce(p.forced, _note) END
      FROM p
    )
    -- Not what the update returns: its rows would be kept once more.
    SELECT p.flow_id, p.wid, p.fire[1], p.next_tgname, p.next_trname, p.token, 1, p.next_timeout_ms,
           coalesce(p.payload, p.state), p.next_component, p.version, p.seq FROM p WHERE p.turns
    UNION ALL
    SELECT f.flow_id, f.wid, f.tgid, t.tgname, f.trname, f.token, 1, t.timeout_ms, coalesce(p.payload, p.state), f.component_id, p.version, p.seq
    FROM fired f JOIN wed.trigger t ON t.tgid = f.tgid
    -- One look at p for each that is leased, whatever the planner thinks of their number.
    CROSS JOIN LATERAL (SELECT p.payload, p.state, p.version, p.seq FROM rest p WHERE p.flow_id = f.flow_id AND p.wid = f.wid OFFSET 0) p
    WHERE f.host_id IS NOT NULL;
  IF EXISTS (SELECT FROM wed.flow WHERE constrained) THEN
    PERFORM wed.constrain(_rows, _tgids, _trw IS NULL OR _trw = '_EVENT');
    -- Of a commit only: where attempts failed, more follows in the transaction.
    IF _lease AND _host_id IS NOT NULL AND _trw IS NULL THEN
      RETURN QUERY SELECT * FROM wed.lease_granted(_host_id, _rows);
    END IF;
  END IF;
END $$;

ALTER FUNCTION wed.settle(_rows wed.evaluated[], _tgids integer[], _tokens bigint[], _host_id integer, _trw text, _forced text, _note text, _fuel bigint[], _us bigint[], _memory bigint[], _lease boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.short_detail(_detail jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT CASE
    WHEN _detail IS NULL OR jsonb_typeof(_detail) <> 'object' THEN '{}'
    WHEN octet_length(_detail::text) <= 4096 THEN _detail
    ELSE jsonb_build_object('cut', left(_detail::text, 1000)) END
$$;

ALTER FUNCTION wed.short_detail(_detail jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.skip_if_stale(_flow_id integer, _wid integer, _tgid integer, _now boolean DEFAULT false) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '100ms'
    AS $_$
DECLARE
  _job wed.job;
  _schema text;
  _found integer;
BEGIN
  -- While the state that fired it is still the last one, nothing can have changed.
  SELECT j.* INTO _job FROM wed.job j JOIN wed.trigger t USING (tgid)
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid AND t.recheck AND t.trname <> '_EXCPT'
    AND j.last_seq > j.seq;
  IF NOT FOUND THEN RETURN false; END IF;
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = _flow_id;
  BEGIN
    EXECUTE format('SELECT wid FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', _schema)
      || CASE WHEN _now THEN ' SKIP LOCKED' ELSE '' END INTO _found USING _wid;
  EXCEPTION WHEN lock_not_available THEN
    RETURN false; -- somebody has locked the table: who commits will see
  END;
  IF _found IS NULL
     OR EXISTS (SELECT FROM unnest(wed.as_it_stands(_flow_id, _wid)) r CROSS JOIN LATERAL unnest(r.fired) f
                WHERE f & 4294967295 = _tgid)
     OR NOT wed.pass_as_it_stands(_flow_id, _wid, _tgid, '_SKIP', NULL,
                                  format('%s was skipped: its condition no longer holds', _job.trname), NULL) THEN
    RETURN false;
  END IF;
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  VALUES (_flow_id, _wid, _tgid, _job.trname, _job.attempt, 'skipped', 'its condition no longer holds', session_user);
  RETURN true;
END $_$;

ALTER FUNCTION wed.skip_if_stale(_flow_id integer, _wid integer, _tgid integer, _now boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.skip_job(_flow_id integer, _wid integer, _transition text, _actor text, _reason text) RETURNS "char"
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _job wed.job;
  _rows wed.evaluated[];
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  PERFORM wed.operated(_flow_id, _wid);
  SELECT * INTO _job FROM wed.job
  WHERE flow_id = _flow_id AND wid = _wid AND trname = _transition AND trname <> '_EXCPT' ORDER BY tgid LIMIT 1 FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'instance % has no pending job of transition "%"', _wid, left(_transition, 80)
      USING ERRCODE = 'WF040', HINT = 'Its pending transitions: ' || coalesce((SELECT string_agg(trname, ', ' ORDER BY trname)
        FROM wed.job WHERE flow_id = _flow_id AND wid = _wid), 'none') || '.';
  END IF;
  _rows := wed.as_it_stands(_flow_id, _wid);
  _rows[1].fired := '{}';
  -- No version has this number: the next state's conditions are all evaluated.
  _rows[1].version := 0;
  PERFORM wed.settle(_rows, ARRAY[_job.tgid], ARRAY[_job.token], NULL, '_SKIP', NULL,
                     format('%s was skipped by %s', _job.trname, wed.reasoned(_actor, _reason)));
  INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer)
  VALUES (_flow_id, _wid, _job.tgid, _job.trname, _job.attempt, 'skipped', wed.reasoned(_actor, _reason), session_user);
  PERFORM wed.note_flow(_actor, _flow_id, 'job.skip', _wid || '/' || _job.trname, jsonb_build_object('reason', _reason));
  RETURN (SELECT status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid);
END $$;

ALTER FUNCTION wed.skip_job(_flow_id integer, _wid integer, _transition text, _actor text, _reason text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.skip_stale(_limit integer) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _job record;
  _skipped bigint := 0;
BEGIN
  FOR _job IN
    SELECT j.flow_id, j.wid, j.tgid FROM wed.job j JOIN wed.trigger t USING (tgid)
    WHERE j.host_id IS NULL AND j.component_id IS NULL AND t.recheck AND t.trname <> '_EXCPT'
      AND j.last_seq > j.seq
    LIMIT _limit
  LOOP
    CONTINUE WHEN NOT pg_try_advisory_xact_lock(_job.wid, _job.tgid);
    IF wed.skip_if_stale(_job.flow_id, _job.wid, _job.tgid) THEN _skipped := _skipped + 1; END IF;
  END LOOP;
  RETURN _skipped;
END $$;

ALTER FUNCTION wed.skip_stale(_limit integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.start_process(_tenant text, _flow text, _creator text, _in_charge text, _values jsonb DEFAULT '{}'::jsonb, _policy integer DEFAULT 1, _count integer DEFAULT 1, _warnings integer[] DEFAULT '{}'::integer[], _transfer integer DEFAULT NULL::integer, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _creator, _now);
  _charge wed.person := wed.person_of(_tenant, coalesce(_in_charge, _creator));
  _of wed.flow;
  _plan wed.work_plan;
  _wid integer;
BEGIN
  SELECT * INTO _of FROM wed.flow WHERE tenant_id = _person.tenant_id AND name = _flow;
  SELECT * INTO _plan FROM wed.work_plan WHERE flow_id = _of.flow_id;
  IF _plan.flow_id IS NULL THEN
    RAISE EXCEPTION 'there is no process "%"', left(_flow, 80) USING ERRCODE = 'WF080',
      HINT = 'A process is a flow with people''s work; list them: `wed flow list`.';
  ELSIF _plan.creator_role IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.membership WHERE person_id = _person.person_id AND role_id = _plan.creator_role) THEN
    RAISE EXCEPTION '"%" may not start "%": people of the role "%" may', _creator, _flow,
        (SELECT name FROM wed.role_of_people WHERE role_id = _plan.creator_role) USING ERRCODE = 'WF083',
      HINT = 'Ask an administrator for the role.';
  END IF;
  _wid := wed.insert_values(_of.schema_name, _values);
  INSERT INTO wed.work_instance (flow_id, wid, tenant_id) VALUES (_of.flow_id, _wid, _of.tenant_id) ON CONFLICT DO NOTHING;
  UPDATE wed.work_instance SET creator = _creator, in_charge = _charge.person_id WHERE flow_id = _of.flow_id AND wid = _wid;
  UPDATE wed.instance SET people = true WHERE flow_id = _of.flow_id AND wid = _wid;
  PERFORM wed.set_notification(_of.flow_id, _wid, _policy, _count, NULL, _warnings, _transfer, _now);
  PERFORM wed.send_message(ARRAY[_charge.person_id], 'process_started', wed.work_place(_of.flow_id, _wid),
    format('The process was started by %s.', _creator), NULL, _now);
  PERFORM wed.note_flow('person:' || _creator, _of.flow_id, 'instance.start', _wid::text, '{}');
  RETURN _wid;
END $$;

ALTER FUNCTION wed.start_process(_tenant text, _flow text, _creator text, _in_charge text, _values jsonb, _policy integer, _count integer, _warnings integer[], _transfer integer, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.start_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $_$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
  _told text;
BEGIN
  SELECT i.* INTO _item FROM wed.work_item i WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id;
  SELECT w.state_attribute INTO _told FROM wed.work_task w WHERE w.tgid = _item.tgid;
  IF _told IS NOT NULL THEN
    -- The instance first, as everywhere.
    EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE',
                   (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) USING _item.wid;
  END IF;
  UPDATE wed.work_item i SET state = 'RUNNING'
  WHERE i.item_id = _item_id AND i.tenant_id = _person.tenant_id AND i.holder = _person.person_id
    AND i.state IN ('SELECTED', 'LOCKED') RETURNING * INTO _item;
  IF NOT FOUND THEN PERFORM wed.refuse_holder(_person, _item_id); END IF;
  IF _told IS NOT NULL THEN
    PERFORM wed.tell_running(_item, _told, _person.name);
  END IF;
  PERFORM wed.record_work(_item, _person.name, 'running', '{}', _now);
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN jsonb_build_object('item', _item.item_id, 'state', _item.state, 'holder', _person.name, 'claim', _item.claim);
END $_$;

ALTER FUNCTION wed.start_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.state_as_text(_shape text, _only text[]) RETURNS text
    LANGUAGE sql STABLE
    AS $$
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
               a.atttypid IN ('integer'::regtype, 'bigint'::regtype, 'boolean'::regtype, 'jsonb'::regtype) AS is_plain) k
      WHERE a.attrelid = format('%I.wed_flow', _shape)::regclass AND a.attnum > 1 AND NOT a.attisdropped
        AND (_only IS NULL OR a.attname = ANY (_only))) a) s
$$;

ALTER FUNCTION wed.state_as_text(_shape text, _only text[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.steps_to_undo(_flow_id integer, _wid integer, _to_seq integer) RETURNS TABLE(seq integer, tstmp timestamp with time zone, tgid integer)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT r.seq, r.tstmp, c.tgid
  FROM wed.trace r JOIN wed.trigger_policy p ON p.tgid = r.tgid AND p.compensation IS NOT NULL
  CROSS JOIN LATERAL (SELECT wed.compensation_trigger(_flow_id, p.compensation) AS tgid) c
  WHERE r.flow_id = _flow_id AND r.wid = _wid AND r.seq > _to_seq AND r.trw NOT LIKE '\_%'
    AND NOT EXISTS (SELECT FROM wed.trace u WHERE u.flow_id = _flow_id AND u.wid = _wid AND u.seq > r.seq
                    AND u.tgid = c.tgid AND u.from_seq = r.seq AND u.trw NOT LIKE '\_%')
  ORDER BY r.seq DESC
$$;

ALTER FUNCTION wed.steps_to_undo(_flow_id integer, _wid integer, _to_seq integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.stuck_requests() RETURNS bigint[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _stuck bigint[];
  _left bigint[];
BEGIN
  _stuck := ARRAY(
    SELECT r.request_id FROM wed.request r
    WHERE r.state = 'w' AND EXISTS (SELECT FROM wed.request h WHERE h.flow_id = r.flow_id AND h.wid = r.wid AND h.state = 'h')
      AND NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = r.flow_id AND j.wid = r.wid AND j.blocked IS NULL)
    ORDER BY r.request_id LIMIT 1000);
  LOOP
    EXIT WHEN _stuck = '{}';
    _left := ARRAY(
      WITH o AS (
        -- What stuck instances hold.
        SELECT n.*, h.flow_id, h.wid FROM wed.request h JOIN wed.reservation n USING (request_id)
        WHERE h.state = 'h' AND (h.flow_id, h.wid) IN (SELECT s.flow_id, s.wid FROM wed.request s WHERE s.request_id = ANY (_stuck)))
      SELECT DISTINCT r.request_id FROM wed.request r JOIN wed.reservation v USING (request_id)
      LEFT JOIN wed.resource s ON s.tenant_id = v.tenant_id AND s.resource = v.resource AND s.key = v.key
      CROSS JOIN LATERAL (
        SELECT bool_or(o.amount IS NULL OR v.amount IS NULL) AS apart, sum(o.amount) AS amount FROM o
        WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key AND (o.flow_id, o.wid) <> (r.flow_id, r.wid)) h
      WHERE r.request_id = ANY (_stuck) AND (
        h.apart OR h.amount + v.amount > coalesce(s.capacity - s.minimum, 0)
        OR EXISTS (SELECT FROM wed.reservation f WHERE f.tenant_id = v.tenant_id AND f.resource = v.resource AND f.key = v.key
                   AND NOT f.held AND f.request_id < v.request_id AND f.request_id = ANY (_stuck))));
    EXIT WHEN cardinality(_left) = cardinality(_stuck);
    _stuck := _left;
  END LOOP;
  RETURN _stuck;
END $$;

ALTER FUNCTION wed.stuck_requests() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.suspend_tenant(_tenant_id integer, _suspend boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _flow wed.flow;
BEGIN
  UPDATE wed.tenant SET suspended_at = CASE WHEN _suspend THEN coalesce(suspended_at, now()) END
  WHERE tenant_id = _tenant_id;
  FOR _flow IN SELECT * FROM wed.flow WHERE tenant_id = _tenant_id ORDER BY flow_id LOOP
    PERFORM wed.compile(_flow.flow_id);
    EXECUTE format('ALTER ROLE %I %s', _flow.role_name, CASE WHEN _suspend THEN 'NOLOGIN' ELSE 'LOGIN' END);
    IF _suspend THEN
      PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = _flow.role_name;
    END IF;
  END LOOP;
  IF NOT _suspend THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;

ALTER FUNCTION wed.suspend_tenant(_tenant_id integer, _suspend boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.sweep_work(_now timestamp with time zone DEFAULT clock_timestamp(), _limit integer DEFAULT 1000) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $$
DECLARE
  -- Three contacts of a minute each.
  _silence CONSTANT interval := '3 minutes';
  _item wed.work_item;
  _done bigint := 0;
BEGIN
  UPDATE wed.person p SET active = false FROM (
    SELECT person_id FROM wed.person WHERE active AND contact_at < _now - _silence
    ORDER BY contact_at LIMIT _limit FOR UPDATE SKIP LOCKED) s
  WHERE p.person_id = s.person_id;
  FOR _item IN
    SELECT * FROM wed.work_item WHERE state = 'READY' AND (policy <> 1 OR candidates) AND offered_at + renotify <= _now
    ORDER BY offered_at LIMIT _limit FOR UPDATE SKIP LOCKED
  LOOP
    PERFORM wed.offer_item(_item.item_id, _now);
    _done := _done + 1;
  END LOOP;
  FOR _item IN
    SELECT * FROM wed.work_item WHERE ended_at IS NULL AND alarm_at <= _now ORDER BY alarm_at LIMIT _limit FOR UPDATE SKIP LOCKED
  LOOP
    PERFORM wed.ring_alarm(_item, _now);
    _done := _done + 1;
  END LOOP;
  RETURN _done;
END $$;

ALTER FUNCTION wed.sweep_work(_now timestamp with time zone, _limit integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.take_job(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  PERFORM FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id IS NULL AND due <= clock_timestamp();
  IF NOT FOUND OR NOT pg_try_advisory_xact_lock(_wid, _tgid) THEN RETURN false; END IF;
  PERFORM FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND host_id IS NULL AND due <= clock_timestamp();
  RETURN FOUND AND NOT wed.is_held(_flow_id, _wid, _tgid) AND NOT wed.skip_if_stale(_flow_id, _wid, _tgid);
END $$;

ALTER FUNCTION wed.take_job(_flow_id integer, _wid integer, _tgid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.take_off_shape(_shape_schema text, _tgid integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET client_min_messages TO 'warning'
    AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I.wed_flow DROP CONSTRAINT IF EXISTS %I', _shape_schema, 'c' || _tgid);
END $$;

ALTER FUNCTION wed.take_off_shape(_shape_schema text, _tgid integer) OWNER TO wed_predicate;

CREATE FUNCTION wed.take_order(_flow wed.flow, _wids integer[]) RETURNS void
    LANGUAGE plpgsql
    AS $_$
DECLARE
  _one record;
BEGIN
  DELETE FROM wed.task_done d USING wed.instance i
  WHERE d.flow_id = _flow.flow_id AND d.wid = ANY (_wids) AND i.flow_id = d.flow_id AND i.wid = d.wid AND i.status = 'F';
  DELETE FROM wed.precedence d USING wed.instance i
  WHERE d.flow_id = _flow.flow_id AND d.wid = ANY (_wids) AND i.flow_id = d.flow_id AND i.wid = d.wid AND i.status = 'F';
  IF _flow.order_attribute IS NULL THEN RETURN; END IF;
  FOR _one IN EXECUTE format('SELECT w.wid, %I AS said FROM %I.wed_flow w WHERE w.wid = ANY ($1) ORDER BY w.wid',
                             _flow.order_attribute, _flow.schema_name) USING _wids
  LOOP
    PERFORM wed.order_by_result(_flow.flow_id, _one.wid, _one.said);
  END LOOP;
END $_$;

ALTER FUNCTION wed.take_order(_flow wed.flow, _wids integer[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.take_over_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _person wed.person := wed.contact_person(_tenant, _name, _now);
  _item wed.work_item;
BEGIN
  SELECT * INTO _item FROM wed.work_item WHERE item_id = _item_id AND tenant_id = _person.tenant_id AND ended_at IS NULL;
  IF NOT FOUND THEN PERFORM wed.refuse_claim(_person, _item_id, 'SELECTED'); END IF;
  IF NOT wed.answers_for(_person.person_id, _item.flow_id, _item.wid) THEN
    RAISE EXCEPTION '"%" may not take over work item % (%)', _name, _item_id, _item.task USING ERRCODE = 'WF083',
      HINT = 'The person in charge of the instance and administrators may.';
  END IF;
  RETURN wed.hand_over(_item, _person.person_id, _person.name, 'taken_over', _now);
END $$;

ALTER FUNCTION wed.take_over_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.tell_fuel(_tenants integer[], _fuel bigint[], OUT resting integer[], OUT limited integer[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
  _minute timestamptz := date_trunc('minute', clock_timestamp());
BEGIN
  -- In one order, so that hosts do not wait for each other in a circle.
  PERFORM FROM wed.usage u WHERE u.tenant_id = ANY (_tenants) ORDER BY u.tenant_id FOR NO KEY UPDATE;
  UPDATE wed.usage u SET minute = _minute,
    fuel = CASE WHEN u.minute = _minute THEN u.fuel ELSE 0 END + r.fuel,
    fuel_before = CASE u.minute WHEN _minute THEN u.fuel_before WHEN _minute - interval '1 minute' THEN u.fuel ELSE 0 END
  FROM ROWS FROM (unnest(_tenants), unnest(_fuel)) AS r(tenant_id, fuel) WHERE u.tenant_id = r.tenant_id;
  UPDATE wed.usage u SET resting = NOT u.resting
  FROM (SELECT v.tenant_id FROM wed.usage v JOIN wed.quota q USING (tenant_id)
        WHERE (q.fuel_per_minute IS NOT NULL OR v.resting)
          AND v.resting <> coalesce(wed.fuel_used(v) >= q.fuel_per_minute, false)
        ORDER BY v.tenant_id FOR NO KEY UPDATE OF v SKIP LOCKED) c
  WHERE u.tenant_id = c.tenant_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  resting := ARRAY(SELECT u.tenant_id FROM wed.usage u WHERE u.resting);
  limited := ARRAY(SELECT q.tenant_id FROM wed.quota q WHERE q.concurrency IS NOT NULL);
END $$;

ALTER FUNCTION wed.tell_fuel(_tenants integer[], _fuel bigint[], OUT resting integer[], OUT limited integer[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.tell_hosts() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM pg_notify('wed_jobs', '');
END $$;

ALTER FUNCTION wed.tell_hosts() OWNER TO CURRENT_USER;

CREATE FUNCTION wed.tell_people(_tenant_id integer) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ SELECT pg_notify('wed_work', _tenant_id::text) $$;

ALTER FUNCTION wed.tell_people(_tenant_id integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.tell_running(_item wed.work_item, _attribute text, _person text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _rows wed.evaluated[];
BEGIN
  PERFORM wed.write_values(_item.flow_id, _item.wid, jsonb_build_object(_attribute, 'RUNNING'));
  _rows := wed.as_it_stands(_item.flow_id, _item.wid);
  IF NOT EXISTS (SELECT FROM unnest(_rows[1].fired) f WHERE f & 4294967295 = _item.tgid) THEN
    -- Takes the write back.
    RAISE EXCEPTION 'its condition would not hold' USING ERRCODE = 'WF089';
  END IF;
  PERFORM wed.settle(_rows, NULL, NULL, NULL, '_EVENT', NULL, _person);
EXCEPTION WHEN SQLSTATE 'WF089' THEN
  NULL;
END $$;

ALTER FUNCTION wed.tell_running(_item wed.work_item, _attribute text, _person text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.tenants_by_probe(_now timestamp with time zone) RETURNS integer[]
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
  RETURN (WITH RECURSIVE n(tenant_id) AS (
    SELECT min(j.tenant_id) FROM wed.job j WHERE j.host_id IS NULL AND j.component_id IS NOT NULL
    UNION ALL
    SELECT (SELECT min(j.tenant_id) FROM wed.job j
            WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.tenant_id > n.tenant_id)
    FROM n WHERE n.tenant_id IS NOT NULL)
  SELECT coalesce(array_agg(n.tenant_id), '{}') FROM n
  -- Not EXISTS, which may become a join that reads all jobs that are due; and in the order of job_ready, which
  -- is the index to use.
  WHERE (SELECT true FROM wed.job j WHERE j.host_id IS NULL AND j.component_id IS NOT NULL
         AND j.tenant_id = n.tenant_id AND j.due <= _now ORDER BY j.priority DESC, j.due LIMIT 1));
END $$;

ALTER FUNCTION wed.tenants_by_probe(_now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.tenants_with_work(_now timestamp with time zone, _without integer[]) RETURNS integer[]
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
  _jobs_read_max CONSTANT integer := 512;
  _woken integer[];
  _immediate integer[];
BEGIN
  _woken := ARRAY(
    SELECT j.tenant_id FROM wed.job j
    WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.delayed AND j.due <= _now
    ORDER BY j.due LIMIT _jobs_read_max);
  IF cardinality(_woken) = _jobs_read_max THEN
    _woken := wed.tenants_by_probe(_now);
  END IF;
  _immediate := (WITH RECURSIVE n(tenant_id) AS (
    SELECT min(j.tenant_id) FROM wed.job j
    WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND NOT j.delayed
    UNION ALL
    SELECT (SELECT min(j.tenant_id) FROM wed.job j
            WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND NOT j.delayed AND j.tenant_id > n.tenant_id)
    FROM n WHERE n.tenant_id IS NOT NULL)
  SELECT coalesce(array_agg(n.tenant_id) FILTER (WHERE n.tenant_id IS NOT NULL), '{}') FROM n);
  IF _woken = '{}' AND _immediate = '{}' THEN
    RETURN '{}';
  END IF;
  RETURN ARRAY(
    SELECT DISTINCT t.tenant_id FROM unnest(_immediate || _woken) t(tenant_id)
    WHERE t.tenant_id <> ALL (_without) AND t.tenant_id <> ALL ((SELECT wed.resting())::integer[]));
END $$;

ALTER FUNCTION wed.tenants_with_work(_now timestamp with time zone, _without integer[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.undo_next(_flow_id integer, _wid integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _back wed.going_back;
  _last wed.trace;
  _step record;
  _now timestamptz := clock_timestamp();
BEGIN
  SELECT * INTO _back FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid FOR UPDATE;
  IF NOT FOUND OR wed.operated(_flow_id, _wid) <> 'E' THEN RETURN; END IF;
  SELECT * INTO _last FROM wed.trace WHERE flow_id = _flow_id AND wid = _wid ORDER BY seq DESC LIMIT 1;
  IF _last.seq > _back.from_seq AND _last.trw = '_ABORT' THEN
    UPDATE wed.going_back SET stopped = true WHERE flow_id = _flow_id AND wid = _wid;
    UPDATE wed.instance SET announced_at = NULL WHERE flow_id = _flow_id AND wid = _wid;
    RETURN;
  END IF;
  SELECT s.*, t.trname, t.timeout, t.tenant_id, t.component_id INTO _step
  FROM wed.steps_to_undo(_flow_id, _wid, _back.to_seq) s JOIN wed.trigger t USING (tgid) LIMIT 1;
  INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, writer, note)
  VALUES (_flow_id, _wid, _last.seq + 1, CASE WHEN _step.seq IS NULL THEN 'E' ELSE 'R' END, '_BACK',
          CASE WHEN _step.seq IS NULL THEN '{}'::text[] ELSE ARRAY[_step.trname] END, _last.state, _now, session_user,
          CASE WHEN _step.seq IS NULL THEN format('back at step %s', _back.to_seq) ELSE format('undoes step %s', _step.seq) END
            || ', ' || wed.reasoned(_back.actor, _back.reason));
  IF _step.seq IS NULL THEN
    UPDATE wed.job SET last_seq = _last.seq + 1 WHERE flow_id = _flow_id AND wid = _wid;
    DELETE FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid;
    UPDATE wed.instance SET announced_at = clock_timestamp() WHERE flow_id = _flow_id AND wid = _wid;
    RETURN;
  END IF;
  DELETE FROM wed.job WHERE flow_id = _flow_id AND wid = _wid;
  -- The mark {-1} tells the gate that nothing is to be fired by the state that comes of it.
  INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at, component_id,
                       satisfied, beside)
  VALUES (_flow_id, _step.tenant_id, _wid, _step.tgid, _step.trname, _step.timeout, _step.seq, _last.seq + 1, 0, _now,
          _step.tstmp, _step.component_id, '{-1}', 0);
  UPDATE wed.instance SET status = 'R', changed = _now, announced_at = 'infinity' WHERE flow_id = _flow_id AND wid = _wid;
  IF _step.component_id IS NULL THEN
    PERFORM pg_notify(_step.trname, format('{"wid":%s,"tgid":%s}', _wid, _step.tgid));
  ELSE
    PERFORM pg_notify('wed_jobs', '');
  END IF;
END $$;

ALTER FUNCTION wed.undo_next(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.unlock_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT wed.release_work(_tenant, _name, _item_id, ARRAY['LOCKED', 'RUNNING'], _now)
$$;

ALTER FUNCTION wed.unlock_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.unselect_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT wed.release_work(_tenant, _name, _item_id, ARRAY['SELECTED', 'RUNNING'], _now)
$$;

ALTER FUNCTION wed.unselect_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.waiting_keys(_flow_id integer, _wid integer, _tgid integer) RETURNS TABLE(resource text, key text, amount numeric, capacity numeric, is_first boolean, holders text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT CASE WHEN v.resource LIKE '#%' THEN NULL ELSE v.resource END, v.key, v.amount, s.capacity - s.minimum,
    wed.first_in_queue(ROW(v.tenant_id, v.resource, v.key)::wed.resource_key) = v.request_id,
    (SELECT string_agg(h.who, ', ') FROM (
       SELECT format('instance %s of %s', o.wid, f.name) || CASE WHEN n.amount IS NULL THEN '' ELSE format(': %s', n.amount) END AS who
       FROM wed.reservation n JOIN wed.request o USING (request_id) JOIN wed.flow f ON f.flow_id = o.flow_id
       WHERE n.tenant_id = v.tenant_id AND n.resource = v.resource AND n.key = v.key AND n.held
         AND (o.flow_id, o.wid) <> (_flow_id, _wid) ORDER BY o.request_id LIMIT 8) h)
  FROM wed.request r JOIN wed.reservation v USING (request_id)
  LEFT JOIN wed.resource s ON s.tenant_id = v.tenant_id AND s.resource = v.resource AND s.key = v.key
  WHERE r.flow_id = _flow_id AND r.wid = _wid AND r.tgid = _tgid AND r.state IN ('n', 'w')
  ORDER BY v.key
$$;

ALTER FUNCTION wed.waiting_keys(_flow_id integer, _wid integer, _tgid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.waiting_reason(_flow_id integer, _wid integer, _tgid integer) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _job wed.job;
  _flow wed.flow;
BEGIN
  SELECT * INTO _job FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid;
  IF NOT FOUND OR _job.host_id IS NOT NULL THEN RETURN NULL; END IF;
  IF wed.is_paused(_job.due) OR EXISTS (SELECT FROM wed.tenant WHERE tenant_id = _job.tenant_id AND suspended_at IS NOT NULL) THEN
    RETURN 'paused';
  ELSIF _job.blocked IS NOT NULL THEN
    RETURN CASE WHEN _job.blocked = 'p' THEN 'precedence' ELSE 'reservation' END;
  ELSIF _job.waits_for IS NOT NULL AND _job.due > clock_timestamp() THEN
    RETURN CASE WHEN _job.waits_for ~ 'lock' THEN 'locked' ELSE 'siblings' END;
  ELSIF _job.due > clock_timestamp() THEN
    RETURN 'time';
  ELSIF _job.component_id IS NOT NULL THEN
    RETURN CASE
      WHEN NOT EXISTS (SELECT FROM wed.host WHERE expires_at > clock_timestamp()) THEN 'no_host'
      WHEN EXISTS (SELECT FROM wed.usage WHERE tenant_id = _job.tenant_id AND resting)
        OR wed.concurrency_left(_job.tenant_id) <= 0 THEN 'quota' END;
  ELSIF EXISTS (SELECT FROM wed.binding WHERE flow_id = _flow_id AND trname = _job.trname) THEN
    RETURN 'no_component';
  ELSIF _job.trname = '_EXCPT' OR EXISTS (
      SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.classid::bigint = _wid
        AND l.objid::bigint = _tgid AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())) THEN
    RETURN NULL;
  END IF;
  -- Who listens or polls has a session of the flow's role.
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  RETURN CASE WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = _flow.role_name AND pid <> pg_backend_pid()) THEN 'no_worker' END;
END $$;

ALTER FUNCTION wed.waiting_reason(_flow_id integer, _wid integer, _tgid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.waits_on(_flow_id integer, _wid integer, _tgid integer) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _text text;
BEGIN
  SELECT string_agg(o.after, ' AND ') INTO _text FROM (
    SELECT after, terms FROM wed.trigger_constraint WHERE tgid = _tgid AND terms IS NOT NULL
    UNION ALL
    SELECT after, terms FROM wed.precedence WHERE tgid = _tgid AND (wid IS NULL OR wid = _wid)) o
  WHERE NOT wed.is_met(o.terms, wed.names_done(_flow_id, _wid))
    AND EXISTS (SELECT FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND blocked = 'p');
  IF _text IS NOT NULL THEN RETURN left('the tasks before it: ' || _text, 500); END IF;
  SELECT string_agg(format('%s%s', w.key, CASE
      WHEN w.holders IS NOT NULL THEN format(' (held by %s)', w.holders)
      WHEN w.capacity IS NULL AND w.amount IS NOT NULL THEN ' (there is none of it in wed_resource)'
      WHEN w.amount > w.capacity THEN format(' (%s wanted, %s to be had)', w.amount, w.capacity)
      WHEN NOT w.is_first THEN ' (others are before it)' ELSE '' END), ', ' ORDER BY w.key) INTO _text
  FROM wed.waiting_keys(_flow_id, _wid, _tgid) w
  WHERE NOT w.is_first OR w.holders IS NOT NULL OR w.amount > coalesce(w.capacity, 0);
  RETURN left(coalesce('its reservation: ' || _text, 'its reservation'), 500);
END $$;

ALTER FUNCTION wed.waits_on(_flow_id integer, _wid integer, _tgid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.weigh_usage(_after interval DEFAULT '00:01:00'::interval) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $_$
DECLARE
  _part record;
  _trace jsonb := '{}';
BEGIN
  -- One at a time; who comes second has nothing to do.
  PERFORM FROM wed.weighing WHERE at < clock_timestamp() - _after FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE wed.weighing SET at = clock_timestamp();
  FOR _part IN
    SELECT c.oid::regclass AS name, pg_total_relation_size(c.oid) AS bytes, pg_relation_size(c.oid) / 8192 AS pages
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'wed.trace'::regclass
  LOOP
    CONTINUE WHEN _part.pages = 0;
    -- Some hundred pages of each.
    EXECUTE format($q$
      SELECT jsonb_object_agg(tenant, bytes) FROM (
        SELECT tenant, sum(bytes)::bigint AS bytes FROM (
          SELECT f.tenant_id::text AS tenant, %s * sum(s.bytes) / max(s.whole) AS bytes
          FROM (SELECT p.flow_id, sum(pg_column_size(p.*)) AS bytes, sum(sum(pg_column_size(p.*))) OVER () AS whole
                FROM %s p TABLESAMPLE SYSTEM (%s) GROUP BY p.flow_id) s JOIN wed.flow f USING (flow_id)
          GROUP BY f.tenant_id
          UNION ALL SELECT key, value::bigint FROM jsonb_each_text($1)) one GROUP BY tenant) added $q$,
      _part.bytes, _part.name, least(100, 30000.0 / _part.pages)) INTO _trace USING coalesce(_trace, '{}');
  END LOOP;
  UPDATE wed.usage u SET trace_bytes = coalesce((_trace ->> u.tenant_id::text)::bigint, 0), weighed_at = clock_timestamp(),
    row_bytes = (SELECT coalesce(sum(pg_total_relation_size(to_regclass(format('%I.wed_flow', f.schema_name)))), 0)
                 FROM wed.flow f WHERE f.tenant_id = u.tenant_id);
  RETURN true;
END $_$;

ALTER FUNCTION wed.weigh_usage(_after interval) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.work_data(_tenant text, _name text, _item_id bigint, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    AS $_$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _item wed.work_item := wed.see_work(_person, _item_id, _now);
  _task wed.work_task;
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id);
  _types jsonb;
  _state jsonb;
  _outputs text[];
BEGIN
  SELECT * INTO _task FROM wed.work_task WHERE tgid = _item.tgid;
  IF _schema IS NULL OR _task.tgid IS NULL THEN RETURN wed.work_document(_item); END IF;
  EXECUTE format('SELECT jsonb_object_agg(aname, atype) FROM %I.wed_attr', _schema) INTO _types;
  _outputs := wed.work_outputs(_item);
  IF _item.holder = _person.person_id OR _item.state = 'READY' AND wed.is_offered(_item, _person, _now) THEN
    EXECUTE format('SELECT to_jsonb(w) - ''wid'' FROM %I.wed_flow w WHERE wid = $1', _schema) INTO _state USING _item.wid;
  END IF;
  RETURN wed.work_document(_item) || jsonb_build_object(
    'application_bytes', (SELECT octet_length(c.bytes) FROM wed.component c WHERE c.tenant_id = _item.tenant_id
                          AND c.name = _task.application ORDER BY c.activated_at DESC LIMIT 1),
    'deadline_epoch', extract(epoch FROM _item.deadline_at),
    'warnings', (SELECT w.warnings FROM wed.work_instance w WHERE w.flow_id = _item.flow_id AND w.wid = _item.wid),
    'inputs', _task.inputs, 'outputs', _outputs, 'state_attribute', _task.state_attribute,
    'types', (SELECT coalesce(jsonb_object_agg(k, _types -> k), '{}') FROM unnest(_task.inputs || _outputs) k WHERE _types ? k),
    'data', (SELECT coalesce(jsonb_object_agg(k, _state -> k), '{}') FROM unnest(_task.inputs || _outputs) k WHERE _state ? k),
    'form', coalesce(_task.form, wed.work_form(_task, _outputs, _types)));
END $_$;

ALTER FUNCTION wed.work_data(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.work_document(_item wed.work_item) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT jsonb_build_object(
    'item', _item.item_id, 'flow', f.name, 'wid', _item.wid, 'task', _item.task, 'transition', t.trname, 'state', _item.state,
    'holder', p.name, 'role', r.name, 'kind', w.kind, 'description', coalesce(w.description, ''), 'priority', _item.priority,
    'arrived_at', _item.arrived_at, 'deadline_at', _item.deadline_at, 'ended_at', _item.ended_at, 'data_bytes', _item.data_bytes,
    'disconnected', _item.disconnected, 'application', w.application, 'claim', _item.claim)
  FROM (SELECT 1) one
  LEFT JOIN wed.flow f ON f.flow_id = _item.flow_id
  LEFT JOIN wed.trigger t ON t.tgid = _item.tgid
  LEFT JOIN wed.work_task w ON w.tgid = _item.tgid
  LEFT JOIN wed.person p ON p.person_id = _item.holder
  LEFT JOIN wed.role_of_people r ON r.role_id = _item.role_id
$$;

ALTER FUNCTION wed.work_document(_item wed.work_item) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.work_form(_task wed.work_task, _outputs text[], _types jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  SELECT jsonb_build_object('$schema', 'https://json-schema.org/draft/2020-12/schema', 'type', 'object',
    'title', _task.task, 'description', _task.description, 'additionalProperties', false,
    'properties', coalesce((
      SELECT jsonb_object_agg(o, CASE
        WHEN k.type LIKE '%[]' THEN '{"type": ["array", "null"]}'::jsonb
        WHEN k.type ~ '^(integer|bigint|smallint)' THEN '{"type": ["integer", "null"]}'
        WHEN k.type ~ '^(numeric|real|double)' THEN '{"type": ["number", "null"]}'
        WHEN k.type = 'boolean' THEN '{"type": ["boolean", "null"]}'
        WHEN k.type = 'date' THEN '{"type": ["string", "null"], "format": "date"}'
        WHEN k.type ~ '^timestamp' THEN '{"type": ["string", "null"], "format": "date-time"}'
        WHEN k.type ~ '^json' THEN '{}'
        ELSE '{"type": ["string", "null"]}' END)
      FROM unnest(_outputs) o CROSS JOIN LATERAL (SELECT _types ->> o AS type) k WHERE o <> coalesce(_task.state_attribute, '')), '{}'))
$_$;

ALTER FUNCTION wed.work_form(_task wed.work_task, _outputs text[], _types jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.work_history(_tenant text, _name text, _item_id bigint, _limit integer DEFAULT 1000) RETURNS SETOF jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT jsonb_build_object('at', h.at, 'person', h.person, 'action', h.action, 'detail', h.detail)
  FROM wed.see_work(wed.person_of(_tenant, _name), _item_id, clock_timestamp()) i
  CROSS JOIN LATERAL (
    SELECT e.at, e.person, e.action, e.detail, 0 AS kind, e.event_id AS id FROM wed.work_event e WHERE e.item_id = i.item_id
    UNION ALL
    SELECT n.at, n.person, CASE WHEN n.file_name IS NULL THEN 'commented' ELSE 'attached' END,
           jsonb_strip_nulls(jsonb_build_object('text', n.text, 'file', n.file_name, 'bytes', octet_length(n.bytes), 'note', n.note_id)),
           1, n.note_id
    FROM wed.work_note n WHERE n.flow_id = i.flow_id AND n.wid = i.wid AND n.item_id = i.item_id) h
  ORDER BY h.at, h.kind, h.id LIMIT least(greatest(_limit, 1), 1000)
$$;

ALTER FUNCTION wed.work_history(_tenant text, _name text, _item_id bigint, _limit integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.work_messages(_tenant text, _name text, _limit integer DEFAULT 100) RETURNS SETOF jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT jsonb_build_object('message', m.message_id, 'kind', m.kind, 'sender', m.sender, 'text', m.text, 'item', m.item_id,
                            'at', m.at, 'delivered_at', m.delivered_at)
  FROM wed.work_message m, wed.person_of(_tenant, _name) p
  WHERE m.person_id = p.person_id AND m.delivered_at IS NOT NULL ORDER BY m.message_id DESC LIMIT least(greatest(_limit, 1), 1000)
$$;

ALTER FUNCTION wed.work_messages(_tenant text, _name text, _limit integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.work_outputs(_item wed.work_item) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _outputs text[];
BEGIN
  SELECT coalesce(w.outputs, t.writes) INTO _outputs FROM wed.work_task w JOIN wed.trigger t USING (tgid) WHERE w.tgid = _item.tgid;
  IF _outputs IS NULL THEN
    EXECUTE format('SELECT array_agg(aname ORDER BY aname) FROM %I.wed_attr',
                   (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) INTO _outputs;
  END IF;
  RETURN coalesce(_outputs, '{}');
END $$;

ALTER FUNCTION wed.work_outputs(_item wed.work_item) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.work_place(_flow_id integer, _wid integer) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT coalesce((SELECT name FROM wed.instance_name WHERE flow_id = _flow_id AND wid = _wid),
                  coalesce((SELECT name FROM wed.flow WHERE flow_id = _flow_id), 'a removed flow') || '/' || _wid)
$$;

ALTER FUNCTION wed.work_place(_flow_id integer, _wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.worklist(_tenant text, _name text, _order text DEFAULT 'arrival'::text, _limit integer DEFAULT 100, _now timestamp with time zone DEFAULT clock_timestamp()) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  IF _order NOT IN ('arrival', 'priority', 'deadline', 'size', 'own') THEN
    RAISE EXCEPTION 'there is no order "%" of a worklist', left(_order, 80) USING ERRCODE = 'WF085',
      HINT = 'Use arrival, priority, deadline, size or own.';
  END IF;
  RETURN QUERY
    WITH found AS (
      SELECT i.* FROM wed.work_item i WHERE i.holder = _person.person_id AND i.ended_at IS NULL
      UNION ALL
      SELECT i.* FROM wed.work_item i
      WHERE i.state = 'READY' AND i.policy = 1 AND i.tenant_id = _person.tenant_id AND wed.is_offered(i, _person, _now)
        AND (i.role_id IN (SELECT m.role_id FROM wed.membership m WHERE m.person_id = _person.person_id) OR i.role_id IS NULL)
      UNION
      SELECT i.* FROM wed.work_offer o JOIN wed.work_item i USING (item_id)
      WHERE o.person_id = _person.person_id AND i.state = 'READY' AND _person.active)
    SELECT wed.work_document(f) FROM found f
    LEFT JOIN wed.work_position o ON o.person_id = _person.person_id AND o.item_id = f.item_id
    ORDER BY CASE _order WHEN 'priority' THEN -f.priority WHEN 'deadline' THEN extract(epoch FROM f.deadline_at)
                         WHEN 'size' THEN f.data_bytes WHEN 'own' THEN o.position END NULLS LAST, f.item_id
    LIMIT least(greatest(_limit, 1), 1000);
END $$;

ALTER FUNCTION wed.worklist(_tenant text, _name text, _order text, _limit integer, _now timestamp with time zone) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.write_states(_host_id integer, _shapes text[], _sets text[], _counts integer[], _widths integer[], _assigned text[], _literals integer[], _lit text[], _wids integer[], _tgids integer[], _careful boolean) RETURNS wed.evaluated[]
    LANGUAGE plpgsql
    SET lock_timeout TO '1s'
    SET enable_bitmapscan TO 'off'
    SET enable_seqscan TO 'off'
    AS $_$
DECLARE
  _some wed.evaluated[];
  _parts wed.part[];
  _all wed.batch := ROW(_wids, _tgids, _assigned, _lit);
  _several boolean := cardinality(_shapes) > 1;
  _item integer := 0;
  _attribute integer := 0;
  _literal integer := 0;
  _n integer;
  _held boolean;
BEGIN
  -- Holding this row keeps others from freeing this host's jobs meanwhile (free_abandoned).
  SELECT beside_old INTO _held FROM wed.host WHERE host_id = _host_id FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016', HINT = 'Enter anew.';
  END IF;
  PERFORM set_config('wed.commit', 'batch', true);
  FOR _g IN 1 .. cardinality(_shapes) LOOP
    _n := _counts[_g];
    -- Of a flow with several groups all instances are held first, in order: each group's UPDATE takes its own in
    -- order, and two batches would each wait for the other. (A shape's schema is its flow's and _shape.)
    IF _shapes[_g] = _shapes[_g + 1] AND _shapes[_g] IS DISTINCT FROM _shapes[_g - 1] THEN
      EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE', left(_shapes[_g], -6))
        USING _wids[_item + 1 : _item + (SELECT sum(c) FROM unnest(_shapes, _counts) u(s, c) WHERE s = _shapes[_g])::integer];
    END IF;
    EXECUTE format('SELECT %1$I.apply_%1$s($1, $2, $3, $4, $5, $6, $7, $8)', _shapes[_g]) INTO _some
      USING _all.wids[_item + 1 : _item + _n], _all.tgids[_item + 1 : _item + _n],
            _all.assigned[_attribute + 1 : _attribute + _widths[_g]], _sets[_g], _literals[_g],
            _all.lit[_literal + 1 : _literal + _n * _literals[_g]], _careful, _held;
    IF cardinality(_some) IS DISTINCT FROM _n THEN
      PERFORM wed.refuse_update('lost', _wids[_item + 1]);
    END IF;
    IF _several THEN _parts[_g] := ROW(_some)::wed.part; END IF;
    _item := _item + _n;
    _attribute := _attribute + _widths[_g];
    _literal := _literal + _n * _literals[_g];
  END LOOP;
  PERFORM set_config('wed.commit', '', true);
  -- Put together once, not flow by flow: each time would be a copy of all that are there.
  IF _several THEN
    RETURN ARRAY(SELECT r FROM unnest(_parts) p CROSS JOIN unnest(p.rows) r);
  END IF;
  RETURN _some;
END $_$;

ALTER FUNCTION wed.write_states(_host_id integer, _shapes text[], _sets text[], _counts integer[], _widths integer[], _assigned text[], _literals integer[], _lit text[], _wids integer[], _tgids integer[], _careful boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.write_values(_flow_id integer, _wid integer, _values jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    AS $_$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _columns text;
BEGIN
  SELECT string_agg(format('%I = n.%1$I', k), ', ') INTO _columns FROM jsonb_object_keys(_values) k;
  IF _columns IS NULL THEN RETURN; END IF;
  PERFORM set_config('wed.commit', 'batch', true);
  EXECUTE format('UPDATE %1$I.wed_flow w SET %2$s FROM %1$I.wed_flow o
                  CROSS JOIN LATERAL jsonb_populate_record(o, $1) n WHERE o.wid = $2 AND w.wid = o.wid', _schema, _columns)
    USING _values, _wid;
  PERFORM set_config('wed.commit', '', true);
  EXECUTE format('SELECT wed_bounded.measure_row(w.wid, (w.*)::text) FROM %I.wed_flow w WHERE w.wid = $1', _schema) USING _wid;
END $_$;

ALTER FUNCTION wed.write_values(_flow_id integer, _wid integer, _values jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.writer(_flow_id integer, _wids integer[], OUT tgids integer[], OUT allowed jsonb[]) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
  _locked integer[];
  _of integer[];
  _open text[];
  _refusal text;
  _wid integer;
BEGIN
  SELECT array_agg(l.classid::bigint::integer), array_agg(l.objid::bigint::integer) INTO _of, _locked
  FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.pid = pg_backend_pid()
    AND l.mode = 'ExclusiveLock'
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database());
  SELECT open_attributes INTO _open FROM wed.flow WHERE flow_id = _flow_id;
  SELECT array_agg(j.tgid ORDER BY w.at),
         array_agg(CASE WHEN j.tgid IS NULL THEN jsonb_build_object('event', true, 'set', to_jsonb(_open))
                        WHEN g.writes IS NOT NULL THEN jsonb_build_object('transition', g.trname, 'set', to_jsonb(g.writes))
                   END ORDER BY w.at),
         min(j.refusal), min(w.wid) FILTER (WHERE j.refusal IS NOT NULL)
  INTO tgids, allowed, _refusal, _wid
  FROM unnest(_wids) WITH ORDINALITY w(wid, at)
  CROSS JOIN LATERAL (
    SELECT min(q.tgid) FILTER (WHERE q.mine) AS tgid,
           CASE WHEN count(*) = 0 THEN 'WF002'
                WHEN EXISTS (SELECT FROM wed.trace r WHERE r.flow_id = _flow_id AND r.wid = w.wid
                             AND r.seq = max(q.last_seq) AND r.tstmp >= now() AND r.xid = pg_current_xact_id()
                             AND r.trw IS NOT NULL) THEN 'WF006'
                WHEN count(*) FILTER (WHERE q.mine) > 1 THEN 'WF005'
                WHEN bool_or(q.mine AND q.host_id IS NOT NULL) THEN 'WF004'
                WHEN bool_or(q.mine AND wed.is_held(q.flow_id, q.wid, q.tgid)) THEN 'WF081'
                WHEN bool_or(q.mine AND q.blocked IS NOT NULL) THEN 'WF045'
                WHEN NOT bool_or(q.mine) AND _open = '{}' THEN 'WF003' END AS refusal
    FROM (SELECT *, EXISTS (SELECT FROM ROWS FROM (unnest(_of), unnest(_locked)) AS l(wid, tgid)
                            WHERE l.wid = j.wid AND l.tgid = j.tgid) AS mine
          FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = w.wid) q) j
  LEFT JOIN wed.trigger g ON g.tgid = j.tgid;
  IF _refusal IS NOT NULL THEN
    PERFORM wed.refuse_update(_refusal, _wid);
  END IF;
  IF array_remove(allowed, NULL) = '{}' THEN
    allowed := NULL;
  END IF;
END $$;

ALTER FUNCTION wed.writer(_flow_id integer, _wids integer[], OUT tgids integer[], OUT allowed jsonb[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.written_list(_text text) RETURNS integer
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  SELECT coalesce(sum(CASE WHEN m[1] ~ '^''' THEN octet_length(m[1]) - 2 ELSE 4 END
                      + CASE WHEN _text ~ '^ARRAY' THEN 4 ELSE 0 END), 0)::integer
  FROM regexp_matches(_text, $r$('(?:[^']|'')*'|(?<![a-z0-9_.])[0-9.]+)$r$, 'g') m
$_$;

ALTER FUNCTION wed.written_list(_text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.written_number(_tokens text[]) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  SELECT substring(array_to_string(_tokens, '')
    FROM $r$^\s*\(*'?(-?[0-9]+(?:\.[0-9]*)?)'?(?:::(?:integer|bigint|numeric|double precision))?\)?(?:::(?:numeric|double precision|bigint|integer))?[,)]$r$)
$_$;

ALTER FUNCTION wed.written_number(_tokens text[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed.written_set(_token text) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _length integer := CASE WHEN _token ~ '^''' THEN length(replace(_token, '''''', '''')) - 2 WHEN _token = 'NULL' THEN 0 ELSE 64 END;
BEGIN
  IF _length > 64 THEN
    RAISE EXCEPTION 'a set of more than 64 characters' USING ERRCODE = 'WF011',
      HINT = 'Each character of the text is looked for in it; name fewer, or use a regular expression.';
  END IF;
  RETURN 4 * _length;
END $$;

ALTER FUNCTION wed.written_set(_token text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.few(_text text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF octet_length(_text) > 256 OR length(_text) > 64 THEN
    PERFORM wed_bounded.refuse_long('more than 64 characters', 64);
  END IF;
  RETURN _text;
END $$;

ALTER FUNCTION wed_bounded.few(_text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.few_digits(_list numeric[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  SELECT coalesce((SELECT bool_and(wed_bounded.few_digits(n)) FROM unnest($1) n), true)
$_$;

ALTER FUNCTION wed_bounded.few_digits(_list numeric[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.few_digits(_number numeric) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  SELECT coalesce(abs($1) < 1e100 AND scale($1) <= 100, true) OR $1 IN ('NaN', 'Infinity', '-Infinity')
$_$;

ALTER FUNCTION wed_bounded.few_digits(_number numeric) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.keys(_keys jsonb, _counted boolean, _quantity jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _found jsonb;
  _bad text;
BEGIN
  IF _keys IS NULL OR _keys = 'null' THEN RETURN '{}'; END IF;
  -- Most are one key, or some exclusive ones.
  IF NOT _counted AND jsonb_typeof(_keys) IN ('string', 'number') AND octet_length(_keys #>> '{}') BETWEEN 1 AND 256
     AND left(_keys #>> '{}', 1) NOT IN ('{', '[') THEN
    RETURN jsonb_build_object(_keys #>> '{}', NULL);
  END IF;
  IF (jsonb_typeof(_keys) = 'array' AND jsonb_array_length(_keys) > 64) OR pg_column_size(_keys) > 32768 THEN
    RAISE EXCEPTION 'a reservation names more than 64 keys' USING ERRCODE = 'WF060', HINT = 'Reserve fewer, or one key for all.';
  END IF;
  WITH k AS (
    SELECT key, value AS amount FROM jsonb_each(CASE jsonb_typeof(_keys) WHEN 'object' THEN _keys ELSE '{}' END)
    UNION ALL
    SELECT e #>> '{}', CASE WHEN NOT _counted THEN NULL WHEN jsonb_typeof(_quantity) = 'array' THEN coalesce(_quantity -> (at - 1)::integer, '0')
                            ELSE coalesce(_quantity, '0') END
    FROM jsonb_array_elements(CASE jsonb_typeof(_keys) WHEN 'array' THEN _keys WHEN 'object' THEN '[]' ELSE jsonb_build_array(_keys) END)
      WITH ORDINALITY u(e, at) WHERE e <> 'null'
  ), c AS (
    SELECT key, amount, octet_length(key) NOT BETWEEN 1 AND 256 OR left(key, 1) IN ('{', '[')
      OR amount IS NOT NULL AND jsonb_typeof(amount) NOT IN ('number', 'null') OR coalesce(length(amount::text), 0) > 40 AS bad FROM k
  ), n AS (
    SELECT key, bad, CASE WHEN NOT bad AND jsonb_typeof(amount) = 'number' THEN amount::numeric END AS amount FROM c)
  SELECT jsonb_object_agg(key, amount) FILTER (WHERE NOT bad AND amount IS DISTINCT FROM 0), min(left(key, 80)) FILTER (WHERE bad OR amount < 0)
  INTO _found, _bad
  FROM (SELECT key, bool_or(bad) AS bad, CASE WHEN bool_or(amount IS NULL) THEN NULL ELSE sum(amount) END AS amount FROM n GROUP BY key) g;
  IF _bad IS NOT NULL THEN
    RAISE EXCEPTION 'the key "%" cannot be reserved so', _bad USING ERRCODE = 'WF060',
      HINT = 'A key is a text or number of 1 to 256 bytes; a quantity is a number that is not negative.';
  ELSIF (SELECT count(*) FROM jsonb_object_keys(coalesce(_found, '{}'))) > 64 THEN
    RAISE EXCEPTION 'a reservation names more than 64 keys' USING ERRCODE = 'WF060', HINT = 'Reserve fewer, or one key for all.';
  END IF;
  RETURN coalesce(_found, '{}');
END $$;

ALTER FUNCTION wed_bounded.keys(_keys jsonb, _counted boolean, _quantity jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.list(_list anyarray) RETURNS anyarray
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF cardinality(_list) > 16384 THEN
    PERFORM wed_bounded.refuse_long(cardinality(_list) || ' elements', 16384);
  END IF;
  RETURN _list;
END $$;

ALTER FUNCTION wed_bounded.list(_list anyarray) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.list(_value anynonarray) RETURNS anynonarray
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$ SELECT $1 $_$;

ALTER FUNCTION wed_bounded.list(_value anynonarray) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.lpad(_text text, _length integer, _by text DEFAULT ' '::text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF _length > 1000 THEN
    PERFORM wed_bounded.refuse_length(format('a text is to be %s characters long', _length), 1000);
  END IF;
  RETURN lpad(_text, _length, _by);
END $$;

ALTER FUNCTION wed_bounded.lpad(_text text, _length integer, _by text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.matched(_text text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF octet_length(_text) > 8192 THEN
    RAISE EXCEPTION 'a text of % bytes is held against a regular expression', octet_length(_text) USING ERRCODE = 'WF032',
      HINT = 'At most 8192. Use LIKE, or look at a part of it: left(text, 1000).';
  END IF;
  RETURN _text;
END $$;

ALTER FUNCTION wed_bounded.matched(_text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.matched_often(_text text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF octet_length(_text) > 1024 THEN
    RAISE EXCEPTION 'a text of % bytes is looked through for all matches of a regular expression', octet_length(_text)
      USING ERRCODE = 'WF032', HINT = 'At most 1024. Use replace, split_part or string_to_array, or look at a part of it.';
  END IF;
  RETURN _text;
END $$;

ALTER FUNCTION wed_bounded.matched_often(_text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.measure_row(_wid integer, _row text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  RETURN octet_length(_row) <= 262144 OR wed_bounded.refuse_row(_wid, octet_length(_row));
END $$;

ALTER FUNCTION wed_bounded.measure_row(_wid integer, _row text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.moment(_list text[]) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _one text;
BEGIN
  FOREACH _one IN ARRAY _list LOOP
    PERFORM wed_bounded.moment(_one);
  END LOOP;
  RETURN _list;
END $$;

ALTER FUNCTION wed_bounded.moment(_list text[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.moment(_value anyelement) RETURNS anyelement
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$ SELECT $1 $_$;

ALTER FUNCTION wed_bounded.moment(_value anyelement) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.moment(_text text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF octet_length(_text) > 100 OR _text ~ '[A-Za-z][A-Za-z/_.:]{2,}[-+]?[0-9]' THEN
    RAISE EXCEPTION '% is not taken for a point in time', quote_literal(left(_text, 40)) USING ERRCODE = 'WF032',
      HINT = 'Write it as 2024-01-31 12:00:00+01, or with the name of a zone: 2024-01-31 12:00 Europe/Berlin.';
  END IF;
  RETURN _text;
END $$;

ALTER FUNCTION wed_bounded.moment(_text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.number(_list jsonb[]) RETURNS jsonb[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _one jsonb;
BEGIN
  FOREACH _one IN ARRAY _list LOOP
    PERFORM wed_bounded.number(_one);
  END LOOP;
  RETURN _list;
END $$;

ALTER FUNCTION wed_bounded.number(_list jsonb[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.number(_list text[]) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  _one text;
BEGIN
  FOREACH _one IN ARRAY _list LOOP
    PERFORM wed_bounded.number(_one);
  END LOOP;
  RETURN _list;
END $$;

ALTER FUNCTION wed_bounded.number(_list text[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.number(_value anyelement) RETURNS anyelement
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$ SELECT $1 $_$;

ALTER FUNCTION wed_bounded.number(_value anyelement) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.number(_value jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF jsonb_typeof(_value) = 'number' THEN
    PERFORM wed_bounded.number(_value #>> '{}');
  END IF;
  RETURN _value;
END $$;

ALTER FUNCTION wed_bounded.number(_value jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.number(_text text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF octet_length(_text) <= 100 AND strpos(_text, 'e') = 0 AND strpos(_text, 'E') = 0 THEN
    RETURN _text;
  END IF;
  IF octet_length(_text) > 200 OR _text ~ '[eE][-+]?[0-9_]{4}' OR _text ~ '[0-9_.]{103}'
     OR abs(coalesce(replace(substring(_text FROM '[eE]([-+]?[0-9_]{1,3})'), '_', '')::integer, 0)) > 100 THEN
    RAISE EXCEPTION 'the number % has too many digits', quote_literal(left(_text, 40)) USING ERRCODE = 'WF031',
      HINT = 'At most 100 digits before the point and 100 behind it.';
  END IF;
  RETURN _text;
END $$;

ALTER FUNCTION wed_bounded.number(_text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.pow(_base double precision, _exponent double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$ SELECT power($1, $2) $_$;

ALTER FUNCTION wed_bounded.pow(_base double precision, _exponent double precision) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.pow(_base numeric, _exponent numeric) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$ SELECT wed_bounded.power($1, $2) $_$;

ALTER FUNCTION wed_bounded.pow(_base numeric, _exponent numeric) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.power(_base double precision, _exponent double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$ SELECT power($1, $2) $_$;

ALTER FUNCTION wed_bounded.power(_base double precision, _exponent double precision) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.power(_base numeric, _exponent numeric) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF _base NOT IN (0, 'NaN', 'Infinity', '-Infinity') AND _exponent NOT IN ('NaN', 'Infinity', '-Infinity')
     AND (abs(_exponent) > 1e6 OR abs(_exponent * log(abs(_base))) > 1000 OR scale(_exponent) > 100) THEN
    RAISE EXCEPTION 'a power has too many digits' USING ERRCODE = 'WF031',
      HINT = 'At most 1000 digits; cast to double precision for more.';
  END IF;
  RETURN power(_base, _exponent);
END $$;

ALTER FUNCTION wed_bounded.power(_base numeric, _exponent numeric) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.refuse_digits(_attribute text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'the value of attribute "%" has too many digits', _attribute USING ERRCODE = 'WF031',
    HINT = 'At most 100 digits before the point and 100 behind it; round(value, digits) cuts.';
END $$;

ALTER FUNCTION wed_bounded.refuse_digits(_attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.refuse_elements(_attribute text, _elements integer) RETURNS boolean
    LANGUAGE plpgsql STRICT
    AS $$
BEGIN
  RAISE EXCEPTION 'the value of attribute "%" has % elements', _attribute, _elements USING ERRCODE = 'WF033',
    HINT = 'At most 4096. Keep long lists elsewhere, and their place in the state.';
END $$;

ALTER FUNCTION wed_bounded.refuse_elements(_attribute text, _elements integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.refuse_length(_what text, _most integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
  RAISE EXCEPTION '%', _what USING ERRCODE = 'WF032', HINT = format('At most %s.', _most);
END $$;

ALTER FUNCTION wed_bounded.refuse_length(_what text, _most integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.refuse_long(_what text, _most integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
  RAISE EXCEPTION 'a value that is searched for has %', _what USING ERRCODE = 'WF032',
    HINT = format('At most %s. Compare whole values with =.', _most);
END $$;

ALTER FUNCTION wed_bounded.refuse_long(_what text, _most integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.refuse_row(_row record) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
  RETURN wed_bounded.refuse_row(_row.wid, pg_catalog.pg_column_size(_row));
END $$;

ALTER FUNCTION wed_bounded.refuse_row(_row record) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.refuse_row(_wid integer, _bytes integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'the state of instance % takes % bytes', _wid, _bytes USING ERRCODE = 'WF033',
    HINT = 'At most 262144 (256 KiB) for all attributes together. Keep large things elsewhere, and their place in the state.';
END $$;

ALTER FUNCTION wed_bounded.refuse_row(_wid integer, _bytes integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.repeat(_text text, _times integer) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF octet_length(_text)::bigint * _times > 65536 THEN
    PERFORM wed_bounded.refuse_length(format('%s bytes are to be repeated %s times', octet_length(_text), _times), 65536);
  END IF;
  -- Of nothing Postgres counts the times.
  RETURN CASE WHEN _text = '' THEN '' ELSE repeat(_text, _times) END;
END $$;

ALTER FUNCTION wed_bounded.repeat(_text text, _times integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.replace(_text text, _from text, _to text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF octet_length(_text)::bigint / greatest(octet_length(_from), 1) * octet_length(_to) > 4194304 THEN
    RAISE EXCEPTION 'the text could grow to more than 4 MiB by this replacement' USING ERRCODE = 'WF032',
      HINT = 'Replace by something shorter, or in a shorter text.';
  END IF;
  RETURN replace(_text, _from, _to);
END $$;

ALTER FUNCTION wed_bounded.replace(_text text, _from text, _to text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.rpad(_text text, _length integer, _by text DEFAULT ' '::text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF _length > 1000 THEN
    PERFORM wed_bounded.refuse_length(format('a text is to be %s characters long', _length), 1000);
  END IF;
  RETURN rpad(_text, _length, _by);
END $$;

ALTER FUNCTION wed_bounded.rpad(_text text, _length integer, _by text) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.short(_list anyarray) RETURNS anyarray
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF cardinality(_list) > 256 THEN
    PERFORM wed_bounded.refuse_long(cardinality(_list) || ' elements', 256);
  END IF;
  RETURN _list;
END $$;

ALTER FUNCTION wed_bounded.short(_list anyarray) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.short(_value anynonarray) RETURNS anynonarray
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$ SELECT $1 $_$;

ALTER FUNCTION wed_bounded.short(_value anynonarray) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.short(_value jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF pg_column_size(_value) > 2048 OR octet_length(_value::text) > 2048 THEN
    PERFORM wed_bounded.refuse_long('more than 2048 bytes', 2048);
  END IF;
  RETURN _value;
END $$;

ALTER FUNCTION wed_bounded.short(_value jsonb) OWNER TO CURRENT_USER;

CREATE FUNCTION wed_bounded.short(_text text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF octet_length(_text) > 256 THEN
    PERFORM wed_bounded.refuse_long(octet_length(_text) || ' bytes', 256);
  END IF;
  RETURN _text;
END $$;

ALTER FUNCTION wed_bounded.short(_text text) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e.pg_try_advisory_xact_lock(integer, integer) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.take_job(3, $1, $2) $_$;

ALTER FUNCTION wf_4c263c6b57c24d6e.pg_try_advisory_xact_lock(integer, integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e.wed_after(trigger text, after text, wid integer DEFAULT NULL::integer) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.add_order(3, $1, $2, $3, session_user::text) $_$;

ALTER FUNCTION wf_4c263c6b57c24d6e.wed_after(trigger text, after text, wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e.wed_drop_after(trigger text, after text, wid integer DEFAULT NULL::integer) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.drop_order(3, $1, $2, $3, session_user::text) $_$;

ALTER FUNCTION wf_4c263c6b57c24d6e.wed_drop_after(trigger text, after text, wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e.wed_next_number(attribute text) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.next_number(3, $1) $_$;

ALTER FUNCTION wf_4c263c6b57c24d6e.wed_next_number(attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e.wed_number(attribute text, gapless boolean DEFAULT false) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.set_numbering(3, $1, $2) $_$;

ALTER FUNCTION wf_4c263c6b57c24d6e.wed_number(attribute text, gapless boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e.wed_order_by(attribute text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.order_by_attribute(3, $1) $_$;

ALTER FUNCTION wf_4c263c6b57c24d6e.wed_order_by(attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e.wed_rematch(preview boolean DEFAULT true) RETURNS TABLE(wid integer, fires text[], becomes text)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ SELECT * FROM wed.rematch(3, preview) $$;

ALTER FUNCTION wf_4c263c6b57c24d6e.wed_rematch(preview boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e_shape.apply_wf_4c263c6b57c24d6e_shape(_wids integer[], _tgids integer[], _assigned text[], _set text, _literals integer, _lit text[], _careful boolean, _held boolean DEFAULT false) RETURNS wed.evaluated[]
    LANGUAGE plpgsql
    AS $_$
#variable_conflict use_column
DECLARE
  _n integer := cardinality(_wids);
  _rows wf_4c263c6b57c24d6e_shape.wed_flow[];
  _theirs wf_4c263c6b57c24d6e.wed_flow[];
  _kept integer[];
  _order wed.batch;
  _p2 integer := (array_position(_assigned, 'n') - 1) * _n;
BEGIN
  IF _set IS NOT NULL THEN
    PERFORM set_config('role', 'wf_4c263c6b57c24d6e', true);
    EXECUTE format('WITH _u AS (UPDATE wf_4c263c6b57c24d6e.wed_flow _r SET %s FROM ROWS FROM (unnest($1)%s) AS _b(_wid%s)
                    %s RETURNING _r.wid, CASE WHEN NOT (false) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_4c263c6b57c24d6e.wed_flow END AS _state)
                    SELECT array_agg(_u._state ORDER BY _u.wid) FROM _u', _set,
      (SELECT string_agg(format(', unnest($2[%s:%s])', (at - 1) * _n + 1, at * _n), '' ORDER BY at) FROM generate_series(1, _literals) at),
      (SELECT string_agg(format(', _%s', at), '' ORDER BY at) FROM generate_series(1, _literals) at), CASE WHEN _held THEN 'CROSS JOIN LATERAL (SELECT _l.ctid AS _row FROM wf_4c263c6b57c24d6e.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
                     ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row' ELSE 'WHERE _r.wid = _b._wid' END)
      INTO _theirs USING _wids, _lit;
    PERFORM set_config('role', 'none', true);
    -- Where the flow was changed while this waited for its table, what came back has the new columns and this has not.
    IF (SELECT version FROM wed.flow WHERE flow_id = 3) <> 5 THEN
      RAISE EXCEPTION 'the flow was changed meanwhile' USING ERRCODE = '40001';
    END IF;
    _rows := ARRAY(SELECT ROW(_t.*)::wf_4c263c6b57c24d6e_shape.wed_flow FROM unnest(_theirs) _t);
  ELSIF NOT _assigned <@ '{n}'::text[] THEN
    EXECUTE (SELECT format('WITH _u AS (UPDATE wf_4c263c6b57c24d6e.wed_flow _r SET %s FROM ROWS FROM (unnest($1)%s) AS _b(_wid%s)
                    %s RETURNING _r.wid, CASE WHEN NOT (false) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_4c263c6b57c24d6e_shape.wed_flow END AS _state)
                    SELECT array_agg(_u._state ORDER BY _u.wid) FROM _u',
        string_agg(format('%I = _b._%s::%s', u.name, u.at, coalesce(format_type(a.atttypid, a.atttypmod), 'text')), ', '),
        string_agg(format(', unnest($2[%s:%s])', (u.at - 1) * _n + 1, u.at * _n), '' ORDER BY u.at),
        string_agg(format(', _%s', u.at), '' ORDER BY u.at), CASE WHEN _held THEN 'CROSS JOIN LATERAL (SELECT _l.ctid AS _row FROM wf_4c263c6b57c24d6e.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
                     ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row' ELSE 'WHERE _r.wid = _b._wid' END)
      FROM unnest(_assigned) WITH ORDINALITY u(name, at)
      -- One that there is not is left to the statement to name.
      LEFT JOIN pg_attribute a ON a.attrelid = 'wf_4c263c6b57c24d6e.wed_flow'::regclass AND a.attname = u.name AND a.attnum > 1) INTO _rows USING _wids, _lit;
  ELSIF _held THEN
    WITH _u AS (UPDATE wf_4c263c6b57c24d6e.wed_flow _r SET
        n = CASE WHEN _p2 IS NULL THEN _r.n ELSE _lit[_p2 + _b._at]::integer END
        FROM unnest(_wids) WITH ORDINALITY _b(_wid, _at) CROSS JOIN LATERAL (SELECT _l.ctid AS _row FROM wf_4c263c6b57c24d6e.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
                     ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row
        RETURNING _r.wid, CASE WHEN NOT (false) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_4c263c6b57c24d6e_shape.wed_flow END AS _state)
      SELECT array_agg(_u._state ORDER BY _u.wid) INTO _rows FROM _u;
  ELSIF _n = 1 THEN
    UPDATE wf_4c263c6b57c24d6e.wed_flow _r SET
        n = CASE WHEN _p2 IS NULL THEN _r.n ELSE _lit[_p2 + 1]::integer END
      WHERE _r.wid = _wids[1] RETURNING ARRAY[CASE WHEN NOT (false) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_4c263c6b57c24d6e_shape.wed_flow END] INTO _rows;
  ELSE
    _order.wids := _wids;
    WITH _u AS (UPDATE wf_4c263c6b57c24d6e.wed_flow _r SET
        n = CASE WHEN _p2 IS NULL THEN _r.n ELSE _lit[_p2 + width_bucket(_r.wid, _order.wids)]::integer END
        WHERE _r.wid = ANY (_order.wids) RETURNING CASE WHEN NOT (false) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_4c263c6b57c24d6e_shape.wed_flow END AS _state)
      -- In the order of _wids, in which the index finds them. (Where a state were not its job's, settling would refuse it.)
      SELECT array_agg(_u._state) INTO _rows FROM _u;
  END IF;
  RETURN CASE WHEN _careful THEN wf_4c263c6b57c24d6e_shape.evaluate_wf_4c263c6b57c24d6e_shape(_rows) ELSE wf_4c263c6b57c24d6e_shape.match_wf_4c263c6b57c24d6e_shape(_rows, _kept) END;
END $_$;

ALTER FUNCTION wf_4c263c6b57c24d6e_shape.apply_wf_4c263c6b57c24d6e_shape(_wids integer[], _tgids integer[], _assigned text[], _set text, _literals integer, _lit text[], _careful boolean, _held boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e_shape.current_wf_4c263c6b57c24d6e_shape(_wids integer[]) RETURNS wed.evaluated[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    SET standard_conforming_strings TO 'on'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
      SELECT wf_4c263c6b57c24d6e_shape.evaluate_wf_4c263c6b57c24d6e_shape(ARRAY(SELECT ROW(_now.*)::wf_4c263c6b57c24d6e_shape.wed_flow FROM wf_4c263c6b57c24d6e.wed_flow _now
                                 WHERE _now.wid = ANY (_wids) ORDER BY _now.wid))
    $$;

ALTER FUNCTION wf_4c263c6b57c24d6e_shape.current_wf_4c263c6b57c24d6e_shape(_wids integer[]) OWNER TO CURRENT_USER;

CREATE TABLE wf_4c263c6b57c24d6e_shape.wed_flow (
    wid integer,
    n integer DEFAULT 0
);

ALTER TABLE wf_4c263c6b57c24d6e_shape.wed_flow OWNER TO wed_predicate;

CREATE FUNCTION wf_4c263c6b57c24d6e_shape.evaluate_wf_4c263c6b57c24d6e_shape(_rows wf_4c263c6b57c24d6e_shape.wed_flow[]) RETURNS wed.evaluated[]
    LANGUAGE plpgsql
    AS $$
    DECLARE _all wed.evaluated[]; _one wed.evaluated;
    BEGIN
      BEGIN
        RETURN wf_4c263c6b57c24d6e_shape.match_wf_4c263c6b57c24d6e_shape(_rows, NULL);
      EXCEPTION WHEN OTHERS THEN
        NULL; -- some condition fails on some row: find out which
      END;
      FOR _i IN 1 .. cardinality(_rows) LOOP
        BEGIN
          _one := (wf_4c263c6b57c24d6e_shape.match_wf_4c263c6b57c24d6e_shape(_rows[_i:_i], NULL))[1];
        EXCEPTION WHEN OTHERS THEN
          _one := ROW(3, NULL, (_rows[_i]).wid, (to_jsonb(_rows[_i]) - 'wid')::text, NULL, '{}', '{}', false,
                      'a condition failed: ' || SQLERRM)::wed.evaluated;
        END;
        _all := _all || _one;
      END LOOP;
      RETURN _all;
    END $$;

ALTER FUNCTION wf_4c263c6b57c24d6e_shape.evaluate_wf_4c263c6b57c24d6e_shape(_rows wf_4c263c6b57c24d6e_shape.wed_flow[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e_shape.gate_insert() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    SET standard_conforming_strings TO 'on'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
BEGIN
  PERFORM wed_bounded.measure_row(_new.wid, (_new.*)::text) FROM new_rows _new WHERE false;
  PERFORM wed.gate_insert(3, wf_4c263c6b57c24d6e_shape.evaluate_wf_4c263c6b57c24d6e_shape(ARRAY(
    SELECT ROW(_new.*)::wf_4c263c6b57c24d6e_shape.wed_flow FROM new_rows _new ORDER BY _new.wid)));
  RETURN NULL;
END $$;

ALTER FUNCTION wf_4c263c6b57c24d6e_shape.gate_insert() OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e_shape.gate_update() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    SET standard_conforming_strings TO 'on'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE _wids integer[]; _writer record;
BEGIN
  PERFORM wed_bounded.measure_row(_new.wid, (_new.*)::text) FROM new_rows _new WHERE false;
  _wids := ARRAY(SELECT _new.wid FROM new_rows _new ORDER BY _new.wid);
  IF cardinality(_wids) = 0 THEN RETURN NULL; END IF;
  IF _wids <> ARRAY(SELECT _old.wid FROM old_rows _old ORDER BY _old.wid) THEN
    RAISE EXCEPTION 'the wid of an instance cannot change' USING ERRCODE = 'WF008',
      HINT = 'Set attributes only.';
  END IF;
  _writer := wed.writer(3, _wids);
  IF _writer.allowed IS NOT NULL THEN
    PERFORM wed.check_writes(_wids, _writer.allowed,
      ARRAY(SELECT to_jsonb(_old) FROM old_rows _old ORDER BY _old.wid),
      ARRAY(SELECT to_jsonb(_new) FROM new_rows _new ORDER BY _new.wid));
  END IF;
  PERFORM wed.gate_update(wf_4c263c6b57c24d6e_shape.evaluate_wf_4c263c6b57c24d6e_shape(ARRAY(
    SELECT ROW(_new.*)::wf_4c263c6b57c24d6e_shape.wed_flow FROM new_rows _new ORDER BY _new.wid)), _writer.tgids);
  RETURN NULL;
END $$;

ALTER FUNCTION wf_4c263c6b57c24d6e_shape.gate_update() OWNER TO CURRENT_USER;

CREATE FUNCTION wf_4c263c6b57c24d6e_shape.match_wf_4c263c6b57c24d6e_shape(_rows wf_4c263c6b57c24d6e_shape.wed_flow[], _kept integer[]) RETURNS wed.evaluated[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    AS $$
#variable_conflict use_column
BEGIN
  RETURN ARRAY(SELECT ROW(3, 5, _row.wid, concat('{"n":', coalesce(_row.n::text, 'null'), '}'), NULL::text,
    array_remove(ARRAY[CASE WHEN (n < 3) THEN 12 END]::bigint[], NULL),
    NULL::integer[], false, NULL)::wed.evaluated FROM unnest(_rows) _row);
END $$;

ALTER FUNCTION wf_4c263c6b57c24d6e_shape.match_wf_4c263c6b57c24d6e_shape(_rows wf_4c263c6b57c24d6e_shape.wed_flow[], _kept integer[]) OWNER TO wed_predicate;

CREATE FUNCTION wf_98db33d0ca6b4094.pg_try_advisory_xact_lock(integer, integer) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.take_job(2, $1, $2) $_$;

ALTER FUNCTION wf_98db33d0ca6b4094.pg_try_advisory_xact_lock(integer, integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_98db33d0ca6b4094.wed_after(trigger text, after text, wid integer DEFAULT NULL::integer) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.add_order(2, $1, $2, $3, session_user::text) $_$;

ALTER FUNCTION wf_98db33d0ca6b4094.wed_after(trigger text, after text, wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_98db33d0ca6b4094.wed_drop_after(trigger text, after text, wid integer DEFAULT NULL::integer) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.drop_order(2, $1, $2, $3, session_user::text) $_$;

ALTER FUNCTION wf_98db33d0ca6b4094.wed_drop_after(trigger text, after text, wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_98db33d0ca6b4094.wed_next_number(attribute text) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.next_number(2, $1) $_$;

ALTER FUNCTION wf_98db33d0ca6b4094.wed_next_number(attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_98db33d0ca6b4094.wed_number(attribute text, gapless boolean DEFAULT false) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.set_numbering(2, $1, $2) $_$;

ALTER FUNCTION wf_98db33d0ca6b4094.wed_number(attribute text, gapless boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_98db33d0ca6b4094.wed_order_by(attribute text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.order_by_attribute(2, $1) $_$;

ALTER FUNCTION wf_98db33d0ca6b4094.wed_order_by(attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_98db33d0ca6b4094.wed_rematch(preview boolean DEFAULT true) RETURNS TABLE(wid integer, fires text[], becomes text)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ SELECT * FROM wed.rematch(2, preview) $$;

ALTER FUNCTION wf_98db33d0ca6b4094.wed_rematch(preview boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_98db33d0ca6b4094_shape.apply_wf_98db33d0ca6b4094_shape(_wids integer[], _tgids integer[], _assigned text[], _set text, _literals integer, _lit text[], _careful boolean, _held boolean DEFAULT false) RETURNS wed.evaluated[]
    LANGUAGE plpgsql
    AS $_$
#variable_conflict use_column
DECLARE
  _n integer := cardinality(_wids);
  _rows wf_98db33d0ca6b4094_shape.wed_flow[];
  _theirs wf_98db33d0ca6b4094.wed_flow[];
  _kept integer[];
  _order wed.batch;
  _p2 integer := (array_position(_assigned, 'a1') - 1) * _n;
  _p3 integer := (array_position(_assigned, 'a2') - 1) * _n;
  _p4 integer := (array_position(_assigned, 'a3') - 1) * _n;
BEGIN
  IF _set IS NOT NULL THEN
    PERFORM set_config('role', 'wf_98db33d0ca6b4094', true);
    EXECUTE format('WITH _u AS (UPDATE wf_98db33d0ca6b4094.wed_flow _r SET %s FROM ROWS FROM (unnest($1)%s) AS _b(_wid%s)
                    %s RETURNING _r.wid, CASE WHEN NOT (coalesce(pg_column_compression(_r.a1), pg_column_compression(_r.a2), pg_column_compression(_r.a3)) IS NOT NULL) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_98db33d0ca6b4094.wed_flow END AS _state)
                    SELECT array_agg(_u._state ORDER BY _u.wid) FROM _u', _set,
      (SELECT string_agg(format(', unnest($2[%s:%s])', (at - 1) * _n + 1, at * _n), '' ORDER BY at) FROM generate_series(1, _literals) at),
      (SELECT string_agg(format(', _%s', at), '' ORDER BY at) FROM generate_series(1, _literals) at), CASE WHEN _held THEN 'CROSS JOIN LATERAL (SELECT _l.ctid AS _row FROM wf_98db33d0ca6b4094.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
                     ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row' ELSE 'WHERE _r.wid = _b._wid' END)
      INTO _theirs USING _wids, _lit;
    PERFORM set_config('role', 'none', true);
    -- Where the flow was changed while this waited for its table, what came back has the new columns and this has not.
    IF (SELECT version FROM wed.flow WHERE flow_id = 2) <> 6 THEN
      RAISE EXCEPTION 'the flow was changed meanwhile' USING ERRCODE = '40001';
    END IF;
    _rows := ARRAY(SELECT ROW(_t.*)::wf_98db33d0ca6b4094_shape.wed_flow FROM unnest(_theirs) _t);
  ELSIF NOT _assigned <@ '{a1,a2,a3}'::text[] THEN
    EXECUTE (SELECT format('WITH _u AS (UPDATE wf_98db33d0ca6b4094.wed_flow _r SET %s FROM ROWS FROM (unnest($1)%s) AS _b(_wid%s)
                    %s RETURNING _r.wid, CASE WHEN NOT (coalesce(pg_column_compression(_r.a1), pg_column_compression(_r.a2), pg_column_compression(_r.a3)) IS NOT NULL) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_98db33d0ca6b4094_shape.wed_flow END AS _state)
                    SELECT array_agg(_u._state ORDER BY _u.wid) FROM _u',
        string_agg(format('%I = _b._%s::%s', u.name, u.at, coalesce(format_type(a.atttypid, a.atttypmod), 'text')), ', '),
        string_agg(format(', unnest($2[%s:%s])', (u.at - 1) * _n + 1, u.at * _n), '' ORDER BY u.at),
        string_agg(format(', _%s', u.at), '' ORDER BY u.at), CASE WHEN _held THEN 'CROSS JOIN LATERAL (SELECT _l.ctid AS _row FROM wf_98db33d0ca6b4094.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
                     ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row' ELSE 'WHERE _r.wid = _b._wid' END)
      FROM unnest(_assigned) WITH ORDINALITY u(name, at)
      -- One that there is not is left to the statement to name.
      LEFT JOIN pg_attribute a ON a.attrelid = 'wf_98db33d0ca6b4094.wed_flow'::regclass AND a.attname = u.name AND a.attnum > 1) INTO _rows USING _wids, _lit;
  ELSIF _held THEN
    WITH _u AS (UPDATE wf_98db33d0ca6b4094.wed_flow _r SET
        a1 = CASE WHEN _p2 IS NULL THEN _r.a1 ELSE _lit[_p2 + _b._at]::text END,
        a2 = CASE WHEN _p3 IS NULL THEN _r.a2 ELSE _lit[_p3 + _b._at]::text END,
        a3 = CASE WHEN _p4 IS NULL THEN _r.a3 ELSE _lit[_p4 + _b._at]::text END
        FROM unnest(_wids) WITH ORDINALITY _b(_wid, _at) CROSS JOIN LATERAL (SELECT _l.ctid AS _row FROM wf_98db33d0ca6b4094.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
                     ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row
        RETURNING _r.wid, CASE WHEN NOT (coalesce(pg_column_compression(_r.a1), pg_column_compression(_r.a2), pg_column_compression(_r.a3)) IS NOT NULL) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_98db33d0ca6b4094_shape.wed_flow END AS _state)
      SELECT array_agg(_u._state ORDER BY _u.wid) INTO _rows FROM _u;
  ELSIF _n = 1 THEN
    UPDATE wf_98db33d0ca6b4094.wed_flow _r SET
        a1 = CASE WHEN _p2 IS NULL THEN _r.a1 ELSE _lit[_p2 + 1]::text END,
        a2 = CASE WHEN _p3 IS NULL THEN _r.a2 ELSE _lit[_p3 + 1]::text END,
        a3 = CASE WHEN _p4 IS NULL THEN _r.a3 ELSE _lit[_p4 + 1]::text END
      WHERE _r.wid = _wids[1] RETURNING ARRAY[CASE WHEN NOT (coalesce(pg_column_compression(_r.a1), pg_column_compression(_r.a2), pg_column_compression(_r.a3)) IS NOT NULL) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_98db33d0ca6b4094_shape.wed_flow END] INTO _rows;
  ELSE
    _order.wids := _wids;
    WITH _u AS (UPDATE wf_98db33d0ca6b4094.wed_flow _r SET
        a1 = CASE WHEN _p2 IS NULL THEN _r.a1 ELSE _lit[_p2 + width_bucket(_r.wid, _order.wids)]::text END,
        a2 = CASE WHEN _p3 IS NULL THEN _r.a2 ELSE _lit[_p3 + width_bucket(_r.wid, _order.wids)]::text END,
        a3 = CASE WHEN _p4 IS NULL THEN _r.a3 ELSE _lit[_p4 + width_bucket(_r.wid, _order.wids)]::text END
        WHERE _r.wid = ANY (_order.wids) RETURNING CASE WHEN NOT (coalesce(pg_column_compression(_r.a1), pg_column_compression(_r.a2), pg_column_compression(_r.a3)) IS NOT NULL) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_98db33d0ca6b4094_shape.wed_flow END AS _state)
      -- In the order of _wids, in which the index finds them. (Where a state were not its job's, settling would refuse it.)
      SELECT array_agg(_u._state) INTO _rows FROM _u;
  END IF;
  RETURN CASE WHEN _careful THEN wf_98db33d0ca6b4094_shape.evaluate_wf_98db33d0ca6b4094_shape(_rows) ELSE wf_98db33d0ca6b4094_shape.match_wf_98db33d0ca6b4094_shape(_rows, _kept) END;
END $_$;

ALTER FUNCTION wf_98db33d0ca6b4094_shape.apply_wf_98db33d0ca6b4094_shape(_wids integer[], _tgids integer[], _assigned text[], _set text, _literals integer, _lit text[], _careful boolean, _held boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_98db33d0ca6b4094_shape.current_wf_98db33d0ca6b4094_shape(_wids integer[]) RETURNS wed.evaluated[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    SET standard_conforming_strings TO 'on'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
      SELECT wf_98db33d0ca6b4094_shape.evaluate_wf_98db33d0ca6b4094_shape(ARRAY(SELECT ROW(_now.*)::wf_98db33d0ca6b4094_shape.wed_flow FROM wf_98db33d0ca6b4094.wed_flow _now
                                 WHERE _now.wid = ANY (_wids) ORDER BY _now.wid))
    $$;

ALTER FUNCTION wf_98db33d0ca6b4094_shape.current_wf_98db33d0ca6b4094_shape(_wids integer[]) OWNER TO CURRENT_USER;

CREATE TABLE wf_98db33d0ca6b4094_shape.wed_flow (
    wid integer,
    a1 text DEFAULT 'ready'::text,
    a2 text,
    a3 text
);

ALTER TABLE wf_98db33d0ca6b4094_shape.wed_flow OWNER TO wed_predicate;

CREATE FUNCTION wf_98db33d0ca6b4094_shape.evaluate_wf_98db33d0ca6b4094_shape(_rows wf_98db33d0ca6b4094_shape.wed_flow[]) RETURNS wed.evaluated[]
    LANGUAGE plpgsql
    AS $$
    DECLARE _all wed.evaluated[]; _one wed.evaluated;
    BEGIN
      BEGIN
        RETURN wf_98db33d0ca6b4094_shape.match_wf_98db33d0ca6b4094_shape(_rows, NULL);
      EXCEPTION WHEN OTHERS THEN
        NULL; -- some condition fails on some row: find out which
      END;
      FOR _i IN 1 .. cardinality(_rows) LOOP
        BEGIN
          _one := (wf_98db33d0ca6b4094_shape.match_wf_98db33d0ca6b4094_shape(_rows[_i:_i], NULL))[1];
        EXCEPTION WHEN OTHERS THEN
          _one := ROW(2, NULL, (_rows[_i]).wid, (to_jsonb(_rows[_i]) - 'wid')::text, NULL, '{}', '{}', false,
                      'a condition failed: ' || SQLERRM)::wed.evaluated;
        END;
        _all := _all || _one;
      END LOOP;
      RETURN _all;
    END $$;

ALTER FUNCTION wf_98db33d0ca6b4094_shape.evaluate_wf_98db33d0ca6b4094_shape(_rows wf_98db33d0ca6b4094_shape.wed_flow[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_98db33d0ca6b4094_shape.gate_insert() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    SET standard_conforming_strings TO 'on'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
BEGIN
  PERFORM wed_bounded.measure_row(_new.wid, (_new.*)::text) FROM new_rows _new WHERE coalesce(pg_column_compression(_new.a1), pg_column_compression(_new.a2), pg_column_compression(_new.a3)) IS NOT NULL;
  PERFORM wed.gate_insert(2, wf_98db33d0ca6b4094_shape.evaluate_wf_98db33d0ca6b4094_shape(ARRAY(
    SELECT ROW(_new.*)::wf_98db33d0ca6b4094_shape.wed_flow FROM new_rows _new ORDER BY _new.wid)));
  RETURN NULL;
END $$;

ALTER FUNCTION wf_98db33d0ca6b4094_shape.gate_insert() OWNER TO CURRENT_USER;

CREATE FUNCTION wf_98db33d0ca6b4094_shape.gate_update() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    SET standard_conforming_strings TO 'on'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE _wids integer[]; _writer record;
BEGIN
  PERFORM wed_bounded.measure_row(_new.wid, (_new.*)::text) FROM new_rows _new WHERE coalesce(pg_column_compression(_new.a1), pg_column_compression(_new.a2), pg_column_compression(_new.a3)) IS NOT NULL;
  _wids := ARRAY(SELECT _new.wid FROM new_rows _new ORDER BY _new.wid);
  IF cardinality(_wids) = 0 THEN RETURN NULL; END IF;
  IF _wids <> ARRAY(SELECT _old.wid FROM old_rows _old ORDER BY _old.wid) THEN
    RAISE EXCEPTION 'the wid of an instance cannot change' USING ERRCODE = 'WF008',
      HINT = 'Set attributes only.';
  END IF;
  _writer := wed.writer(2, _wids);
  IF _writer.allowed IS NOT NULL THEN
    PERFORM wed.check_writes(_wids, _writer.allowed,
      ARRAY(SELECT to_jsonb(_old) FROM old_rows _old ORDER BY _old.wid),
      ARRAY(SELECT to_jsonb(_new) FROM new_rows _new ORDER BY _new.wid));
  END IF;
  PERFORM wed.gate_update(wf_98db33d0ca6b4094_shape.evaluate_wf_98db33d0ca6b4094_shape(ARRAY(
    SELECT ROW(_new.*)::wf_98db33d0ca6b4094_shape.wed_flow FROM new_rows _new ORDER BY _new.wid)), _writer.tgids);
  RETURN NULL;
END $$;

ALTER FUNCTION wf_98db33d0ca6b4094_shape.gate_update() OWNER TO CURRENT_USER;

CREATE FUNCTION wf_98db33d0ca6b4094_shape.match_wf_98db33d0ca6b4094_shape(_rows wf_98db33d0ca6b4094_shape.wed_flow[], _kept integer[]) RETURNS wed.evaluated[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    AS $$
#variable_conflict use_column
BEGIN
  RETURN ARRAY(SELECT ROW(2, 6, _row.wid, json_object(ARRAY['a1', _row.a1::text, 'a2', _row.a2::text, 'a3', _row.a3::text])::text, NULL::text,
    array_remove(ARRAY[CASE WHEN ((a1 = 'ready'::text) AND (a2 IS NULL)) THEN 7 END,
      CASE WHEN ((a1 = 'ready'::text) AND (a3 IS NULL)) THEN 8 END,
      CASE WHEN ((a1 = 'ready'::text) AND (a2 IS NOT NULL) AND (a3 IS NOT NULL)) THEN 9 END]::bigint[], NULL),
    NULL::integer[], coalesce((a1 <> 'ready'::text), false), NULL)::wed.evaluated FROM unnest(_rows) _row);
END $$;

ALTER FUNCTION wf_98db33d0ca6b4094_shape.match_wf_98db33d0ca6b4094_shape(_rows wf_98db33d0ca6b4094_shape.wed_flow[], _kept integer[]) OWNER TO wed_predicate;

CREATE FUNCTION wf_cb605d367e08421f.pg_try_advisory_xact_lock(integer, integer) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.take_job(1, $1, $2) $_$;

ALTER FUNCTION wf_cb605d367e08421f.pg_try_advisory_xact_lock(integer, integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_cb605d367e08421f.wed_after(trigger text, after text, wid integer DEFAULT NULL::integer) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.add_order(1, $1, $2, $3, session_user::text) $_$;

ALTER FUNCTION wf_cb605d367e08421f.wed_after(trigger text, after text, wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_cb605d367e08421f.wed_drop_after(trigger text, after text, wid integer DEFAULT NULL::integer) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.drop_order(1, $1, $2, $3, session_user::text) $_$;

ALTER FUNCTION wf_cb605d367e08421f.wed_drop_after(trigger text, after text, wid integer) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_cb605d367e08421f.wed_next_number(attribute text) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.next_number(1, $1) $_$;

ALTER FUNCTION wf_cb605d367e08421f.wed_next_number(attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_cb605d367e08421f.wed_number(attribute text, gapless boolean DEFAULT false) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.set_numbering(1, $1, $2) $_$;

ALTER FUNCTION wf_cb605d367e08421f.wed_number(attribute text, gapless boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_cb605d367e08421f.wed_order_by(attribute text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$ SELECT wed.order_by_attribute(1, $1) $_$;

ALTER FUNCTION wf_cb605d367e08421f.wed_order_by(attribute text) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_cb605d367e08421f.wed_rematch(preview boolean DEFAULT true) RETURNS TABLE(wid integer, fires text[], becomes text)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ SELECT * FROM wed.rematch(1, preview) $$;

ALTER FUNCTION wf_cb605d367e08421f.wed_rematch(preview boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_cb605d367e08421f_shape.apply_wf_cb605d367e08421f_shape(_wids integer[], _tgids integer[], _assigned text[], _set text, _literals integer, _lit text[], _careful boolean, _held boolean DEFAULT false) RETURNS wed.evaluated[]
    LANGUAGE plpgsql
    AS $_$
#variable_conflict use_column
DECLARE
  _n integer := cardinality(_wids);
  _rows wf_cb605d367e08421f_shape.wed_flow[];
  _theirs wf_cb605d367e08421f.wed_flow[];
  _kept integer[];
  _order wed.batch;
  _p2 integer := (array_position(_assigned, 'a1') - 1) * _n;
  _p3 integer := (array_position(_assigned, 'a2') - 1) * _n;
  _p4 integer := (array_position(_assigned, 'a3') - 1) * _n;
BEGIN
  IF _set IS NOT NULL THEN
    PERFORM set_config('role', 'wf_cb605d367e08421f', true);
    EXECUTE format('WITH _u AS (UPDATE wf_cb605d367e08421f.wed_flow _r SET %s FROM ROWS FROM (unnest($1)%s) AS _b(_wid%s)
                    %s RETURNING _r.wid, CASE WHEN NOT (coalesce(pg_column_compression(_r.a1), pg_column_compression(_r.a2), pg_column_compression(_r.a3)) IS NOT NULL) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_cb605d367e08421f.wed_flow END AS _state)
                    SELECT array_agg(_u._state ORDER BY _u.wid) FROM _u', _set,
      (SELECT string_agg(format(', unnest($2[%s:%s])', (at - 1) * _n + 1, at * _n), '' ORDER BY at) FROM generate_series(1, _literals) at),
      (SELECT string_agg(format(', _%s', at), '' ORDER BY at) FROM generate_series(1, _literals) at), CASE WHEN _held THEN 'CROSS JOIN LATERAL (SELECT _l.ctid AS _row FROM wf_cb605d367e08421f.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
                     ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row' ELSE 'WHERE _r.wid = _b._wid' END)
      INTO _theirs USING _wids, _lit;
    PERFORM set_config('role', 'none', true);
    -- Where the flow was changed while this waited for its table, what came back has the new columns and this has not.
    IF (SELECT version FROM wed.flow WHERE flow_id = 1) <> 4 THEN
      RAISE EXCEPTION 'the flow was changed meanwhile' USING ERRCODE = '40001';
    END IF;
    _rows := ARRAY(SELECT ROW(_t.*)::wf_cb605d367e08421f_shape.wed_flow FROM unnest(_theirs) _t);
  ELSIF NOT _assigned <@ '{a1,a2,a3}'::text[] THEN
    EXECUTE (SELECT format('WITH _u AS (UPDATE wf_cb605d367e08421f.wed_flow _r SET %s FROM ROWS FROM (unnest($1)%s) AS _b(_wid%s)
                    %s RETURNING _r.wid, CASE WHEN NOT (coalesce(pg_column_compression(_r.a1), pg_column_compression(_r.a2), pg_column_compression(_r.a3)) IS NOT NULL) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_cb605d367e08421f_shape.wed_flow END AS _state)
                    SELECT array_agg(_u._state ORDER BY _u.wid) FROM _u',
        string_agg(format('%I = _b._%s::%s', u.name, u.at, coalesce(format_type(a.atttypid, a.atttypmod), 'text')), ', '),
        string_agg(format(', unnest($2[%s:%s])', (u.at - 1) * _n + 1, u.at * _n), '' ORDER BY u.at),
        string_agg(format(', _%s', u.at), '' ORDER BY u.at), CASE WHEN _held THEN 'CROSS JOIN LATERAL (SELECT _l.ctid AS _row FROM wf_cb605d367e08421f.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
                     ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row' ELSE 'WHERE _r.wid = _b._wid' END)
      FROM unnest(_assigned) WITH ORDINALITY u(name, at)
      -- One that there is not is left to the statement to name.
      LEFT JOIN pg_attribute a ON a.attrelid = 'wf_cb605d367e08421f.wed_flow'::regclass AND a.attname = u.name AND a.attnum > 1) INTO _rows USING _wids, _lit;
  ELSIF _held THEN
    WITH _u AS (UPDATE wf_cb605d367e08421f.wed_flow _r SET
        a1 = CASE WHEN _p2 IS NULL THEN _r.a1 ELSE _lit[_p2 + _b._at]::text END,
        a2 = CASE WHEN _p3 IS NULL THEN _r.a2 ELSE _lit[_p3 + _b._at]::text END,
        a3 = CASE WHEN _p4 IS NULL THEN _r.a3 ELSE _lit[_p4 + _b._at]::text END
        FROM unnest(_wids) WITH ORDINALITY _b(_wid, _at) CROSS JOIN LATERAL (SELECT _l.ctid AS _row FROM wf_cb605d367e08421f.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
                     ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row
        RETURNING _r.wid, CASE WHEN NOT (coalesce(pg_column_compression(_r.a1), pg_column_compression(_r.a2), pg_column_compression(_r.a3)) IS NOT NULL) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_cb605d367e08421f_shape.wed_flow END AS _state)
      SELECT array_agg(_u._state ORDER BY _u.wid) INTO _rows FROM _u;
  ELSIF _n = 1 THEN
    UPDATE wf_cb605d367e08421f.wed_flow _r SET
        a1 = CASE WHEN _p2 IS NULL THEN _r.a1 ELSE _lit[_p2 + 1]::text END,
        a2 = CASE WHEN _p3 IS NULL THEN _r.a2 ELSE _lit[_p3 + 1]::text END,
        a3 = CASE WHEN _p4 IS NULL THEN _r.a3 ELSE _lit[_p4 + 1]::text END
      WHERE _r.wid = _wids[1] RETURNING ARRAY[CASE WHEN NOT (coalesce(pg_column_compression(_r.a1), pg_column_compression(_r.a2), pg_column_compression(_r.a3)) IS NOT NULL) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_cb605d367e08421f_shape.wed_flow END] INTO _rows;
  ELSE
    _order.wids := _wids;
    WITH _u AS (UPDATE wf_cb605d367e08421f.wed_flow _r SET
        a1 = CASE WHEN _p2 IS NULL THEN _r.a1 ELSE _lit[_p2 + width_bucket(_r.wid, _order.wids)]::text END,
        a2 = CASE WHEN _p3 IS NULL THEN _r.a2 ELSE _lit[_p3 + width_bucket(_r.wid, _order.wids)]::text END,
        a3 = CASE WHEN _p4 IS NULL THEN _r.a3 ELSE _lit[_p4 + width_bucket(_r.wid, _order.wids)]::text END
        WHERE _r.wid = ANY (_order.wids) RETURNING CASE WHEN NOT (coalesce(pg_column_compression(_r.a1), pg_column_compression(_r.a2), pg_column_compression(_r.a3)) IS NOT NULL) OR wed_bounded.measure_row(_r.wid, (_r.*)::text) THEN ROW(_r.*)::wf_cb605d367e08421f_shape.wed_flow END AS _state)
      -- In the order of _wids, in which the index finds them. (Where a state were not its job's, settling would refuse it.)
      SELECT array_agg(_u._state) INTO _rows FROM _u;
  END IF;
  RETURN CASE WHEN _careful THEN wf_cb605d367e08421f_shape.evaluate_wf_cb605d367e08421f_shape(_rows) ELSE wf_cb605d367e08421f_shape.match_wf_cb605d367e08421f_shape(_rows, _kept) END;
END $_$;

ALTER FUNCTION wf_cb605d367e08421f_shape.apply_wf_cb605d367e08421f_shape(_wids integer[], _tgids integer[], _assigned text[], _set text, _literals integer, _lit text[], _careful boolean, _held boolean) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_cb605d367e08421f_shape.current_wf_cb605d367e08421f_shape(_wids integer[]) RETURNS wed.evaluated[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    SET standard_conforming_strings TO 'on'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
      SELECT wf_cb605d367e08421f_shape.evaluate_wf_cb605d367e08421f_shape(ARRAY(SELECT ROW(_now.*)::wf_cb605d367e08421f_shape.wed_flow FROM wf_cb605d367e08421f.wed_flow _now
                                 WHERE _now.wid = ANY (_wids) ORDER BY _now.wid))
    $$;

ALTER FUNCTION wf_cb605d367e08421f_shape.current_wf_cb605d367e08421f_shape(_wids integer[]) OWNER TO CURRENT_USER;

CREATE TABLE wf_cb605d367e08421f_shape.wed_flow (
    wid integer,
    a1 text DEFAULT '0'::text,
    a2 text DEFAULT '0'::text,
    a3 text DEFAULT '0'::text
);

ALTER TABLE wf_cb605d367e08421f_shape.wed_flow OWNER TO wed_predicate;

CREATE FUNCTION wf_cb605d367e08421f_shape.evaluate_wf_cb605d367e08421f_shape(_rows wf_cb605d367e08421f_shape.wed_flow[]) RETURNS wed.evaluated[]
    LANGUAGE plpgsql
    AS $$
    DECLARE _all wed.evaluated[]; _one wed.evaluated;
    BEGIN
      BEGIN
        RETURN wf_cb605d367e08421f_shape.match_wf_cb605d367e08421f_shape(_rows, NULL);
      EXCEPTION WHEN OTHERS THEN
        NULL; -- some condition fails on some row: find out which
      END;
      FOR _i IN 1 .. cardinality(_rows) LOOP
        BEGIN
          _one := (wf_cb605d367e08421f_shape.match_wf_cb605d367e08421f_shape(_rows[_i:_i], NULL))[1];
        EXCEPTION WHEN OTHERS THEN
          _one := ROW(1, NULL, (_rows[_i]).wid, (to_jsonb(_rows[_i]) - 'wid')::text, NULL, '{}', '{}', false,
                      'a condition failed: ' || SQLERRM)::wed.evaluated;
        END;
        _all := _all || _one;
      END LOOP;
      RETURN _all;
    END $$;

ALTER FUNCTION wf_cb605d367e08421f_shape.evaluate_wf_cb605d367e08421f_shape(_rows wf_cb605d367e08421f_shape.wed_flow[]) OWNER TO CURRENT_USER;

CREATE FUNCTION wf_cb605d367e08421f_shape.gate_insert() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    SET standard_conforming_strings TO 'on'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
BEGIN
  PERFORM wed_bounded.measure_row(_new.wid, (_new.*)::text) FROM new_rows _new WHERE coalesce(pg_column_compression(_new.a1), pg_column_compression(_new.a2), pg_column_compression(_new.a3)) IS NOT NULL;
  PERFORM wed.gate_insert(1, wf_cb605d367e08421f_shape.evaluate_wf_cb605d367e08421f_shape(ARRAY(
    SELECT ROW(_new.*)::wf_cb605d367e08421f_shape.wed_flow FROM new_rows _new ORDER BY _new.wid)));
  RETURN NULL;
END $$;

ALTER FUNCTION wf_cb605d367e08421f_shape.gate_insert() OWNER TO CURRENT_USER;

CREATE FUNCTION wf_cb605d367e08421f_shape.gate_update() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'iso_8601'
    SET standard_conforming_strings TO 'on'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE _wids integer[]; _writer record;
BEGIN
  PERFORM wed_bounded.measure_row(_new.wid, (_new.*)::text) FROM new_rows _new WHERE coalesce(pg_column_compression(_new.a1), pg_column_compression(_new.a2), pg_column_compression(_new.a3)) IS NOT NULL;
  _wids := ARRAY(SELECT _new.wid FROM new_rows _new ORDER BY _new.wid);
  IF cardinality(_wids) = 0 THEN RETURN NULL; END IF;
  IF _wids <> ARRAY(SELECT _old.wid FROM old_rows _old ORDER BY _old.wid) THEN
    RAISE EXCEPTION 'the wid of an instance cannot change' USING ERRCODE = 'WF008',
      HINT = 'Set attributes only.';
  END IF;
  _writer := wed.writer(1, _wids);
  IF _writer.allowed IS NOT NULL THEN
    PERFORM wed.check_writes(_wids, _writer.allowed,
      ARRAY(SELECT to_jsonb(_old) FROM old_rows _old ORDER BY _old.wid),
      ARRAY(SELECT to_jsonb(_new) FROM new_rows _new ORDER BY _new.wid));
  END IF;
  PERFORM wed.gate_update(wf_cb605d367e08421f_shape.evaluate_wf_cb605d367e08421f_shape(ARRAY(
    SELECT ROW(_new.*)::wf_cb605d367e08421f_shape.wed_flow FROM new_rows _new ORDER BY _new.wid)), _writer.tgids);
  RETURN NULL;
END $$;

ALTER FUNCTION wf_cb605d367e08421f_shape.gate_update() OWNER TO CURRENT_USER;

CREATE FUNCTION wf_cb605d367e08421f_shape.match_wf_cb605d367e08421f_shape(_rows wf_cb605d367e08421f_shape.wed_flow[], _kept integer[]) RETURNS wed.evaluated[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    AS $$
#variable_conflict use_column
BEGIN
  RETURN ARRAY(SELECT ROW(1, 4, _row.wid, json_object(ARRAY['a1', _row.a1::text, 'a2', _row.a2::text, 'a3', _row.a3::text])::text, '{}',
    array_remove(ARRAY[CASE WHEN ((a1)::integer < 3) THEN 2 END,
      CASE WHEN ((a2)::integer < 4) THEN 3 END,
      CASE WHEN ((a3)::integer < 5) THEN 4 END]::bigint[], NULL),
    NULL::integer[], coalesce(((a1 = '3'::text) AND (a2 = '4'::text) AND (a3 = '5'::text)), false), NULL)::wed.evaluated FROM unnest(_rows) _row);
END $$;

ALTER FUNCTION wf_cb605d367e08421f_shape.match_wf_cb605d367e08421f_shape(_rows wf_cb605d367e08421f_shape.wed_flow[], _kept integer[]) OWNER TO wed_predicate;

CREATE TABLE public._sqlx_migrations (
    version bigint NOT NULL,
    description text NOT NULL,
    installed_on timestamp with time zone DEFAULT now() NOT NULL,
    success boolean NOT NULL,
    checksum bytea NOT NULL,
    execution_time bigint NOT NULL
);

ALTER TABLE public._sqlx_migrations OWNER TO CURRENT_USER;

CREATE TABLE wed.allowed_function (
    name text NOT NULL
);

ALTER TABLE wed.allowed_function OWNER TO CURRENT_USER;

CREATE TABLE wed.allowed_type (
    name text NOT NULL
);

ALTER TABLE wed.allowed_type OWNER TO CURRENT_USER;

CREATE TABLE wed.attempt (
    attempt_id bigint NOT NULL,
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    tgid integer NOT NULL,
    trname text NOT NULL,
    attempt integer NOT NULL,
    outcome text NOT NULL,
    message text NOT NULL,
    fuel bigint,
    elapsed_us bigint,
    memory_bytes bigint,
    writer text NOT NULL,
    tstmp timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL
);

ALTER TABLE wed.attempt OWNER TO CURRENT_USER;

ALTER TABLE wed.attempt ALTER COLUMN attempt_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.attempt_attempt_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.audit (
    audit_id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    tenant_id integer,
    tenant_name text,
    actor text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE wed.audit OWNER TO CURRENT_USER;

ALTER TABLE wed.audit ALTER COLUMN audit_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.audit_audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.binding (
    flow_id integer NOT NULL,
    trname text NOT NULL,
    component_name text NOT NULL
);

ALTER TABLE wed.binding OWNER TO CURRENT_USER;

CREATE TABLE wed.component (
    component_id integer NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    digest text NOT NULL,
    bytes bytea NOT NULL,
    manifest jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    activated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT component_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT component_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text))
);
ALTER TABLE ONLY wed.component ALTER COLUMN bytes SET STORAGE EXTERNAL;

ALTER TABLE wed.component OWNER TO CURRENT_USER;

ALTER TABLE wed.component ALTER COLUMN component_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.component_component_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE wed.fence
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 100;

ALTER TABLE wed.fence OWNER TO CURRENT_USER;

ALTER TABLE wed.flow ALTER COLUMN flow_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.flow_flow_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.flow_version (
    flow_id integer NOT NULL,
    version integer NOT NULL,
    definition jsonb NOT NULL,
    actor text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE wed.flow_version OWNER TO CURRENT_USER;

CREATE TABLE wed.free_number (
    flow_id integer NOT NULL,
    attribute text NOT NULL,
    number bigint NOT NULL
);

ALTER TABLE wed.free_number OWNER TO CURRENT_USER;

CREATE TABLE wed.function_source (
    only_row boolean DEFAULT true NOT NULL,
    digest text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT function_source_only_row_check CHECK (only_row)
);

ALTER TABLE wed.function_source OWNER TO CURRENT_USER;

CREATE TABLE wed.going_back (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    to_seq integer NOT NULL,
    from_seq integer NOT NULL,
    stopped boolean DEFAULT false NOT NULL,
    actor text NOT NULL,
    reason text NOT NULL
);

ALTER TABLE wed.going_back OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.going_back.from_seq IS 'The newest trace row when it was begun or resumed.';

COMMENT ON COLUMN wed.going_back.stopped IS 'A compensation failed; going back again resumes it.';

CREATE TABLE wed."grant" (
    flow_id integer NOT NULL,
    trname text NOT NULL,
    files boolean DEFAULT false NOT NULL,
    http text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT grant_http_check CHECK (((cardinality(http) <= 32) AND (array_position(http, NULL::text) IS NULL) AND (array_to_string(http, ' '::text) ~ '^([^ /*]{1,255}:[0-9]{1,5}( |$))*$'::text)))
);

ALTER TABLE wed."grant" OWNER TO CURRENT_USER;

CREATE TABLE wed.host (
    host_id integer NOT NULL,
    name text NOT NULL,
    started timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    beside_old boolean DEFAULT false NOT NULL,
    version text
);

ALTER TABLE wed.host OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.host.beside_old IS 'Whether some transaction has been open for long, so that Postgres keeps old versions of rows (0005).';

COMMENT ON COLUMN wed.host.version IS 'The version of its program.';

ALTER TABLE wed.host ALTER COLUMN host_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.host_host_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.idempotency (
    tenant_id integer NOT NULL,
    user_name text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    answer jsonb,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idempotency_key_check CHECK (((octet_length(key) >= 1) AND (octet_length(key) <= 255)))
);

ALTER TABLE wed.idempotency OWNER TO CURRENT_USER;

CREATE TABLE wed.instance (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    status "char" NOT NULL,
    started timestamp with time zone DEFAULT now() NOT NULL,
    changed timestamp with time zone DEFAULT now() NOT NULL,
    announced_at timestamp with time zone,
    people boolean DEFAULT false NOT NULL,
    CONSTRAINT instance_status_check CHECK ((status = ANY (ARRAY['R'::"char", 'F'::"char", 'E'::"char"])))
)
WITH (fillfactor='80');

ALTER TABLE wed.instance OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.instance.announced_at IS 'When its present exception was announced to operators.';

COMMENT ON COLUMN wed.instance.people IS 'Whether people work at it, who are told of its end.';

CREATE TABLE wed.instance_name (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    type text NOT NULL,
    number integer NOT NULL,
    name text GENERATED ALWAYS AS (((type || '_'::text) || lpad((number)::text, GREATEST(3, length((number)::text)), '0'::text))) STORED NOT NULL,
    released boolean DEFAULT false NOT NULL,
    CONSTRAINT instance_name_number_check CHECK ((number > 0)),
    CONSTRAINT instance_name_type_check CHECK (((octet_length(type) >= 1) AND (octet_length(type) <= 200)))
);

ALTER TABLE wed.instance_name OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.instance_name.released IS 'Whether the instance is final and another has its number; set when that is looked for.';

CREATE TABLE wed.log (
    log_id bigint NOT NULL,
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    tgid integer NOT NULL,
    attempt integer NOT NULL,
    severity text NOT NULL,
    message text NOT NULL,
    fields jsonb DEFAULT '{}'::jsonb NOT NULL,
    tstmp timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL
);
ALTER TABLE wed.log OWNER TO CURRENT_USER;

ALTER TABLE wed.log ALTER COLUMN log_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.log_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.membership (
    person_id integer NOT NULL,
    role_id integer NOT NULL
);

ALTER TABLE wed.membership OWNER TO CURRENT_USER;

CREATE TABLE wed.numbering (
    flow_id integer NOT NULL,
    attribute text NOT NULL,
    gapless boolean NOT NULL,
    made_to bigint DEFAULT 0 NOT NULL
);

ALTER TABLE wed.numbering OWNER TO CURRENT_USER;

CREATE TABLE wed.pause (
    pause_id integer NOT NULL,
    tenant_id integer NOT NULL,
    flow_id integer,
    tgid integer,
    wid integer,
    actor text NOT NULL,
    reason text NOT NULL,
    paused_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT pause_check CHECK (((num_nonnulls(tgid, wid) <= 1) AND ((flow_id IS NOT NULL) OR (num_nonnulls(tgid, wid) = 0))))
);

ALTER TABLE wed.pause OWNER TO CURRENT_USER;

ALTER TABLE wed.pause ALTER COLUMN pause_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.pause_pause_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE wed.person ALTER COLUMN person_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.person_person_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.precedence (
    precedence_id integer NOT NULL,
    flow_id integer NOT NULL,
    wid integer,
    tgid integer NOT NULL,
    after text NOT NULL,
    terms jsonb NOT NULL,
    actor text NOT NULL,
    added_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE wed.precedence OWNER TO CURRENT_USER;

ALTER TABLE wed.precedence ALTER COLUMN precedence_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.precedence_precedence_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.quota (
    tenant_id integer NOT NULL,
    flows bigint DEFAULT 200,
    instances bigint DEFAULT 100000,
    jobs bigint DEFAULT 500000,
    components bigint DEFAULT 500,
    requests_per_second bigint DEFAULT 100,
    fuel_per_minute bigint,
    concurrency bigint,
    trace_bytes bigint DEFAULT '10737418240'::bigint,
    row_bytes bigint DEFAULT '10737418240'::bigint,
    connections bigint DEFAULT 20,
    CONSTRAINT quota_components_check CHECK ((components >= 0)),
    CONSTRAINT quota_concurrency_check CHECK ((concurrency >= 0)),
    CONSTRAINT quota_connections_check CHECK (((connections >= 0) AND (connections <= 10000))),
    CONSTRAINT quota_flows_check CHECK ((flows >= 0)),
    CONSTRAINT quota_fuel_per_minute_check CHECK ((fuel_per_minute >= 0)),
    CONSTRAINT quota_instances_check CHECK ((instances >= 0)),
    CONSTRAINT quota_jobs_check CHECK ((jobs >= 0)),
    CONSTRAINT quota_requests_per_second_check CHECK (((requests_per_second >= 1) AND (requests_per_second <= 1000000))),
    CONSTRAINT quota_row_bytes_check CHECK ((row_bytes >= 0)),
    CONSTRAINT quota_trace_bytes_check CHECK ((trace_bytes >= 0))
);

ALTER TABLE wed.quota OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.quota.flows IS 'flows';

COMMENT ON COLUMN wed.quota.instances IS 'instances that are not final';

COMMENT ON COLUMN wed.quota.jobs IS 'pending jobs, when an instance is started';

COMMENT ON COLUMN wed.quota.components IS 'versions of components';

COMMENT ON COLUMN wed.quota.requests_per_second IS 'requests to the API in a second';

COMMENT ON COLUMN wed.quota.fuel_per_minute IS 'fuel of transitions in a minute; what is over it waits';

COMMENT ON COLUMN wed.quota.concurrency IS 'jobs in the hands of hosts at once; what is over it waits';

COMMENT ON COLUMN wed.quota.trace_bytes IS 'bytes of history, when an instance is started';

COMMENT ON COLUMN wed.quota.row_bytes IS 'bytes of the states of instances, when one is started';

COMMENT ON COLUMN wed.quota.connections IS 'sessions of each flow''s role at once';

CREATE TABLE wed.recording (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    tgid integer NOT NULL,
    attempt integer NOT NULL,
    component_id integer NOT NULL,
    from_seq integer NOT NULL,
    deadline bigint NOT NULL,
    answers jsonb,
    digest text,
    tstmp timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE wed.recording OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.recording.from_seq IS 'The trace row whose state was the payload.';

COMMENT ON COLUMN wed.recording.deadline IS 'As the guest was told: microseconds since 1970.';

COMMENT ON COLUMN wed.recording.answers IS 'What the host answered, in order; null when it was too much to keep.';

COMMENT ON COLUMN wed.recording.digest IS 'SHA-256 of what the guest answered.';

ALTER TABLE wed.request ALTER COLUMN request_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.request_request_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.reservation (
    request_id bigint NOT NULL,
    tenant_id integer NOT NULL,
    resource text NOT NULL,
    key text NOT NULL,
    amount numeric,
    priority integer NOT NULL,
    held boolean DEFAULT false,
    beside boolean DEFAULT false NOT NULL
)
WITH (fillfactor='60');

ALTER TABLE wed.reservation OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.reservation.amount IS 'Null: exclusive.';

COMMENT ON COLUMN wed.reservation.priority IS 'Its trigger''s; that of an instance that holds something already is the highest, or it could be waited for in a circle.';

COMMENT ON COLUMN wed.reservation.held IS 'Null: not queued yet.';

COMMENT ON COLUMN wed.reservation.beside IS 'The instance holds the key by an earlier request too.';

CREATE TABLE wed.residue (
    flow_id integer NOT NULL
);

ALTER TABLE wed.residue OWNER TO CURRENT_USER;

CREATE TABLE wed.resource (
    tenant_id integer NOT NULL,
    resource text NOT NULL,
    key text NOT NULL,
    capacity numeric NOT NULL,
    minimum numeric DEFAULT 0 NOT NULL,
    CONSTRAINT resource_key_check CHECK (((octet_length(key) >= 1) AND (octet_length(key) <= 256))),
    CONSTRAINT resource_minimum CHECK ((capacity >= minimum))
);

ALTER TABLE wed.resource OWNER TO CURRENT_USER;

CREATE TABLE wed.resource_lock (
    tenant_id integer NOT NULL,
    resource text NOT NULL,
    key text NOT NULL,
    used_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE wed.resource_lock OWNER TO CURRENT_USER;

CREATE TABLE wed.retention (
    only_row boolean DEFAULT true NOT NULL,
    trace interval,
    CONSTRAINT retention_only_row_check CHECK (only_row),
    CONSTRAINT retention_trace_check CHECK ((trace >= '1 day'::interval))
);

ALTER TABLE wed.retention OWNER TO CURRENT_USER;

CREATE TABLE wed.role_of_people (
    role_id integer NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT role_of_people_name_check CHECK (((name ~ '^[[:alnum:]][[:alnum:]_-]*$'::text) AND (octet_length(name) <= 63)))
);

ALTER TABLE wed.role_of_people OWNER TO CURRENT_USER;

ALTER TABLE wed.role_of_people ALTER COLUMN role_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.role_of_people_role_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.schedule (
    schedule_id integer NOT NULL,
    flow_id integer NOT NULL,
    name text NOT NULL,
    cron text NOT NULL,
    zone text DEFAULT 'UTC'::text NOT NULL,
    state jsonb DEFAULT '{}'::jsonb NOT NULL,
    missed text DEFAULT 'one'::text NOT NULL,
    overlap text DEFAULT 'start'::text NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    next_at timestamp with time zone,
    last_at timestamp with time zone,
    last_wid integer,
    last_error text,
    actor text NOT NULL,
    CONSTRAINT schedule_cron_check CHECK ((octet_length(cron) <= 200)),
    CONSTRAINT schedule_missed_check CHECK ((missed = ANY (ARRAY['skip'::text, 'one'::text, 'all'::text]))),
    CONSTRAINT schedule_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text)),
    CONSTRAINT schedule_overlap_check CHECK ((overlap = ANY (ARRAY['start'::text, 'skip'::text])))
);

ALTER TABLE wed.schedule OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.schedule.missed IS 'Occurrences that passed while no host ran: skip them, start one instance, or one for each.';

COMMENT ON COLUMN wed.schedule.overlap IS 'While the instance started last is neither final nor an exception: start another, or skip.';

ALTER TABLE wed.schedule ALTER COLUMN schedule_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.schedule_schedule_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.secret (
    flow_id integer NOT NULL,
    name text NOT NULL,
    ciphertext bytea NOT NULL,
    nonce bytea NOT NULL,
    transitions text[] DEFAULT '{}'::text[] NOT NULL,
    senders text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT secret_ciphertext_check CHECK ((octet_length(ciphertext) <= 65552)),
    CONSTRAINT secret_name_check CHECK ((name ~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,126}$'::text)),
    CONSTRAINT secret_nonce_check CHECK ((octet_length(nonce) = 24))
);

ALTER TABLE wed.secret OWNER TO CURRENT_USER;

CREATE TABLE wed.setting (
    flow_id integer NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    CONSTRAINT setting_key_check CHECK ((key ~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,126}$'::text)),
    CONSTRAINT setting_value_check CHECK ((octet_length(value) <= 65536))
);

ALTER TABLE wed.setting OWNER TO CURRENT_USER;

CREATE SEQUENCE wed.started_1
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER TABLE wed.started_1 OWNER TO CURRENT_USER;

CREATE SEQUENCE wed.started_2
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER TABLE wed.started_2 OWNER TO CURRENT_USER;

CREATE TABLE wed.task_done (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    tgid integer NOT NULL
);

ALTER TABLE wed.task_done OWNER TO CURRENT_USER;

CREATE TABLE wed.tenant (
    tenant_id integer NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    suspended_at timestamp with time zone,
    description text DEFAULT ''::text NOT NULL,
    token_days integer DEFAULT 366 NOT NULL,
    CONSTRAINT tenant_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text)),
    CONSTRAINT tenant_token_days_check CHECK (((token_days >= 1) AND (token_days <= 3660)))
);

ALTER TABLE wed.tenant OWNER TO CURRENT_USER;

ALTER TABLE wed.tenant ALTER COLUMN tenant_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.tenant_tenant_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE wed.tgid_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER TABLE wed.tgid_seq OWNER TO CURRENT_USER;

CREATE TABLE wed.token (
    token_id integer NOT NULL,
    tenant_id integer NOT NULL,
    user_id integer NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    last_used timestamp with time zone,
    CONSTRAINT token_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT token_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text))
);

ALTER TABLE wed.token OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.token.prefix IS 'The first characters, to know a token again by.';

COMMENT ON COLUMN wed.token.last_used IS 'To within some minutes, so that a request need not write.';

ALTER TABLE wed.token ALTER COLUMN token_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.token_token_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.trace (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    seq integer NOT NULL,
    status "char" NOT NULL,
    trw text,
    trf text[] NOT NULL,
    state text NOT NULL,
    tstmp timestamp with time zone NOT NULL,
    tgid integer,
    attempt integer,
    fuel bigint,
    elapsed_us bigint,
    memory_bytes bigint,
    component_id integer,
    from_seq integer,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    writer text NOT NULL,
    note text
)
PARTITION BY RANGE (tstmp);
ALTER TABLE wed.trace OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.trace.component_id IS 'The version of the component that performed it.';

COMMENT ON COLUMN wed.trace.from_seq IS 'The trace row whose state was the payload of the transition.';

CREATE TABLE wed.trace_20261124 (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    seq integer NOT NULL,
    status "char" NOT NULL,
    trw text,
    trf text[] NOT NULL,
    state text NOT NULL,
    tstmp timestamp with time zone NOT NULL,
    tgid integer,
    attempt integer,
    fuel bigint,
    elapsed_us bigint,
    memory_bytes bigint,
    component_id integer,
    from_seq integer,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    writer text NOT NULL,
    note text
);
ALTER TABLE wed.trace_20261124 OWNER TO CURRENT_USER;

CREATE TABLE wed.trace_20261125 (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    seq integer NOT NULL,
    status "char" NOT NULL,
    trw text,
    trf text[] NOT NULL,
    state text NOT NULL,
    tstmp timestamp with time zone NOT NULL,
    tgid integer,
    attempt integer,
    fuel bigint,
    elapsed_us bigint,
    memory_bytes bigint,
    component_id integer,
    from_seq integer,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    writer text NOT NULL,
    note text
);
ALTER TABLE wed.trace_20261125 OWNER TO CURRENT_USER;

CREATE TABLE wed.trace_20261126 (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    seq integer NOT NULL,
    status "char" NOT NULL,
    trw text,
    trf text[] NOT NULL,
    state text NOT NULL,
    tstmp timestamp with time zone NOT NULL,
    tgid integer,
    attempt integer,
    fuel bigint,
    elapsed_us bigint,
    memory_bytes bigint,
    component_id integer,
    from_seq integer,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    writer text NOT NULL,
    note text
);
ALTER TABLE wed.trace_20261126 OWNER TO CURRENT_USER;

CREATE TABLE wed.trace_else (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    seq integer NOT NULL,
    status "char" NOT NULL,
    trw text,
    trf text[] NOT NULL,
    state text NOT NULL,
    tstmp timestamp with time zone NOT NULL,
    tgid integer,
    attempt integer,
    fuel bigint,
    elapsed_us bigint,
    memory_bytes bigint,
    component_id integer,
    from_seq integer,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    writer text NOT NULL,
    note text
);
ALTER TABLE wed.trace_else OWNER TO CURRENT_USER;

CREATE TABLE wed.trigger (
    tgid integer NOT NULL,
    flow_id integer NOT NULL,
    tenant_id integer NOT NULL,
    tgname text,
    trname text,
    cfinal boolean NOT NULL,
    enabled boolean NOT NULL,
    predicate text,
    reads text[] DEFAULT '{}'::text[] NOT NULL,
    timely boolean DEFAULT false NOT NULL,
    condition_group integer DEFAULT 0 NOT NULL,
    timeout interval NOT NULL,
    timeout_ms bigint GENERATED ALWAYS AS (((EXTRACT(epoch FROM timeout) * (1000)::numeric))::bigint) STORED,
    attempts integer NOT NULL,
    backoff interval NOT NULL,
    delay interval NOT NULL,
    priority integer NOT NULL,
    recheck boolean NOT NULL,
    writes text[],
    component_id integer,
    weight integer DEFAULT 0 NOT NULL,
    constrained boolean DEFAULT false NOT NULL
);

ALTER TABLE wed.trigger OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.trigger.timely IS 'Its condition may change with time alone.';

COMMENT ON COLUMN wed.trigger.condition_group IS 'Conditions that read the same attributes; 0 is always evaluated (0003).';

COMMENT ON COLUMN wed.trigger.weight IS 'The megabytes that its condition may take on the largest row.';

CREATE TABLE wed.trigger_policy (
    tgid integer NOT NULL,
    flow_id integer NOT NULL,
    compensation text,
    deadline interval,
    CONSTRAINT trigger_policy_compensation_check CHECK (((compensation !~ '^_'::text) AND ((octet_length(compensation) >= 1) AND (octet_length(compensation) <= 63)))),
    CONSTRAINT trigger_policy_deadline_check CHECK ((deadline > '00:00:00'::interval))
);

ALTER TABLE wed.trigger_policy OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.trigger_policy.compensation IS 'The transition that undoes a committed step; a trigger without condition fires it (wed.set_policy).';

COMMENT ON COLUMN wed.trigger_policy.deadline IS 'From firing until the end, all attempts and pauses between them; then the instance is an exception.';

CREATE TABLE wed."user" (
    user_id integer NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT user_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._@-]{0,62}$'::text)),
    CONSTRAINT user_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'developer'::text, 'operator'::text, 'participant'::text, 'viewer'::text])))
);

ALTER TABLE wed."user" OWNER TO CURRENT_USER;

ALTER TABLE wed."user" ALTER COLUMN user_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.user_user_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.weighing (
    only_row boolean DEFAULT true NOT NULL,
    at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    CONSTRAINT weighing_only_row_check CHECK (only_row)
);

ALTER TABLE wed.weighing OWNER TO CURRENT_USER;

CREATE TABLE wed.work_calendar (
    calendar_id integer NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    zone text DEFAULT 'UTC'::text NOT NULL,
    weekdays integer[] DEFAULT '{1,2,3,4,5}'::integer[] NOT NULL,
    opens time without time zone DEFAULT '09:00:00'::time without time zone NOT NULL,
    closes time without time zone DEFAULT '17:00:00'::time without time zone NOT NULL,
    holidays date[] DEFAULT '{}'::date[] NOT NULL,
    CONSTRAINT work_calendar_check CHECK ((opens < closes)),
    CONSTRAINT work_calendar_holidays_check CHECK ((cardinality(holidays) <= 1000)),
    CONSTRAINT work_calendar_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text)),
    CONSTRAINT work_calendar_weekdays_check CHECK (((weekdays <@ '{1,2,3,4,5,6,7}'::integer[]) AND (weekdays <> '{}'::integer[])))
);

ALTER TABLE wed.work_calendar OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.work_calendar.weekdays IS 'ISO days of the week, 1 is Monday.';

ALTER TABLE wed.work_calendar ALTER COLUMN calendar_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.work_calendar_calendar_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.work_event (
    event_id bigint NOT NULL,
    item_id bigint NOT NULL,
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    person text NOT NULL,
    action text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE wed.work_event OWNER TO CURRENT_USER;

ALTER TABLE wed.work_event ALTER COLUMN event_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.work_event_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.work_instance (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    tenant_id integer NOT NULL,
    creator text,
    in_charge integer,
    policy smallint DEFAULT 1 NOT NULL,
    policy_count integer DEFAULT 1 NOT NULL,
    renotify interval DEFAULT '00:00:10'::interval NOT NULL,
    warnings integer[] DEFAULT '{}'::integer[] NOT NULL,
    transfer integer,
    CONSTRAINT work_instance_check CHECK (((transfer IS NULL) OR (transfer = ANY (warnings)))),
    CONSTRAINT work_instance_policy_check CHECK (((policy >= 1) AND (policy <= 4))),
    CONSTRAINT work_instance_policy_count_check CHECK (((policy_count >= 1) AND (policy_count <= 1000))),
    CONSTRAINT work_instance_renotify_check CHECK ((renotify >= '00:00:01'::interval)),
    CONSTRAINT work_instance_warnings_check CHECK ((cardinality(warnings) <= 100))
);

ALTER TABLE wed.work_instance OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.work_instance.policy IS '1: all people of the role; 2: those with the fewest assigned items; 3: with the fewest selected; 4: connected last.';

COMMENT ON COLUMN wed.work_instance.warnings IS 'Hours before a deadline at which its holder and the person in charge are told.';

COMMENT ON COLUMN wed.work_instance.transfer IS 'The one of the warnings at which the item passes to the person in charge.';

ALTER TABLE wed.work_item ALTER COLUMN item_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.work_item_item_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.work_message (
    message_id bigint NOT NULL,
    person_id integer NOT NULL,
    kind text NOT NULL,
    sender text NOT NULL,
    text text NOT NULL,
    item_id bigint,
    at timestamp with time zone NOT NULL,
    delivered_at timestamp with time zone,
    CONSTRAINT work_message_kind_check CHECK ((kind = ANY (ARRAY['process_started'::text, 'process_ended'::text, 'task_failed'::text, 'task_deadline'::text, 'task_transferred'::text, 'task_late'::text, 'task_escalated'::text, 'task_delegated'::text, 'task_withdrawn'::text])))
);

ALTER TABLE wed.work_message OWNER TO CURRENT_USER;

COMMENT ON COLUMN wed.work_message.delivered_at IS 'Null while the person is inactive: stored until the next connection.';

ALTER TABLE wed.work_message ALTER COLUMN message_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.work_message_message_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.work_note (
    note_id bigint NOT NULL,
    item_id bigint NOT NULL,
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    person text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    text text NOT NULL,
    file_name text,
    bytes bytea,
    CONSTRAINT work_note_bytes_check CHECK ((octet_length(bytes) <= 1048576)),
    CONSTRAINT work_note_check CHECK (((file_name IS NULL) = (bytes IS NULL))),
    CONSTRAINT work_note_file_name_check CHECK (((octet_length(file_name) >= 1) AND (octet_length(file_name) <= 255))),
    CONSTRAINT work_note_text_check CHECK ((octet_length(text) <= 16384))
);

ALTER TABLE wed.work_note OWNER TO CURRENT_USER;

ALTER TABLE wed.work_note ALTER COLUMN note_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wed.work_note_note_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wed.work_offer (
    person_id integer NOT NULL,
    item_id bigint NOT NULL,
    offered_at timestamp with time zone NOT NULL
);

ALTER TABLE wed.work_offer OWNER TO CURRENT_USER;

CREATE TABLE wed.work_plan (
    flow_id integer NOT NULL,
    plan jsonb NOT NULL,
    creator_role integer,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT work_plan_plan_check CHECK ((octet_length((plan)::text) <= 1048576))
);

ALTER TABLE wed.work_plan OWNER TO CURRENT_USER;

CREATE TABLE wed.work_position (
    person_id integer NOT NULL,
    item_id bigint NOT NULL,
    "position" double precision NOT NULL
);

ALTER TABLE wed.work_position OWNER TO CURRENT_USER;

CREATE TABLE wed.work_report (
    person_id integer NOT NULL,
    key text NOT NULL,
    item_id bigint NOT NULL,
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    fingerprint bytea NOT NULL,
    applied boolean NOT NULL,
    code text,
    reason text,
    result jsonb NOT NULL,
    answer jsonb NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT work_report_key_check CHECK (((octet_length(key) >= 1) AND (octet_length(key) <= 255)))
);

ALTER TABLE wed.work_report OWNER TO CURRENT_USER;

CREATE TABLE wed.work_reservation (
    flow_id integer NOT NULL,
    wid integer NOT NULL,
    tgid integer NOT NULL,
    person_id integer NOT NULL
);

ALTER TABLE wed.work_reservation OWNER TO CURRENT_USER;

CREATE VIEW wf_4c263c6b57c24d6e.job_pool AS
 SELECT j.wid,
    j.tgid,
    j.trname,
    ('host:'::text || j.host_id) AS lckid,
    j.timeout,
    (COALESCE(j.payload, ( SELECT r.state
           FROM wed.trace r
          WHERE ((r.flow_id = j.flow_id) AND (r.wid = j.wid) AND (r.seq = j.seq) AND (r.tstmp = j.fired_at)))))::jsonb AS payload,
    j.attempt,
    j.due,
    j.priority,
    COALESCE(j.waits_for,
        CASE
            WHEN (j.blocked IS NOT NULL) THEN wed.waits_on(j.flow_id, j.wid, j.tgid)
            ELSE NULL::text
        END, ( SELECT 'its tenant''s fuel_per_minute'::text
           FROM wed.usage u
          WHERE ((u.tenant_id = j.tenant_id) AND u.resting AND (j.host_id IS NULL) AND (j.component_id IS NOT NULL)))) AS waits_for
   FROM wed.job j
  WHERE (j.flow_id = 3);

ALTER TABLE wf_4c263c6b57c24d6e.job_pool OWNER TO CURRENT_USER;

CREATE VIEW wf_4c263c6b57c24d6e.wed_attempt AS
 SELECT attempt.wid,
    attempt.tgid,
    attempt.trname,
    attempt.attempt,
    attempt.outcome,
    attempt.message,
    attempt.writer,
    attempt.tstmp,
    attempt.fuel,
    attempt.elapsed_us,
    attempt.memory_bytes
   FROM wed.attempt
  WHERE (attempt.flow_id = 3);

ALTER TABLE wf_4c263c6b57c24d6e.wed_attempt OWNER TO CURRENT_USER;

CREATE TABLE wf_4c263c6b57c24d6e.wed_attr (
    aname text NOT NULL,
    adv text,
    atype text DEFAULT 'text'::text NOT NULL,
    open boolean DEFAULT false NOT NULL
);

ALTER TABLE wf_4c263c6b57c24d6e.wed_attr OWNER TO CURRENT_USER;

CREATE TABLE wf_4c263c6b57c24d6e.wed_flow (
    wid integer NOT NULL,
    n integer DEFAULT 0,
    CONSTRAINT bytes CHECK (((pg_column_size(wed_flow.*) <= 262144) OR wed_bounded.refuse_row(wed_flow.*)))
)
WITH (fillfactor='70', autovacuum_analyze_threshold='20000', autovacuum_vacuum_threshold='20000');

ALTER TABLE wf_4c263c6b57c24d6e.wed_flow OWNER TO CURRENT_USER;

ALTER TABLE wf_4c263c6b57c24d6e.wed_flow ALTER COLUMN wid ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME wf_4c263c6b57c24d6e.wed_flow_wid_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW wf_4c263c6b57c24d6e.wed_instance AS
 SELECT instance.wid,
    instance.status,
    instance.started,
    instance.changed
   FROM wed.instance
  WHERE (instance.flow_id = 3);

ALTER TABLE wf_4c263c6b57c24d6e.wed_instance OWNER TO CURRENT_USER;

CREATE VIEW wf_4c263c6b57c24d6e.wed_order AS
 SELECT p.precedence_id,
    p.wid,
    COALESCE(t.tgname, t.trname) AS trigger,
    p.after,
    p.actor,
    p.added_at
   FROM (wed.precedence p
     JOIN wed.trigger t USING (tgid))
  WHERE (p.flow_id = 3);

ALTER TABLE wf_4c263c6b57c24d6e.wed_order OWNER TO CURRENT_USER;

CREATE VIEW wf_4c263c6b57c24d6e.wed_reservation AS
 SELECT r.wid,
    r.tgid,
    t.tgname,
    t.trname,
        CASE
            WHEN (v.resource ~~ '#%'::text) THEN NULL::text
            ELSE v.resource
        END AS resource,
    v.key,
    v.amount,
    COALESCE(v.held, false) AS held,
    r.holds,
    r.asked_at,
    r.granted_at
   FROM ((wed.request r
     JOIN wed.reservation v USING (request_id))
     JOIN wed.trigger t ON ((t.tgid = r.tgid)))
  WHERE ((r.flow_id = 3) AND (r.state <> ALL (ARRAY['f'::"char", 'c'::"char"])));

ALTER TABLE wf_4c263c6b57c24d6e.wed_reservation OWNER TO CURRENT_USER;

CREATE VIEW wf_4c263c6b57c24d6e.wed_resource AS
 SELECT
        CASE
            WHEN (s.resource ~~ '#%'::text) THEN NULL::text
            ELSE s.resource
        END AS resource,
    s.key,
    s.capacity,
    s.minimum,
    ( SELECT COALESCE(sum(v.amount), (0)::numeric) AS "coalesce"
           FROM wed.reservation v
          WHERE ((v.tenant_id = s.tenant_id) AND (v.resource = s.resource) AND (v.key = s.key) AND v.held)) AS held
   FROM wed.resource s
  WHERE ((s.tenant_id = 2) AND ((s.resource = '#3'::text) OR (s.resource IN ( SELECT c.resource
           FROM wed.trigger_constraint c
          WHERE (c.flow_id = 3)))));

ALTER TABLE wf_4c263c6b57c24d6e.wed_resource OWNER TO CURRENT_USER;

CREATE VIEW wf_4c263c6b57c24d6e.wed_trace AS
 SELECT trace.wid,
    (trace.state)::jsonb AS state,
    trace.trf,
    trace.trw,
    trace.status,
    trace.tstmp,
    trace.seq,
    trace.tgid,
    trace.attempt,
    trace.writer,
    trace.note,
    trace.fuel,
    trace.elapsed_us,
    trace.memory_bytes
   FROM wed.trace
  WHERE (trace.flow_id = 3);

ALTER TABLE wf_4c263c6b57c24d6e.wed_trace OWNER TO CURRENT_USER;

CREATE TABLE wf_4c263c6b57c24d6e.wed_trig (
    tgid integer NOT NULL,
    tgname text,
    enabled boolean DEFAULT true NOT NULL,
    trname text,
    cname text,
    cpred text NOT NULL,
    cfinal boolean DEFAULT false NOT NULL,
    timeout interval DEFAULT '00:01:00'::interval NOT NULL,
    attempts integer DEFAULT 3 NOT NULL,
    backoff interval DEFAULT '00:00:01'::interval NOT NULL,
    delay interval DEFAULT '00:00:00'::interval NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    recheck boolean DEFAULT true NOT NULL,
    writes text[],
    reserves text,
    quantity text,
    resource text,
    holds text,
    consumes boolean DEFAULT false NOT NULL,
    after text
);

ALTER TABLE wf_4c263c6b57c24d6e.wed_trig OWNER TO CURRENT_USER;

CREATE VIEW wf_98db33d0ca6b4094.job_pool AS
 SELECT j.wid,
    j.tgid,
    j.trname,
    ('host:'::text || j.host_id) AS lckid,
    j.timeout,
    (COALESCE(j.payload, ( SELECT r.state
           FROM wed.trace r
          WHERE ((r.flow_id = j.flow_id) AND (r.wid = j.wid) AND (r.seq = j.seq) AND (r.tstmp = j.fired_at)))))::jsonb AS payload,
    j.attempt,
    j.due,
    j.priority,
    COALESCE(j.waits_for,
        CASE
            WHEN (j.blocked IS NOT NULL) THEN wed.waits_on(j.flow_id, j.wid, j.tgid)
            ELSE NULL::text
        END, ( SELECT 'its tenant''s fuel_per_minute'::text
           FROM wed.usage u
          WHERE ((u.tenant_id = j.tenant_id) AND u.resting AND (j.host_id IS NULL) AND (j.component_id IS NOT NULL)))) AS waits_for
   FROM wed.job j
  WHERE (j.flow_id = 2);

ALTER TABLE wf_98db33d0ca6b4094.job_pool OWNER TO CURRENT_USER;

CREATE VIEW wf_98db33d0ca6b4094.wed_attempt AS
 SELECT attempt.wid,
    attempt.tgid,
    attempt.trname,
    attempt.attempt,
    attempt.outcome,
    attempt.message,
    attempt.writer,
    attempt.tstmp,
    attempt.fuel,
    attempt.elapsed_us,
    attempt.memory_bytes
   FROM wed.attempt
  WHERE (attempt.flow_id = 2);

ALTER TABLE wf_98db33d0ca6b4094.wed_attempt OWNER TO CURRENT_USER;

CREATE TABLE wf_98db33d0ca6b4094.wed_attr (
    aname text NOT NULL,
    adv text,
    atype text DEFAULT 'text'::text NOT NULL,
    open boolean DEFAULT false NOT NULL
);

ALTER TABLE wf_98db33d0ca6b4094.wed_attr OWNER TO CURRENT_USER;

CREATE TABLE wf_98db33d0ca6b4094.wed_flow (
    wid integer NOT NULL,
    a1 text DEFAULT 'ready'::text,
    a2 text,
    a3 text,
    CONSTRAINT bytes CHECK (((pg_column_size(wed_flow.*) <= 262144) OR wed_bounded.refuse_row(wed_flow.*)))
)
WITH (fillfactor='70', autovacuum_analyze_threshold='20000', autovacuum_vacuum_threshold='20000');
ALTER TABLE ONLY wf_98db33d0ca6b4094.wed_flow ALTER COLUMN a1 SET STORAGE EXTERNAL;
ALTER TABLE ONLY wf_98db33d0ca6b4094.wed_flow ALTER COLUMN a2 SET STORAGE EXTERNAL;
ALTER TABLE ONLY wf_98db33d0ca6b4094.wed_flow ALTER COLUMN a3 SET STORAGE EXTERNAL;

ALTER TABLE wf_98db33d0ca6b4094.wed_flow OWNER TO CURRENT_USER;

ALTER TABLE wf_98db33d0ca6b4094.wed_flow ALTER COLUMN wid ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME wf_98db33d0ca6b4094.wed_flow_wid_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW wf_98db33d0ca6b4094.wed_instance AS
 SELECT instance.wid,
    instance.status,
    instance.started,
    instance.changed
   FROM wed.instance
  WHERE (instance.flow_id = 2);

ALTER TABLE wf_98db33d0ca6b4094.wed_instance OWNER TO CURRENT_USER;

CREATE VIEW wf_98db33d0ca6b4094.wed_order AS
 SELECT p.precedence_id,
    p.wid,
    COALESCE(t.tgname, t.trname) AS trigger,
    p.after,
    p.actor,
    p.added_at
   FROM (wed.precedence p
     JOIN wed.trigger t USING (tgid))
  WHERE (p.flow_id = 2);

ALTER TABLE wf_98db33d0ca6b4094.wed_order OWNER TO CURRENT_USER;

CREATE VIEW wf_98db33d0ca6b4094.wed_reservation AS
 SELECT r.wid,
    r.tgid,
    t.tgname,
    t.trname,
        CASE
            WHEN (v.resource ~~ '#%'::text) THEN NULL::text
            ELSE v.resource
        END AS resource,
    v.key,
    v.amount,
    COALESCE(v.held, false) AS held,
    r.holds,
    r.asked_at,
    r.granted_at
   FROM ((wed.request r
     JOIN wed.reservation v USING (request_id))
     JOIN wed.trigger t ON ((t.tgid = r.tgid)))
  WHERE ((r.flow_id = 2) AND (r.state <> ALL (ARRAY['f'::"char", 'c'::"char"])));

ALTER TABLE wf_98db33d0ca6b4094.wed_reservation OWNER TO CURRENT_USER;

CREATE VIEW wf_98db33d0ca6b4094.wed_resource AS
 SELECT
        CASE
            WHEN (s.resource ~~ '#%'::text) THEN NULL::text
            ELSE s.resource
        END AS resource,
    s.key,
    s.capacity,
    s.minimum,
    ( SELECT COALESCE(sum(v.amount), (0)::numeric) AS "coalesce"
           FROM wed.reservation v
          WHERE ((v.tenant_id = s.tenant_id) AND (v.resource = s.resource) AND (v.key = s.key) AND v.held)) AS held
   FROM wed.resource s
  WHERE ((s.tenant_id = 1) AND ((s.resource = '#2'::text) OR (s.resource IN ( SELECT c.resource
           FROM wed.trigger_constraint c
          WHERE (c.flow_id = 2)))));

ALTER TABLE wf_98db33d0ca6b4094.wed_resource OWNER TO CURRENT_USER;

CREATE VIEW wf_98db33d0ca6b4094.wed_trace AS
 SELECT trace.wid,
    (trace.state)::jsonb AS state,
    trace.trf,
    trace.trw,
    trace.status,
    trace.tstmp,
    trace.seq,
    trace.tgid,
    trace.attempt,
    trace.writer,
    trace.note,
    trace.fuel,
    trace.elapsed_us,
    trace.memory_bytes
   FROM wed.trace
  WHERE (trace.flow_id = 2);

ALTER TABLE wf_98db33d0ca6b4094.wed_trace OWNER TO CURRENT_USER;

CREATE TABLE wf_98db33d0ca6b4094.wed_trig (
    tgid integer NOT NULL,
    tgname text,
    enabled boolean DEFAULT true NOT NULL,
    trname text,
    cname text,
    cpred text NOT NULL,
    cfinal boolean DEFAULT false NOT NULL,
    timeout interval DEFAULT '00:01:00'::interval NOT NULL,
    attempts integer DEFAULT 3 NOT NULL,
    backoff interval DEFAULT '00:00:01'::interval NOT NULL,
    delay interval DEFAULT '00:00:00'::interval NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    recheck boolean DEFAULT true NOT NULL,
    writes text[],
    reserves text,
    quantity text,
    resource text,
    holds text,
    consumes boolean DEFAULT false NOT NULL,
    after text
);

ALTER TABLE wf_98db33d0ca6b4094.wed_trig OWNER TO CURRENT_USER;

CREATE VIEW wf_cb605d367e08421f.job_pool AS
 SELECT j.wid,
    j.tgid,
    j.trname,
    ('host:'::text || j.host_id) AS lckid,
    j.timeout,
    (COALESCE(j.payload, ( SELECT r.state
           FROM wed.trace r
          WHERE ((r.flow_id = j.flow_id) AND (r.wid = j.wid) AND (r.seq = j.seq) AND (r.tstmp = j.fired_at)))))::jsonb AS payload,
    j.attempt,
    j.due,
    j.priority,
    COALESCE(j.waits_for,
        CASE
            WHEN (j.blocked IS NOT NULL) THEN wed.waits_on(j.flow_id, j.wid, j.tgid)
            ELSE NULL::text
        END, ( SELECT 'its tenant''s fuel_per_minute'::text
           FROM wed.usage u
          WHERE ((u.tenant_id = j.tenant_id) AND u.resting AND (j.host_id IS NULL) AND (j.component_id IS NOT NULL)))) AS waits_for
   FROM wed.job j
  WHERE (j.flow_id = 1);

ALTER TABLE wf_cb605d367e08421f.job_pool OWNER TO CURRENT_USER;

CREATE VIEW wf_cb605d367e08421f.wed_attempt AS
 SELECT attempt.wid,
    attempt.tgid,
    attempt.trname,
    attempt.attempt,
    attempt.outcome,
    attempt.message,
    attempt.writer,
    attempt.tstmp,
    attempt.fuel,
    attempt.elapsed_us,
    attempt.memory_bytes
   FROM wed.attempt
  WHERE (attempt.flow_id = 1);

ALTER TABLE wf_cb605d367e08421f.wed_attempt OWNER TO CURRENT_USER;

CREATE TABLE wf_cb605d367e08421f.wed_attr (
    aname text NOT NULL,
    adv text,
    atype text DEFAULT 'text'::text NOT NULL,
    open boolean DEFAULT false NOT NULL
);

ALTER TABLE wf_cb605d367e08421f.wed_attr OWNER TO CURRENT_USER;

CREATE TABLE wf_cb605d367e08421f.wed_flow (
    wid integer NOT NULL,
    a1 text DEFAULT '0'::text,
    a2 text DEFAULT '0'::text,
    a3 text DEFAULT '0'::text,
    CONSTRAINT bytes CHECK (((pg_column_size(wed_flow.*) <= 262144) OR wed_bounded.refuse_row(wed_flow.*)))
)
WITH (fillfactor='70', autovacuum_analyze_threshold='20000', autovacuum_vacuum_threshold='20000');
ALTER TABLE ONLY wf_cb605d367e08421f.wed_flow ALTER COLUMN a1 SET STORAGE EXTERNAL;
ALTER TABLE ONLY wf_cb605d367e08421f.wed_flow ALTER COLUMN a2 SET STORAGE EXTERNAL;
ALTER TABLE ONLY wf_cb605d367e08421f.wed_flow ALTER COLUMN a3 SET STORAGE EXTERNAL;

ALTER TABLE wf_cb605d367e08421f.wed_flow OWNER TO CURRENT_USER;

ALTER TABLE wf_cb605d367e08421f.wed_flow ALTER COLUMN wid ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME wf_cb605d367e08421f.wed_flow_wid_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW wf_cb605d367e08421f.wed_instance AS
 SELECT instance.wid,
    instance.status,
    instance.started,
    instance.changed
   FROM wed.instance
  WHERE (instance.flow_id = 1);

ALTER TABLE wf_cb605d367e08421f.wed_instance OWNER TO CURRENT_USER;

CREATE VIEW wf_cb605d367e08421f.wed_order AS
 SELECT p.precedence_id,
    p.wid,
    COALESCE(t.tgname, t.trname) AS trigger,
    p.after,
    p.actor,
    p.added_at
   FROM (wed.precedence p
     JOIN wed.trigger t USING (tgid))
  WHERE (p.flow_id = 1);

ALTER TABLE wf_cb605d367e08421f.wed_order OWNER TO CURRENT_USER;

CREATE VIEW wf_cb605d367e08421f.wed_reservation AS
 SELECT r.wid,
    r.tgid,
    t.tgname,
    t.trname,
        CASE
            WHEN (v.resource ~~ '#%'::text) THEN NULL::text
            ELSE v.resource
        END AS resource,
    v.key,
    v.amount,
    COALESCE(v.held, false) AS held,
    r.holds,
    r.asked_at,
    r.granted_at
   FROM ((wed.request r
     JOIN wed.reservation v USING (request_id))
     JOIN wed.trigger t ON ((t.tgid = r.tgid)))
  WHERE ((r.flow_id = 1) AND (r.state <> ALL (ARRAY['f'::"char", 'c'::"char"])));

ALTER TABLE wf_cb605d367e08421f.wed_reservation OWNER TO CURRENT_USER;

CREATE VIEW wf_cb605d367e08421f.wed_resource AS
 SELECT
        CASE
            WHEN (s.resource ~~ '#%'::text) THEN NULL::text
            ELSE s.resource
        END AS resource,
    s.key,
    s.capacity,
    s.minimum,
    ( SELECT COALESCE(sum(v.amount), (0)::numeric) AS "coalesce"
           FROM wed.reservation v
          WHERE ((v.tenant_id = s.tenant_id) AND (v.resource = s.resource) AND (v.key = s.key) AND v.held)) AS held
   FROM wed.resource s
  WHERE ((s.tenant_id = 1) AND ((s.resource = '#1'::text) OR (s.resource IN ( SELECT c.resource
           FROM wed.trigger_constraint c
          WHERE (c.flow_id = 1)))));

ALTER TABLE wf_cb605d367e08421f.wed_resource OWNER TO CURRENT_USER;

CREATE VIEW wf_cb605d367e08421f.wed_trace AS
 SELECT trace.wid,
    (trace.state)::jsonb AS state,
    trace.trf,
    trace.trw,
    trace.status,
    trace.tstmp,
    trace.seq,
    trace.tgid,
    trace.attempt,
    trace.writer,
    trace.note,
    trace.fuel,
    trace.elapsed_us,
    trace.memory_bytes
   FROM wed.trace
  WHERE (trace.flow_id = 1);

ALTER TABLE wf_cb605d367e08421f.wed_trace OWNER TO CURRENT_USER;

CREATE TABLE wf_cb605d367e08421f.wed_trig (
    tgid integer NOT NULL,
    tgname text,
    enabled boolean DEFAULT true NOT NULL,
    trname text,
    cname text,
    cpred text NOT NULL,
    cfinal boolean DEFAULT false NOT NULL,
    timeout interval DEFAULT '00:01:00'::interval NOT NULL,
    attempts integer DEFAULT 3 NOT NULL,
    backoff interval DEFAULT '00:00:01'::interval NOT NULL,
    delay interval DEFAULT '00:00:00'::interval NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    recheck boolean DEFAULT true NOT NULL,
    writes text[],
    reserves text,
    quantity text,
    resource text,
    holds text,
    consumes boolean DEFAULT false NOT NULL,
    after text
);

ALTER TABLE wf_cb605d367e08421f.wed_trig OWNER TO CURRENT_USER;

ALTER TABLE ONLY wed.trace ATTACH PARTITION wed.trace_20261124 FOR VALUES FROM ('2026-11-24 00:00:00+00') TO ('2026-11-25 00:00:00+00');

ALTER TABLE ONLY wed.trace ATTACH PARTITION wed.trace_20261125 FOR VALUES FROM ('2026-11-25 00:00:00+00') TO ('2026-11-26 00:00:00+00');

ALTER TABLE ONLY wed.trace ATTACH PARTITION wed.trace_20261126 FOR VALUES FROM ('2026-11-26 00:00:00+00') TO ('2026-11-27 00:00:00+00');

ALTER TABLE ONLY wed.trace ATTACH PARTITION wed.trace_else DEFAULT;

INSERT INTO public._sqlx_migrations VALUES
	(1, 'system', '2026-11-24 08:00:22.866356+00', true, '\xe1d92fc6f71417b77f85ffca962350446bd246a6dcd1d9c45e5c0728a9f470acd8a00378b17f6fdbb4c3ecd970dbe810', 50840142),
	(2, 'condition', '2026-11-24 08:00:22.918256+00', true, '\x5dfbc38e00dd8a7f38077a4fddd890b8c1fdb324457bee7c510fbd13a65da99f5a7d562e6cf4b0511174db65de614c25', 8963421),
	(3, 'setting', '2026-11-24 08:00:22.927461+00', true, '\x55a8c1f9060153610b53ceb5d522d073085426b302f050e2bf72b51863226c600471aaf5510eca61e71796045863179b', 15331130),
	(4, 'recording', '2026-11-24 08:00:22.946728+00', true, '\x1052444b53ef13e2dadd3a201ba5de52e23b8cc2bcd3e9b24b625877b79e8f187420bbc64afa1e999184a19b437bd13e', 11000664),
	(5, 'tenancy', '2026-11-24 08:00:22.95421+00', true, '\x5e257b187e3a3865f50c26d5fe2557da92d984b401d61358bb0b585fd6f76ff20b1a19cb50bc4533336f2bab536e917b', 32931527),
	(6, 'containment', '2026-11-24 08:00:22.991122+00', true, '\xbc2b2ad255c52ba9687b0646ca29f6315197c5581d281bd3dab23eb322a1df92fee65d72367e553bc7505fccf374af8b', 14526416),
	(7, 'functions', '2026-11-24 08:00:23.005949+00', true, '\xfe93ccb94c3ee77bed50a74ab0f3c3bff1f995264f36a3c1e298e9587350f51b3f6fac4f4c9140d1cc63711a3c3378fc', 3854780),
	(8, 'job delayed', '2026-11-24 08:00:23.010125+00', true, '\xd717cad027eaf20380121614a1e7fec952781ab03c24e98108a3639d59f6ed8d86f0a30e5c16ce249b8f9dbb8f838951', 9215224),
	(9, 'recovery', '2026-11-24 08:00:23.026733+00', true, '\x14a9ba6faf30105496d89d7238765c592bae3b5c3ca2dfc011e03dd3bfca8a4d692a0e0bb3858a09281ece5be25e901d', 31854129),
	(10, 'going back', '2026-11-24 08:00:23.062757+00', true, '\xd2b969c64efe164fa1a6e42e9a7e0909a3d735018a643a6183ef42049e8cf6d760da6b7bde99ec05c8a9b5e2d51e6276', 11754783),
	(12, 'constraint', '2026-11-24 08:00:23.074737+00', true, '\x262746842a09b4695b73e8ea10c788d2829989fdac0260bea23388c7ceca641b29a4b48ed41f1ed52ecace23c685a538', 35259482),
	(13, 'process', '2026-11-24 08:00:23.11116+00', true, '\xf4dce7fcceafd498830cc20a429d286a40545a580d0ce15589d02af93440041bf133fe976922ea2958b94779238e7dc7', 10883941),
	(14, 'worklist', '2026-11-24 08:00:23.122212+00', true, '\xdb29ef20f4b504880b223a6ce3a4d7ed00ba7ddff026fe51e5e065cfc758ff02b73b6f4be4a78f8044101ef351fa14fb', 57744298);

INSERT INTO wed.allowed_function VALUES
	('abs'),
	('acos'),
	('age'),
	('array_append'),
	('array_cat'),
	('array_dims'),
	('array_length'),
	('array_lower'),
	('array_ndims'),
	('array_position'),
	('array_positions'),
	('array_prepend'),
	('array_remove'),
	('array_replace'),
	('array_to_json'),
	('array_to_string'),
	('array_upper'),
	('ascii'),
	('asin'),
	('atan'),
	('atan2'),
	('bit_length'),
	('btrim'),
	('cardinality'),
	('cbrt'),
	('ceil'),
	('ceiling'),
	('char_length'),
	('character_length'),
	('chr'),
	('concat'),
	('concat_ws'),
	('cos'),
	('cot'),
	('date'),
	('date_bin'),
	('date_part'),
	('date_trunc'),
	('daterange'),
	('decode'),
	('degrees'),
	('div'),
	('encode'),
	('exp'),
	('extract'),
	('floor'),
	('format'),
	('gcd'),
	('initcap'),
	('int4range');
INSERT INTO wed.allowed_function VALUES
	('int8range'),
	('isempty'),
	('isfinite'),
	('json_array_length'),
	('json_build_array'),
	('json_build_object'),
	('json_extract_path'),
	('json_extract_path_text'),
	('json_strip_nulls'),
	('json_typeof'),
	('jsonb_array_length'),
	('jsonb_build_array'),
	('jsonb_build_object'),
	('jsonb_contains'),
	('jsonb_exists'),
	('jsonb_exists_all'),
	('jsonb_exists_any'),
	('jsonb_extract_path'),
	('jsonb_extract_path_text'),
	('jsonb_insert'),
	('jsonb_object'),
	('jsonb_path_exists'),
	('jsonb_path_match'),
	('jsonb_path_query_first'),
	('jsonb_set'),
	('jsonb_strip_nulls'),
	('jsonb_typeof'),
	('justify_days'),
	('justify_hours'),
	('justify_interval'),
	('lcm'),
	('left'),
	('length'),
	('like_escape'),
	('ln'),
	('log'),
	('log10'),
	('lower'),
	('lower_inc'),
	('lower_inf'),
	('lpad'),
	('ltrim'),
	('make_date'),
	('make_interval'),
	('make_time'),
	('make_timestamp'),
	('make_timestamptz'),
	('md5'),
	('min_scale'),
	('mod');
INSERT INTO wed.allowed_function VALUES
	('now'),
	('num_nonnulls'),
	('num_nulls'),
	('numrange'),
	('octet_length'),
	('overlaps'),
	('overlay'),
	('pi'),
	('position'),
	('pow'),
	('power'),
	('radians'),
	('range_merge'),
	('regexp_count'),
	('regexp_instr'),
	('regexp_like'),
	('regexp_match'),
	('regexp_replace'),
	('regexp_split_to_array'),
	('regexp_substr'),
	('repeat'),
	('replace'),
	('reverse'),
	('right'),
	('round'),
	('rpad'),
	('rtrim'),
	('scale'),
	('sha224'),
	('sha256'),
	('sha384'),
	('sha512'),
	('sign'),
	('similar_to_escape'),
	('sin'),
	('split_part'),
	('sqrt'),
	('starts_with'),
	('statement_timestamp'),
	('string_to_array'),
	('strpos'),
	('substr'),
	('substring'),
	('tan'),
	('timezone'),
	('to_char'),
	('to_date'),
	('to_hex'),
	('to_json'),
	('to_jsonb');
INSERT INTO wed.allowed_function VALUES
	('to_number'),
	('to_timestamp'),
	('transaction_timestamp'),
	('translate'),
	('trim_array'),
	('trim_scale'),
	('trunc'),
	('tsrange'),
	('tstzrange'),
	('upper'),
	('upper_inc'),
	('upper_inf'),
	('width_bucket');

INSERT INTO wed.allowed_type VALUES
	('text'),
	('varchar'),
	('unknown'),
	('int2'),
	('int4'),
	('int8'),
	('numeric'),
	('float4'),
	('float8'),
	('bool'),
	('date'),
	('time'),
	('timetz'),
	('timestamp'),
	('timestamptz'),
	('interval'),
	('uuid'),
	('jsonb'),
	('json'),
	('bytea'),
	('bpchar'),
	('jsonpath'),
	('int4range'),
	('int8range'),
	('numrange'),
	('daterange'),
	('tsrange'),
	('tstzrange');

INSERT INTO wed.audit OVERRIDING SYSTEM VALUE VALUES
	(1, '2026-11-24 08:00:23.757138+00', 1, 'default', 'operator:postgres', 'flow.apply', 'counters', '{"created": true, "warnings": ["component counters was not uploaded: transition tr_a1 waits until it is", "component counters was not uploaded: transition tr_a2 waits until it is", "component counters was not uploaded: transition tr_a3 waits until it is"], "triggers_added": ["t1", "t2", "t3"], "attributes_kept": [], "attributes_added": ["a1", "a2", "a3"], "triggers_changed": [], "triggers_removed": [], "transitions_bound": ["tr_a1 by counters", "tr_a2 by counters", "tr_a3 by counters"], "triggers_disabled": [], "components_missing": ["counters"], "transitions_unbound": []}'),
	(2, '2026-11-24 08:00:24.257848+00', 1, 'default', 'operator:postgres', 'component.push', 'counters', '{"bytes": 84672, "digest": "762decdb5d8829cd4ad3d5d7703c904ebe48aa68e223d420e6d09b157eb80e38", "version": 1}'),
	(3, '2026-11-24 08:00:49.657508+00', 1, 'default', 'operator:postgres', 'flow.create', 'paper', '{}'),
	(4, '2026-11-24 08:00:50.020965+00', 2, 'acme', 'operator:postgres', 'tenant.create', 'acme', '{}'),
	(5, '2026-11-24 08:00:50.114123+00', 2, 'acme', 'operator:postgres', 'flow.create', 'rest', '{}'),
	(6, '2026-11-24 08:00:50.435981+00', 2, 'acme', 'operator:postgres', 'tenant.suspend', 'acme', '{}');

INSERT INTO wed.binding VALUES
	(1, 'tr_a1', 'counters'),
	(1, 'tr_a2', 'counters'),
	(1, 'tr_a3', 'counters');

INSERT INTO wed.component OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'counters', 1, '762decdb5d8829cd4ad3d5d7703c904ebe48aa68e223d420e6d09b157eb80e38', decode('AGFzbQ0AAQAHMwFCAgFABAVmaXJzdHcGc2Vjb25kdwV0aGlyZHcGZm91cnRodwEABAAIcGFuaWNrZWQBAAoYAQATd2VkOmZsb3cvaG9zdEAwLjEuMAUAB6wBAUIFAXEMBG51bGwAAAR0ZXh0AXMAB2ludGVnZXIBegAGYmlnaW50AXgAB251bWVyaWMBcwAFZmxvYXQBdQAHYm9vbGVhbgF/AAt0aW1lc3RhbXB0egF4AARkYXRlAXoACGludGVydmFsAXMABHV1aWQBcwAFanNvbmIBcwAEAAZzY2FsYXIDAAABcAEBcQIGc2NhbGFyAQEABGxpc3QBAgAEAAV2YWx1ZQMAAwoaAQAVd2VkOmZsb3cvdmFsdWVzQDAuMS4wBQEGCgEDAAEFdmFsdWUHvgMBQhkBcgIEbmFtZXMEa2luZHMEAAlhdHRyaWJ1dGUDAAABcAEBawIBa3MBa3cBcggKdHJhbnNpdGlvbnMLZGVzY3JpcHRpb25zBXJlYWRzAwZ3cml0ZXMDCWNvbmRpdGlvbgQHdGltZW91dAUEZnVlbAUGbWVtb3J5BQQAC2RlY2xhcmF0aW9uAwAGAXAHAXIDBG5hbWVzA3Nka3MLdHJhbnNpdGlvbnMIBAAIbWFuaWZlc3QDAAkCAwIBAgQABXZhbHVlAwALAXAMAXIHBGZsb3dzA3dpZHoHdHJpZ2dlcnMKdHJhbnNpdGlvbnMHYXR0ZW1wdHkIZGVhZGxpbmV4BXN0YXRlDQQAB3BheWxvYWQDAA4BcgIJYXR0cmlidXRleQV2YWx1ZQwEAAphc3NpZ25tZW50AwAQAXICBnJlYXNvbnMFYWZ0ZXIFBAAMcG9zdHBvbmVtZW50AwASAXICB21lc3NhZ2VzBXJldHJ5fwQAB2ZhaWx1cmUDABQBcBEBcQQKc2V0LWNsYXVzZQFzAAthc3NpZ25tZW50cwEWAAVhYm9ydAETAARmYWlsARUABAAHb3V0Y29tZQMAFwoZAQAUd2VkOmZsb3cvdHlwZXNAMC4xLjAFAwYNAQMAAghtYW5pZmVzdAoOAQAIbWFuaWZlc3QDAAQGDAEDAAIHcGF5bG9hZAoNAQAHcGF5bG9hZAMABgYMAQMAAgdvdXRjb21lCg0BAAdvdXRjb21lAwAIAdiIBQBhc20BAAAAAaoBFmADf39/AX9gAn9/AX9gBH5+fn4AYAAAYAJ/fwBgAX8AYAZ/f39/f38AYAABf2ALf39/f39/f39+f38Bf2AFf39/f38AYAN/f38AYAR/f39/AX9gAn9+AGAEf39/fwBgCH9/f39/f39/AGAHf39/f39/fwBgBH98f38Bf2AGf39/f39/AX9gBX9/f39/AX9gBH9+f38AYAl/f39/f39+fn4AYAV/fn5+fgACIAETd2VkOmZsb3cvaG9zdEAwLjEuMAhwYW5pY2tlZAACA3RzAwEEBAQFBQYEBQUFBwgEAwEJCgsFAQwJAQABCgENDQUEBAENDQ0FBQEBAQEBCgMDAQAABQUEBgALAwoFCgQNBAQDCgEBAAAOBgoJCQ8BEA0NEA0QCgEBCwoAAREBEgAAABMBCQENAQ0FFAEBAQEBAQAVAAQFAXABHh4FAwEAAwZMDX8BQYCACAt/AEEAC38AQeitCAt/AEGQrggLfwBBAQt/AEEEC38AQQgLfwBBCQt/AEGUkAgLfwBBFAt/AEEaC38AQfCWCAt/AEEUCwdPBgZtZW1vcnkCABJjYWJpX3Bvc3RfZGVzY3JpYmUACw1jYWJpX3Bvc3RfcnVuAAwIZGVzY3JpYmUADQNydW4ADgxjYWJpX3JlYWxsb2MAOQkjAQBBAQsdAhYdbSMpKissLRswODEyNRoZM2M8RkVHRGdlV24KwY4EcwIACxkAIAEjgYCAgABBgICIgABqQQsQ4YCAgAALoAUCCX8EfiOAgICAAEHwAGsiAiSAgICAACABKAIkIQMgASgCICEEIAEoAhghBSABKAIUIQYgASgCDCEHIAEoAgghCCABKAIsIQkgAiABKAIwIgogASgCNEEEdGo2AiQgAiAJNgIgIAIgCjYCHCACIAo2AhggAkHAAGogAkEYahC2gICAAAJAAkACQAJAAkAgAigCSCIBQYKU69wDRw0AEJCAgIAAQRxBARCRgICAACIBDQFBAUEcEL6AgIAAAAsgAiACKAJYIgo2AjggAiACKQNQNwMwIAIoAkwhCSACKQNAIQsMAQsgASOBgICAACIJQd+LiIAAaiIKKAAYNgAYIAEgCikAEDcAECABIAopAAg3AAggASAKKQAANwAAIAJBHDYCbCACIAE2AmggAkKAgICAwAM3AmAgAkEYaiACQeAAaiAJQYSliIAAakEBEKaAgIAAIAIpAxhCAVINASACLQA4IQogAigCLCEJIAIoAighASACKQMgIQsLQgAhDCACKQMwIQ0CQAJAAkAgAUGA7JSjfGoOAgIAAQsgACAKOgAUIAAgDTcCDCAAIAk2AgggAEIFNwMADAMLIAIgC0IAQsCEPUIAEPKAgIAAIAIpAwAiDCABQegHbq18Ig5CfyACKQMIIA4gDFStfFAbIQ5CASEMCyAAIAo6ABggACANNwMQIAAgDjcDCCAAIAw3AwAgACACQTlqIgEvAAA7ABkgACABLQACOgAbDAELIAAgAkEgaiIBKQMYNwMYIAAgASkDEDcDECAAIAEpAwg3AwggACABKQMANwMACwJAIAhFDQAgByAIQQEQk4CAgAALAkAgBkUNACAFIAZBARCTgICAAAsCQCAERQ0AIAMgBEEBEJOAgIAACyACQfAAaiSAgICAAAugBQIJfwR+I4CAgIAAQfAAayICJICAgIAAIAEoAiQhAyABKAIgIQQgASgCGCEFIAEoAhQhBiABKAIMIQcgASgCCCEIIAEoAiwhCSACIAEoAjAiCiABKAI0QQR0ajYCJCACIAk2AiAgAiAKNgIcIAIgCjYCGCACQcAAaiACQRhqELaAgIAAAkACQAJAAkACQCACKAJIIgFBgpTr3ANHDQAQkICAgABBHEEBEJGAgIAAIgENAUEBQRwQvoCAgAAACyACIAIoAlgiCjYCOCACIAIpA1A3AzAgAigCTCEJIAIpA0AhCwwBCyABI4GAgIAAIglB+4uIgABqIgooABg2ABggASAKKQAQNwAQIAEgCikACDcACCABIAopAAA3AAAgAkEcNgJsIAIgATYCaCACQoCAgIDAAzcCYCACQRhqIAJB4ABqIAlBlKWIgABqQQEQpoCAgAAgAikDGEIBUg0BIAItADghCiACKAIsIQkgAigCKCEBIAIpAyAhCwtCACEMIAIpAzAhDQJAAkACQCABQYDslKN8ag4CAgABCyAAIAo6ABQgACANNwIMIAAgCTYCCCAAQgU3AwAMAwsgAiALQgBCwIQ9QgAQ8oCAgAAgAikDACIMIAFB6AdurXwiDkJ/IAIpAwggDiAMVK18UBshDkIBIQwLIAAgCjoAGCAAIA03AxAgACAONwMIIAAgDDcDACAAIAJBOWoiAS8AADsAGSAAIAEtAAI6ABsMAQsgACACQSBqIgEpAxg3AxggACABKQMQNwMQIAAgASkDCDcDCCAAIAEpAwA3AwALAkAgCEUNACAHIAhBARCTgICAAAsCQCAGRQ0AIAUgBkEBEJOAgIAACwJAIARFDQAgAyAEQQEQk4CAgAALIAJB8ABqJICAgIAAC6AFAgl/BH4jgICAgABB8ABrIgIkgICAgAAgASgCJCEDIAEoAiAhBCABKAIYIQUgASgCFCEGIAEoAgwhByABKAIIIQggASgCLCEJIAIgASgCMCIKIAEoAjRBBHRqNgIkIAIgCTYCICACIAo2AhwgAiAKNgIYIAJBwABqIAJBGGoQtoCAgAACQAJAAkACQAJAIAIoAkgiAUGClOvcA0cNABCQgICAAEEcQQEQkYCAgAAiAQ0BQQFBHBC+gICAAAALIAIgAigCWCIKNgI4IAIgAikDUDcDMCACKAJMIQkgAikDQCELDAELIAEjgYCAgAAiCUHDi4iAAGoiCigAGDYAGCABIAopABA3ABAgASAKKQAINwAIIAEgCikAADcAACACQRw2AmwgAiABNgJoIAJCgICAgMADNwJgIAJBGGogAkHgAGogCUGkpYiAAGpBARCmgICAACACKQMYQgFSDQEgAi0AOCEKIAIoAiwhCSACKAIoIQEgAikDICELC0IAIQwgAikDMCENAkACQAJAIAFBgOyUo3xqDgICAAELIAAgCjoAFCAAIA03AgwgACAJNgIIIABCBTcDAAwDCyACIAtCAELAhD1CABDygICAACACKQMAIgwgAUHoB26tfCIOQn8gAikDCCAOIAxUrXxQGyEOQgEhDAsgACAKOgAYIAAgDTcDECAAIA43AwggACAMNwMAIAAgAkE5aiIBLwAAOwAZIAAgAS0AAjoAGwwBCyAAIAJBIGoiASkDGDcDGCAAIAEpAxA3AxAgACABKQMINwMIIAAgASkDADcDAAsCQCAIRQ0AIAcgCEEBEJOAgIAACwJAIAZFDQAgBSAGQQEQk4CAgAALAkAgBEUNACADIARBARCTgICAAAsgAkHwAGokgICAgAALjQMBBX8CQAJAAkAgACgCACIBQYuAgIB4Rg0AAkACQAJAAkACQCABQYCAgIB4c0ELIAFBAEgbDgsHAQcHAgcHBwcDBAALIAFFDQZBBCECDAULIAAoAgQiAUUNBUEIIQIMBAsgACgCBCIBRQ0EQQghAgwDCyAAKAIEIgFFDQNBCCECDAILIAAoAgQiAUUNAkEIIQIMAQsgACgCCCEDAkAgACgCDCIERQ0AIAMhAQNAAkACQAJAAkACQAJAAkAgASgCACICQYCAgIB4c0ELIAJBAEgbDgsGAQYGAgYGBgYDBAALIAJFDQVBBCEFDAQLIAFBBGooAgAiAkUNBEEIIQUMAwsgAUEEaigCACICRQ0DQQghBQwCCyABQQRqKAIAIgJFDQJBCCEFDAELIAFBBGooAgAiAkUNAUEIIQULIAEgBWooAgAgAkEBEJOAgIAACyABQRBqIQEgBEF/aiIEDQALCyAAKAIEIgFFDQEgAyABQQR0QQgQk4CAgAAPCyAAIAJqKAIAIAFBARCTgICAAAsLfwEDfyOAgICAAEEQayIBJICAgIAAIAFBBGogACgCACICIAAoAgQgAkEBdCICQQQgAkEESxsiAkEIQRAQiICAgAACQCABKAIEQQFHDQAgASgCCCABKAIMEL6AgIAAAAsgASgCCCEDIAAgAjYCACAAIAM2AgQgAUEQaiSAgICAAAu2AQICfwF+QQEhBkEEIQcCQAJAIAWtIAOtfiIIQiCIp0UNAEEAIQMMAQsCQCAIpyIDQYCAgIB4IARrTQ0AQQAhAwwBCwJAAkACQAJAIAFFDQAgAiAFIAFsIAQgAxCUgICAACEHDAELAkAgAw0AIAQhBwwCCxCQgICAACADIAQQkYCAgAAhBwsgBw0AIAAgBDYCBAwBCyAAIAc2AgRBACEGC0EIIQcLIAAgB2ogAzYCACAAIAY2AgALvgIBA38gASgCJCECAkACQAJAIAEoAigiA0EFRw0AAkAgAigAAEH05P2KBnMgAkEEaiIELQAAQTFzcg0AIAAgARCFgICAAA8LAkAgAigAAEH05P2KBnMgBC0AAEEyc3INACAAIAEQg4CAgAAPCyACKAAAQfTk/YoGcyACQQRqLQAAQTNzckUNAQsgACACIAMQnICAgAACQCABKAIIIgBFDQAgASgCDCAAQQEQk4CAgAALAkAgASgCFCIARQ0AIAEoAhggAEEBEJOAgIAACwJAIAEoAiAiAEUNACACIABBARCTgICAAAsgASgCMCEDAkAgASgCNCIARQ0AIAMhAgNAIAIQhoCAgAAgAkEQaiECIABBf2oiAA0ACwsgASgCLCICRQ0BIAMgAkEEdEEIEJOAgIAADwsgACABEISAgIAACwu7CgENfyOAgICAAEEQayIBJICAgIAAEJCAgIAAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkBB0AJBCBCRgICAACICRQ0AEJCAgIAAQQVBARCRgICAACIDRQ0BIAMjgYCAgABBsYCIgABqIgQtAAQ6AAQgAyAEKAAANgAAEJCAgIAAQQpBARCRgICAACIFRQ0CIAUjgYCAgABBtoCIgABqIgQvAAg7AAggBSAEKQAANwAAEJCAgIAAQRhBBBCRgICAACIERQ0DEJCAgIAAQQJBARCRgICAACIGRQ0EIAZB4eIAOwAAEJCAgIAAQQRBARCRgICAACIHRQ0FIARBBDYCFCAEIAc2AhAgBEKCgICAwAA3AgggBCAGNgIEIARBAjYCACAHQfTK4aMHNgAAEJCAgIAAQQVBARCRgICAACIIRQ0GIAgjgYCAgABBi4CIgABqIgYtAAQ6AAQgCCAGKAAANgAAEJCAgIAAQQpBARCRgICAACIJRQ0HIAkjgYCAgABBkICIgABqIgYvAAg7AAggCSAGKQAANwAAEJCAgIAAQRhBBBCRgICAACIGRQ0IEJCAgIAAQQJBARCRgICAACIHRQ0JIAdB4eQAOwAAEJCAgIAAQQRBARCRgICAACIKRQ0KIAZBBDYCFCAGIAo2AhAgBkKCgICAwAA3AgggBiAHNgIEIAZBAjYCACAKQfTK4aMHNgAAEJCAgIAAQQVBARCRgICAACIKRQ0LIAojgYCAgABBoICIgABqIgctAAQ6AAQgCiAHKAAANgAAEJCAgIAAQQpBARCRgICAACILRQ0MIAsjgYCAgABBpYCIgABqIgcvAAg7AAggCyAHKQAANwAAEJCAgIAAQRhBBBCRgICAACIHRQ0NEJCAgIAAQQJBARCRgICAACIMRQ0OIAxB4eYAOwAAEJCAgIAAQQRBARCRgICAACINRQ0PIAdBBDYCFCAHIA02AhAgB0KCgICAwAA3AgggByAMNgIEIAdBAjYCACANQfTK4aMHNgAAIAJCgYCAgICAgICAfzcCvAIgAiAHNgK4AiACQQE2ArQCIAJCBDcCrAIgAkIKNwKkAiACIAs2AqACIAJChYCAgKABNwOYAiACIAo2ApQCIAJBBTYCkAIgAkIANwOAAiACQgA3A/ABIAJCADcD4AEgAkKBgICAgICAgIB/NwLMASACIAY2AsgBIAJBATYCxAEgAkIENwK8ASACQgo3ArQBIAIgCTYCsAEgAkKFgICAoAE3A6gBIAIgCDYCpAEgAkEFNgKgASACQgA3A5ABIAJCADcDgAEgAkIANwNwIAJCgYCAgICAgICAfzcCXCACIAQ2AlggAkEBNgJUIAJCBDcCTCACQgo3AkQgAiAFNgJAIAJChYCAgKABNwM4IAIgAzYCNCACQQU2AjAgAkIANwMgIAJCADcDECACQgA3AwAgAUEDNgIMIAEgAjYCCCABQQM2AgQgACOBgICAAEG7i4iAAGpBCCABQQRqEJ6AgIAAIAFBEGokgICAgAAPC0EIQdACEMGAgIAAAAtBAUEFEL6AgIAAAAtBAUEKEL6AgIAAAAtBBEEYEL6AgIAAAAtBAUECEL6AgIAAAAtBAUEEEL6AgIAAAAtBAUEFEL6AgIAAAAtBAUEKEL6AgIAAAAtBBEEYEL6AgIAAAAtBAUECEL6AgIAAAAtBAUEEEL6AgIAAAAtBAUEFEL6AgIAAAAtBAUEKEL6AgIAAAAtBBEEYEL6AgIAAAAtBAUECEL6AgIAAAAtBAUEEEL6AgIAAAAuRAwEHfyAAKAIAIAAoAgRBARCugICAACAAKAIIIAAoAgxBARCugICAACAAKAIQIQECQCAAKAIUIgJFDQBBACEDA0AgASADQegAbGoiBCgCACAEKAIEQQEQroCAgAAgBCgCCCAEKAIMQQEQroCAgAACQCAELQAQRQ0AIAQoAhgiBSEGIAQoAhQiByEAAkAgBUUNAANAIAAoAgAgAEEEaigCAEEBEK6AgIAAIABBCGooAgAgAEEMaigCAEEBEK6AgIAAIABBEGohACAGQX9qIgYNAAsLIAcgBUEEdEEEEK6AgIAACwJAIAQtABxFDQAgBCgCJCIFIQYgBCgCICIHIQACQCAFRQ0AA0AgACgCACAAQQRqKAIAQQEQroCAgAAgAEEIaigCACAAQQxqKAIAQQEQroCAgAAgAEEQaiEAIAZBf2oiBg0ACwsgByAFQQR0QQQQroCAgAALAkAgBC0AKEUNACAEKAIsIAQoAjBBARCugICAAAsgA0EBaiIDIAJHDQALCyABIAJB6ABsQQgQroCAgAALhgMBB38gACgCDCEBIAAoAgghAgJAAkACQAJAIAAtAAAOAwABAgMLIAIgAUEBEK6AgIAADwsCQCABRQ0AQQAhAwNAAkACQCACIANBBXRqIgAtAAgNAAJAAkACQAJAAkAgAC0AEA4LBgEGBgIGBgYGAwQACyAAKAIYIAAoAhxBARCugICAAAwFCyAAKAIYIAAoAhxBARCugICAAAwECyAAKAIYIAAoAhxBARCugICAAAwDCyAAKAIYIAAoAhxBARCugICAAAwCCyAAKAIYIAAoAhxBARCugICAAAwBCyAAKAIUIgQhBSAAKAIQIgYhAAJAIARFDQADQAJAAkAgAC0AACIHQQhLDQBBASAHdEHtA3ENAQsgAEEIaigCACAAQQxqKAIAQQEQroCAgAALIABBEGohACAFQX9qIgUNAAsLIAYgBEEEdEEIEK6AgIAACyADQQFqIgMgAUcNAAsLIAIgAUEFdEEIEK6AgIAADwsgAiABQQEQroCAgAAPCyACIAFBARCugICAAAu4EwcPfwJ+B38FfgN/AX4CfyOAgICAAEHAAGsiACSAgICAABCvgICAACAAQQxqEIqAgIAAIAAoAiwhASAAKAIkIQIgACgCKCEDIAAoAiAhBCAAKAIcIQUgACgCGCEGIAAoAhAhBwJAAkACQAJAAkAgACgCDCIIIAAoAhQiCUsNACAHIQoMAQsCQCAJDQBBASEKIAcgCEEBEJOAgIAADAELIAcgCEEBIAkQlICAgAAiCkUNAQsjgoCAgAAiByAKNgIAIAcgCTYCBAJAAkACQCAGIARLDQAgBSEJDAELAkAgBA0AQQEhCSAFIAZBARCTgICAAAwBCyAFIAZBASAEEJSAgIAAIglFDQELI4KAgIAAIgYgCTYCCCAGIAQ2AgwgAEEwakEIIAFB6ABsELuAgIAAIAMgAUHwAGxqIQsgACgCMCEMIAMhDSABRQ0CIAMhBEEAIQ4DQCAEQfAAaiENIAQpAwAiD0ICUQ0DIAQpAmQhECAEKAJgIREgBCgCXCESIAQoAlghEyAEKAJUIRQgBCgCUCEVIAQoAkwhFiAEKAJIIRcgBCgCRCEJIAQoAkAhCiAEKAI8IQYgBCgCNCEHIAQpAyghGCAEKQMgIRkgBCkDGCEaIAQpAxAhGyAEKQMIIRwCQAJAAkACQAJAAkACQAJAIAQoAjAiCCAEKAI4IgRLDQAgByEFDAELAkAgBA0AQQEhBSAHIAhBARCTgICAAAwBCyAHIAhBASAEEJSAgIAAIgVFDQELIAwgDkHoAGxqIgcgBTYCACAHIAQ2AgQCQAJAIAYgCUsNACAKIQQMAQsCQCAJDQBBASEEIAogBkEBEJOAgIAADAELIAogBkEBIAkQlICAgAAiBEUNAgsgByAENgIIIAcgCTYCDCAXQYCAgIB4Rg0EIAdBAToAECAAQTBqQQQgFUEEdBC7gICAACAWIBVBGGxqIR0gACgCMCIeIQYgFiEJIBYhBAJAAkAgFUUNAAJAA0AgCSgCACIFQYCAgIB4Rg0BIAlBFGooAgAhBCAJQRBqKAIAIR8gCUEMaigCACEKIAlBBGopAgAiIKchIQJAAkAgBSAgQiCIIiCnIghLDQAgISEiDAELAkAgIEIAUg0AQQEhIiAhIAVBARCTgICAAAwBCyAhIAVBASAIEJSAgIAAIiJFDQcLIAYgIjYCACAGQQRqIAg2AgACQAJAIAogBEsNACAfIQUMAQsCQCAEDQBBASEFIB8gCkEBEJOAgIAADAELIB8gCkEBIAQQlICAgAAiBUUNCAsgBkEIaiAFNgIAIAZBDGogBDYCACAGQRBqIQYgCUEYaiIJIB1HDQAMAwsLIAlBGGohBAsgHSAEa0EYbiEJIB0gBEYNAANAAkAgBCgCACIGRQ0AIARBBGooAgAgBkEBEJOAgIAACwJAIARBDGooAgAiBkUNACAEQRBqKAIAIAZBARCTgICAAAsgBEEYaiEEIAlBf2oiCQ0ACwsCQCAXRQ0AIBYgF0EYbEEEEJOAgIAACyAHIB42AhQgByAVNgIYDAULQQEgBBC+gICAAAALQQEgCRC+gICAAAALQQEgCBC+gICAAAALQQEgBBC+gICAAAALIAdBADoAEAsCQAJAIBRBgICAgHhGDQAgB0EBOgAcIABBMGpBBCASQQR0ELuAgIAAIBMgEkEYbGohHSAAKAIwIhUhBiATIQkgEyEEAkACQAJAAkAgEkUNAAJAA0AgCSgCACIFQYCAgIB4Rg0BIAlBFGooAgAhBCAJQRBqKAIAIR8gCUEMaigCACEKIAlBBGopAgAiIKchIQJAAkAgBSAgQiCIIiCnIghLDQAgISEiDAELAkAgIEIAUg0AQQEhIiAhIAVBARCTgICAAAwBCyAhIAVBASAIEJSAgIAAIiJFDQULIAYgIjYCACAGQQRqIAg2AgACQAJAIAogBEsNACAfIQUMAQsCQCAEDQBBASEFIB8gCkEBEJOAgIAADAELIB8gCkEBIAQQlICAgAAiBUUNBgsgBkEIaiAFNgIAIAZBDGogBDYCACAGQRBqIQYgCUEYaiIJIB1HDQAMAwsLIAlBGGohBAsgHSAEa0EYbiEJIB0gBEYNAANAAkAgBCgCACIGRQ0AIARBBGooAgAgBkEBEJOAgIAACwJAIARBDGooAgAiBkUNACAEQRBqKAIAIAZBARCTgICAAAsgBEEYaiEEIAlBf2oiCQ0ACwsCQCAURQ0AIBMgFEEYbEEEEJOAgIAACyAHIBU2AiAgByASNgIkDAMLQQEgCBC+gICAAAALQQEgBBC+gICAAAALIAdBADoAHAsCQAJAAkAgEUGAgICAeEYNACAQpyEEIAdBAToAKAJAIBEgEEIgiCIgpyIJTQ0AAkAgIEIAUg0AIAQgEUEBEJOAgIAAQQEhBAwBCyAEIBFBASAJEJSAgIAAIgRFDQMLIAcgBDYCLCAHIAk2AjAMAQsgB0EAOgAoC0EAIQRBACEJAkAgD6dBAXFFDQAgByAcNwNAQQEhCQsgByAJOgA4AkAgG6dBAXFFDQAgByAaNwNQQQEhBAsgByAEOgBIQQAhBAJAIBmnQQFxRQ0AIAcgGDcDYEEBIQQLIA5BAWohDiAHIAQ6AFggDSEEIA0gC0cNAQwFCwtBASAJEL6AgIAAAAtBASAEEL6AgIAAAAtBASAJEL6AgIAAAAsgCyANa0HwAG4hISALIA1GDQBBACEFA0ACQCANIAVB8ABsaiIHKAIwIgRFDQAgBygCNCAEQQEQk4CAgAALAkAgBygCPCIERQ0AIAcoAkAgBEEBEJOAgIAACwJAIAcoAkgiCkGAgICAeEYNACAHKAJMIQgCQCAHKAJQIglFDQAgCCEEA0ACQCAEKAIAIgZFDQAgBEEEaigCACAGQQEQk4CAgAALAkAgBEEMaigCACIGRQ0AIARBEGooAgAgBkEBEJOAgIAACyAEQRhqIQQgCUF/aiIJDQALCyAKRQ0AIAggCkEYbEEEEJOAgIAACwJAIAcoAlQiCkGAgICAeEYNACAHKAJYIQgCQCAHKAJcIglFDQAgCCEEA0ACQCAEKAIAIgZFDQAgBEEEaigCACAGQQEQk4CAgAALAkAgBEEMaigCACIGRQ0AIARBEGooAgAgBkEBEJOAgIAACyAEQRhqIQQgCUF/aiIJDQALCyAKRQ0AIAggCkEYbEEEEJOAgIAACwJAIAcoAmAiBEEBSA0AIAcoAmQgBEEBEJOAgIAACyAFQQFqIgUgIUcNAAsLAkAgAkUNACADIAJB8ABsQQgQk4CAgAALI4KAgIAAIgQgDDYCECAEIAE2AhQgAEHAAGokgICAgAAgBAv4HgULfwJ+An8BfgJ/I4CAgIAAQYABayILJICAgIAAIApBBHQhDBCvgICAAEEAIQ0CQAJAAkACQAJAAkACQCAKQf////8ASw0AIAxB+P///wdLDQACQAJAIAwNAEEIIQ5BACEMDAELEJCAgIAAQQghDSAMQQgQkYCAgAAiDkUNASAKIQwLIAtBADYCNCALIA42AjAgCyAMNgIsAkAgCkUNAEEAIQ8DQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAIAkgD0EYbGoiDC0AAA0AQYCAgIB4IQ4gDC0ACA4LDAIDBAUGBwgJCgsBC0EAIQ0CQCAMKAIMIhBB/////wBLDQAgEEEEdCIRQfj///8HSw0AIAwoAgghEgJAIBENAEEAIQ1BCCETDA8LEJCAgIAAQQghDSARQQgQkYCAgAAiEw0NIBEhEwsgDSATEL6AgIAAAAsgDCgCECIUQQh2IRUgFkKAgICAcIMgDCgCFCIOrYQhFgwKCyAMKAIUIhRBCHYhFSAUrUIghiAMNQIQhCEWQYGAgIB4IQ4MCQsgDCgCECIUQQh2IRVBgoCAgHghDgwICyAMKQMQIRZBg4CAgHghDgwHCyAMKAIUIhRBCHYhFSAUrUIghiAMNQIQhCEWQYSAgIB4IQ4MBgsgDCkDECEWQYWAgIB4IQ4MBQsgDC0AEEEARyEUQYaAgIB4IQ4MBAsgDCkDECEWQYeAgIB4IQ4MAwsgDCgCECIUQQh2IRVBiICAgHghDgwCCyAMKAIUIhRBCHYhFSAUrUIghiAMNQIQhCEWQYmAgIB4IQ4MAQsgDCgCFCIUQQh2IRUgFK1CIIYgDDUCEIQhFkGKgICAeCEOCyAVQQh0IBRB/wFxciENIBYhFwwCCyAQIQ0LIAtBADYCQCALIBM2AjwgCyANNgI4AkAgEEUNAEEAIQxBCCENIBMhGANAQYCAgIB4IRkCQAJAAkACQAJAAkACQAJAAkACQAJAAkAgEiANaiIOQXhqLQAADgsLAQIDBAUGBwgJCgALIBpCgICAgHCDIA5BBGooAgAiGa2EIRogDigCACIbQQh2IRwMCgsgDkEEaigCACIbrUIghiAONQIAhCEaIBtBCHYhHEGBgICAeCEZDAkLIA4oAgAiG0EIdiEcQYKAgIB4IRkMCAsgDikDACEaQYOAgIB4IRkMBwsgDkEEaigCACIbrUIghiAONQIAhCEaIBtBCHYhHEGEgICAeCEZDAYLIA4pAwAhGkGFgICAeCEZDAULIA4tAABBAEchG0GGgICAeCEZDAQLIA4pAwAhGkGHgICAeCEZDAMLIA4oAgAiG0EIdiEcQYiAgIB4IRkMAgsgDkEEaigCACIbrUIghiAONQIAhCEaIBtBCHYhHEGJgICAeCEZDAELIA5BBGooAgAiG61CIIYgDjUCAIQhGiAbQQh2IRxBioCAgHghGQsCQCAMIAsoAjhHDQAgC0E4ahCHgICAACALKAI8IRgLIBggDWoiDiAaNwMAIA5BfGogHEEIdCAbQf8BcXI2AgAgDkF4aiAZNgIAIAsgDEEBaiIMNgJAIA1BEGohDSAQIAxHDQALIAsoAjghDQsgEiARQQgQroCAgAAgCykCPCEXQYuAgIB4IQ4LAkAgDyALKAIsRw0AIAtBLGoQh4CAgAALIAsoAjAgD0EEdGoiDCAXNwMIIAwgDTYCBCAMIA42AgAgCyAPQQFqIgw2AjQgDCEPIAwgCkcNAAsLIAkgCkEYbEEIEK6AgIAAIAsgCygCNDYCbCALIAspAiw3AmQgCyACNgJwIAsgATYCSCALIAA2AkQgCyABNgJAIAsgBzYCdCALIAY2AmAgCyAFNgJcIAsgBjYCWCALIAQ2AlQgCyADNgJQIAsgBDYCTCALIAg3AzggC0EIaiALQThqEImAgIAAIAspAwgiGqciDEF+akECIBpCAVYbDgQEAQMCBAsgDSAMEL6AgIAAAAsjgoCAgABBAToAAAJAAkACQCALKAIYIgdBgICAIE8NACALKAIQIQMgCygCFCEFIAtBOGpBCCAHQQV0ELuAgIAAIAUgB0EYbGohASALKAI4IRMgBSEQIAdFDQEgBSEQQQAhCgNAIBAiDEEYaiEQIAwoAgAiDUGMgICAeEYNAiAMKQMIIhpCIIgiF6chCSAMKAIEIQYgGqchDyATIApBBXRqIhggDCgCEDYCAAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAIA1Bi4CAgHhHDQAgGEEBOgAIIAtBOGpBCCAJQQR0IgwQu4CAgAAgDyAMaiESIAsoAjghBCAXUEUNASAPIQwMCQsgGEEAOgAIAkACQAJAAkACQAJAAkACQAJAAkACQAJAIA1BgICAgHhzQQsgDUEASBsODAABAgMEBQYHCAkKCwALIBhBADoAEAwWCyAYQQE6ABAgBiAJTQ0UAkAgF0IAUg0AIA8gBkEBEJOAgIAAQQEhDwwVCyAPIAZBASAJEJSAgIAAIg9FDQsMFAsgGCAGNgIYIBhBAjoAEAwUCyAYIBo3AxggGEEDOgAQDBMLIBhBBDoAECAGIAlNDRECQCAXQgBSDQAgDyAGQQEQk4CAgABBASEPDBILIA8gBkEBIAkQlICAgAAiDw0RQQEgCRC+gICAAAALIBggGjcDGCAYQQU6ABAMEQsgGEEGOgAQIBggBkEBcToAGAwQCyAYIBo3AxggGEEHOgAQDA8LIBggBjYCGCAYQQg6ABAMDgsgGEEJOgAQIAYgCU0NDAJAIBdCAFINACAPIAZBARCTgICAAEEBIQ8MDQsgDyAGQQEgCRCUgICAACIPDQxBASAJEL6AgIAAAAsgGEEKOgAQIAYgCU0NCwJAIBdCAFINACAPIAZBARCTgICAAEEBIQ8MDAsgDyAGQQEgCRCUgICAACIPDQtBASAJEL6AgIAAAAsgGEELOgAQAkAgDSAPTQ0AAkAgDw0AIAYgDUEBEJOAgIAAQQEhBgwBCyAGIA1BASAPEJSAgIAAIgZFDQMLIBggBjYCGCAYIA82AhwMCwsgBCENIA8hDANAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQCAMKAIAIg5Bi4CAgHhGDQAgDEEEaigCACEZIAxBCGopAwAiGqchGyAaQiCIIhenIRwgDkGAgICAeHNBCyAOQQBIGw4MAQIDBAUGBwgJCgsMAQsgDEEQaiEMDBULIA1BADoAAAwLCyANQQE6AAACQCAZIBxNDQACQCAXQgBSDQAgGyAZQQEQk4CAgABBASEbDAELIBsgGUEBIBwQlICAgAAiG0UNDwsgDUEIaiAbNgIAIA1BDGogHDYCAAwKCyANQQI6AAAgDUEIaiAZNgIADAkLIA1BAzoAACANQQhqIBo3AwAMCAsgDUEEOgAAAkAgGSAcTQ0AAkAgF0IAUg0AIBsgGUEBEJOAgIAAQQEhGwwBCyAbIBlBASAcEJSAgIAAIhtFDQ0LIA1BCGogGzYCACANQQxqIBw2AgAMBwsgDUEFOgAAIA1BCGogGjcDAAwGCyANQQY6AAAgDUEIaiAZQQFxOgAADAULIA1BBzoAACANQQhqIBo3AwAMBAsgDUEIOgAAIA1BCGogGTYCAAwDCyANQQk6AAACQCAZIBxNDQACQCAXQgBSDQAgGyAZQQEQk4CAgABBASEbDAELIBsgGUEBIBwQlICAgAAiG0UNCQsgDUEIaiAbNgIAIA1BDGogHDYCAAwCCyANQQo6AAACQCAZIBxNDQACQCAXQgBSDQAgGyAZQQEQk4CAgABBASEbDAELIBsgGUEBIBwQlICAgAAiG0UNCQsgDUEIaiAbNgIAIA1BDGogHDYCAAwBCyANQQs6AAACQCAOIBtNDQACQCAbDQAgGSAOQQEQk4CAgABBASEZDAELIBkgDkEBIBsQlICAgAAiGUUNCQsgDUEIaiAZNgIAIA1BDGogGzYCAAsgDUEQaiENIAxBEGoiDCASRw0ADAkLC0EBIAkQvoCAgAAAC0EBIA8QvoCAgAAAC0EBIBwQvoCAgAAAC0EBIBwQvoCAgAAAC0EBIBwQvoCAgAAAC0EBIBwQvoCAgAAAC0EBIBsQvoCAgAAACyASIAxGDQAgEiAMa0EEdiEOA0ACQAJAAkACQAJAAkACQCAMKAIAIg1BgICAgHhzQQsgDUEASBsOCwYBBgYCBgYGBgMEAAsgDUUNBUEEIRkMBAsgDEEEaigCACINRQ0EQQghGQwDCyAMQQRqKAIAIg1FDQNBCCEZDAILIAxBBGooAgAiDUUNAkEIIRkMAQsgDEEEaigCACINRQ0BQQghGQsgDCAZaigCACANQQEQk4CAgAALIAxBEGohDCAOQX9qIg4NAAsLAkAgBkUNACAPIAZBBHRBCBCTgICAAAsgGCAENgIQIBggCTYCFAwBCyAYIA82AhggGCAJNgIcCyAKQQFqIQogECABRw0ADAMLCyOBgICAACIMQcKAiIAAakErIAtB/wBqIAxBtKWIgABqIAxBxKWIgABqEOSAgIAAAAsgASAQa0EYbiEMIAEgEEYNAANAIBAQhoCAgAAgEEEYaiEQIAxBf2oiDA0ACwsCQCADRQ0AIAUgA0EYbEEIEJOAgIAACyOCgICAACIMIBM2AgggDCAHNgIMDAMLI4KAgIAAQQM6AAAgCy0AHCEOIAsoAhQhDAJAAkACQCALKAIQIhsgCygCGCINSw0AIAwhGQwBCwJAIA0NAEEBIRkgDCAbQQEQk4CAgAAMAQsgDCAbQQEgDRCUgICAACIZRQ0BCyOCgICAACIMIA46ABAgDCAZNgIIIAwgDTYCDAwDC0EBIA0QvoCAgAAACyOCgICAAEECOgAAIAspAxAhGiALKAIcIQ4CQAJAAkAgCygCGCIbIAsoAiAiDUsNACAOIRkMAQsCQCANDQBBASEZIA4gG0EBEJOAgIAADAELIA4gG0EBIA0QlICAgAAiGUUNAQsjgoCAgAAiDiAZNgIIIA4gDTYCDAJAIAxBAXFFDQAjgoCAgAAiDCAaNwMYIAxBAToAEAwDCyOCgICAAEEAOgAQDAILQQEgDRC+gICAAAALI4KAgIAAQQA6AAAgCygCFCENAkACQCALKAIQIhkgCygCGCIMSw0AIA0hDgwBCwJAIAwNAEEBIQ4gDSAZQQEQk4CAgAAMAQsgDSAZQQEgDBCUgICAACIORQ0CCyOCgICAACINIA42AgggDSAMNgIMCyOCgICAACEMIAtBgAFqJICAgIAAIAwPC0EBIAwQvoCAgAAACw0AIAAgARDAgICAAA8LAwAPC4wCAQV/I4CAgIAAQRBrIgIkgICAgAACQAJAI4GAgIAAQeCtiIAAaigCBCIDRQ0AI4GAgIAAQeCtiIAAaigCACEEDAELPwAhBCOBgICAAEHgrYiAAGoiBSAEQRB0IgM2AgQgBSODgICAACIENgIACwJAAkAgBCABcCIFRQ0AIAEgBWsiBSAEaiIEIAVPDQBBACEFDAELQQAhBSAEIABqIgYgBEkNAAJAAkAgBiADSw0AIAQhBQwBCyACQQhqI4GAgIAAQeCtiIAAaiAEIAEgABCSgICAACACKAIIQQFxRQ0BIAIoAgwiBSAAaiEGCyOBgICAAEHgrYiAAGogBjYCAAsgAkEQaiSAgICAACAFC80BAQN/QQAhBQJAAkA/ACIGQf//A00NAAwBCwJAIAEoAgQgBkEQdCIGRg0AIAYhAiAGIANwIgdFDQAgAyAHayIDIAZqIgIgA08NAAwBCwJAIAIgBGoiBCACTw0ADAELIAQgBkkNAEEAIQUCQCAEIAZrQRB2IARB//8DcUEAR2oiBEAAQX9HDQAMAQsCQAJAIARBgIAETw0AIARBEHQhBQwBC0F/IQULIAFBfyAGIAVqIgUgBSAGSRs2AgRBASEFCyAAIAI2AgQgACAFNgIACy8AAkAgASAAaiOBgICAAEHgrYiAAGooAgBHDQAjgYCAgABB4K2IgABqIAA2AgALC+UCAQV/I4CAgIAAQRBrIgQkgICAgAACQAJAAkACQCABIABqI4GAgIAAQeCtiIAAaigCACIFRw0AIAMjgYCAgABB4K2IgABqKAIEIABrTQ0BCyADIAFLDQEgACEGDAILI4GAgIAAQeCtiIAAaiADIABqNgIAIAAhBgwBCwJAI4GAgIAAQeCtiIAAaigCBCIHDQA/ACEFI4GAgIAAQeCtiIAAaiIGIAVBEHQiBzYCBCAGI4OAgIAAIgU2AgALAkAgBSACcCIGRQ0AIAIgBmsiBiAFaiIFIAZPDQBBACEGDAELQQAhBiAFIANqIgggBUkNAAJAAkAgCCAHSw0AIAUhBgwBCyAEQQhqI4GAgIAAQeCtiIAAaiAFIAIgAxCSgICAACAEKAIIQQFHDQEgBCgCDCIGIANqIQgLI4GAgIAAQeCtiIAAaiAINgIAIAFFDQAgBiAAIAH8CgAACyAEQRBqJICAgIAAIAYLpQIBBH8jgICAgABBsAhrIgEkgICAgAAgASAANgIIIAFBDGpBAEGECPwLACABI4SAgIAAQYGAgIAAaq1CIIYgAUEIaq2ENwOQCCABQQxqI4GAgIAAIgBB6KWIgABqIABB84OIgABqIAFBkAhqENiAgIAAGgJAAkAgASgCjAgiAEGACEsNACAARQ0BIAFBDGohAgNAAkBBAEEgIABBICAAQSBJGyIDayAAQR9LGyIERQ0AIAFBkAhqIANqQQAgBPwLAAsCQCADRQ0AIAFBkAhqIAIgA/wKAAALIAEpA5AIIAEpA5gIIAEpA6AIIAEpA6gIEICAgIAAIAIgA2ohAiAAIANrIgANAAwCCwtBACAAQYAII4GAgIAAQYCmiIAAahDTgICAAAsACw8AIAAoAgAgARDwgICAAAuHBQEGfyOAgICAAEHAAGsiAiSAgICAACOBgICAACEDEJCAgIAAIANB4K2IgABqKAIEIQQCQAJAAkACQCABQgBTDQACQAJAIARFDQAjgYCAgABB4K2IgABqKAIAIQMMAQs/ACEDI4GAgIAAQeCtiIAAaiIFIANBEHQiBDYCBCAFI4OAgIAAIgM2AgALIANBbEsNAgJAIANBE2oiBSAETQ0AIAJBGGojgYCAgABB4K2IgABqIANBAUETEJKAgIAAIAIoAhhBAUcNAyACKAIcIgNBE2ohBQsjgYCAgABB4K2IgABqIAU2AgAgA0UNAkEAIQUgAkEANgI8IAIgAzYCOEETIQYgAkETNgI0DAELAkACQCAERQ0AI4GAgIAAQeCtiIAAaigCACEDDAELPwAhAyOBgICAAEHgrYiAAGoiBSADQRB0IgQ2AgQgBSODgICAACIDNgIACyADQWtLDQICQCADQRRqIgUgBE0NACACQRBqI4GAgIAAQeCtiIAAaiADQQFBFBCSgICAACACKAIQQQFHDQMgAigCFCIDQRRqIQULI4GAgIAAQeCtiIAAaiAFNgIAIANFDQIgA0EtOgAAIAIgAzYCOEEUIQYgAkEUNgI0QQEhBSACQQE2AjxCACABfSEBCyACQQhqIAEgAkEhakETEOKAgIAAIAIoAgghBwJAAkACQCACKAIMIgQgBiAFa00NACACQTRqIAUgBEEBQQEQmICAgAAgAigCOCEDIAIoAjwhBQwBCyAERQ0BCyAERQ0AIAMgBWogByAE/AoAAAsgACACKQI0NwIAIAAgBSAEajYCCCACQcAAaiSAgICAAA8LQQFBExC+gICAAAALQQFBFBC+gICAAAALrQEBAX8jgICAgABBEGsiBSSAgICAAAJAIAIgAWoiASACTw0AQQBBABC+gICAAAALIAVBBGogACgCACICIAAoAgQgASACQQF0IgIgASACSxsiAkEIQQQgBEEBRhsiASACIAFLGyICIAMgBBC3gICAAAJAIAUoAgRBAUcNACAFKAIIIAUoAgwQvoCAgAAACyAFKAIIIQQgACACNgIAIAAgBDYCBCAFQRBqJICAgIAAC6kCAQZ/IAAoAgghAgJAAkAgAUGAAU8NAEEBIQMMAQsCQCABQYAQTw0AQQIhAwwBC0EDQQQgAUGAgARJGyEDCyACIQQCQCADIAAoAgAgAmtNDQAgACACIANBAUEBEJiAgIAAIAAoAgghBAsgACgCBCAEaiEEAkACQCABQYABSQ0AIAFBP3FBgH9yIQUgAUEGdiEGAkAgAUGAEE8NACAEIAU6AAEgBCAGQcABcjoAAAwCCyABQQx2IQcgBkE/cUGAf3IhBgJAIAFB//8DSw0AIAQgBToAAiAEIAY6AAEgBCAHQeABcjoAAAwCCyAEIAU6AAMgBCAGOgACIAQgB0E/cUGAf3I6AAEgBCABQRJ2QXByOgAADAELIAQgAToAAAsgACADIAJqNgIIQQALXgEBfwJAAkACQCACIAAoAgAgACgCCCIDa00NACAAIAMgAkEBQQEQmICAgAAgACgCCCEDDAELIAJFDQELIAJFDQAgACgCBCADaiABIAL8CgAACyAAIAMgAmo2AghBAAsUACAAKAIEIAAoAgggARDxgICAAAtzAQF/I4CAgIAAQRBrIgMkgICAgAAgAyACNgIEIAMgATYCACADI4SAgIAAQYKAgIAAaq1CIIYgA62ENwMIIABBCGojgYCAgABBpYqIgABqIANBCGoQw4CAgAAgAEIFNwMAIABBADoAFCADQRBqJICAgIAACxQAIAAoAgAgACgCBCABEPGAgIAAC9oEAQV/I4CAgIAAQRBrIgQkgICAgABBACEFAkACQAJAIAJBAEgNAAJAIAINAEEBIQYMAwsjgYCAgAAhBRCQgICAAAJAAkAgBUHgrYiAAGooAgQiB0UNACOBgICAAEHgrYiAAGooAgAhBgwBCz8AIQUjgYCAgABB4K2IgABqIgggBUEQdCIHNgIEIAgjg4CAgAAiBjYCAAtBASEFIAYgAmoiCCAGSQ0AAkAgCCAHTQ0AQQEhBSAEQQhqI4GAgIAAQeCtiIAAaiAGQQEgAhCSgICAACAEKAIIQQFHDQEgBCgCDCIGIAJqIQgLI4GAgIAAQeCtiIAAaiAINgIAQQEhBSAGDQELIAUgAhC+gICAAAALIAJFDQAgBiABIAL8CgAACyOBgICAACEFEJCAgIAAAkACQCAFQeCtiIAAaigCBCIBRQ0AI4GAgIAAQeCtiIAAaigCACEFDAELPwAhBSOBgICAAEHgrYiAAGoiCCAFQRB0IgE2AgQgCCODgICAACIFNgIACwJAAkAgBUF1Sw0AAkAgBUEKaiIIIAFNDQAgBCOBgICAAEHgrYiAAGogBUEBQQoQkoCAgAAgBCgCAEEBRw0BIAQoAgQiBUEKaiEICyOBgICAAEHgrYiAAGogCDYCACAFDQELQQFBChC+gICAAAALIABBCjYCFCAAIAU2AhAgAEEKNgIMIAAgAjYCCCAAIAY2AgQgACACNgIAIAAgAykCADcCGCAAIAMoAgg2AiAgBSOBgICAAEGXjIiAAGoiAC8ACDsACCAFIAApAAA3AAAgBEEQaiSAgICAAAuECgIFfwF+I4CAgIAAQSBrIgQkgICAgAAgASgCACEFI4GAgIAAQcuMiIAAaiEGQQQhBwJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQCAFQYCAgIB4c0ELIAVBAEgbIggODA0DAAEEBQYHCAkKCw0LIAE0AgQhCQwBCyABKQMIIQkLAkACQAJAAkACQAJAAkAgA0F7ag4DAwEABAsgAigAAEHp3NGrBnMgAkEDaiIHKAAAQeXOlZMHc3INASAEIAk3AxAgCUKAgICAeHxCgICAgHBaDQUgBCOFgICAAK1CIIYgBEEQaq2ENwMYIABBBGojgYCAgABB1IqIgABqIARBGGoQw4CAgAAgAEGLgICAeDYCACABEKCAgIAADBELIAIoAABB4tKdywZzIAJBBGovAABB7ugBc3INAiAAIAk3AwggAEGDgICAeDYCACABEKCAgIAADBALIAIoAABB7uq1qwZzIAcoAABB5eSlmwZzcg0BIABBBGogCRCXgICAACAAQYSAgIB4NgIAIAEQoICAgAAMDwsgAigAAEHm2L2LBnMgAkEEai0AAEH0AHNyRQ0BCyOBgICAACIHQbmMiIAAaiAHQbKMiIAAaiAIQQNGIgcbIQZBBkEHIAcbIQcMDAsgAEGFgICAeDYCACAAIAm5OQMIIAEQoICAgAAMDAsgACAJPgIEIABBgoCAgHg2AgAgARCggICAAAwLCyOBgICAAEHPjIiAAGohBgwJCyOBgICAAEG/jIiAAGohBkEHIQcMCAsjgYCAgABBxoyIgABqIQYMBgsjgYCAgABB04yIgABqIQZBByEHDAYLI4GAgIAAQdqMiIAAaiEGQQshBwwFCyOBgICAAEHljIiAAGohBgwECyOBgICAAEHpjIiAAGohBkEIIQcMAwsjgYCAgABB8YyIgABqIQYMAgsjgYCAgABB9YyIgABqIQYLQQUhBwsCQAJAAkAgByADRw0AIAYgAiADEPOAgIAAIQcgBUGAgICAeEYNAiAHDQEMAgsgBUGAgICAeEYNAQsjgYCAgABBy4yIgABqIQUCQAJAAkACQAJAIAgODAMABAQEBAQEAQQCBAMLI4GAgIAAQc+MiIAAaiEFDAILI4GAgIAAQeWMiIAAaiEFDAELI4GAgIAAQfGMiIAAaiEFCyAFKAAAQfTK4aMHRw0AIANBBUkNACACKAAAQeXc1esGcyACQQRqLQAAQShzcg0AIAAgASkDCDcDCCAAIAEpAwA3AwAMAgsjgYCAgAAiBUH4joiAAGogCEECdCIHaigCACEDIAVByKaIgABqIAdqKAIAIQgQkICAgAACQAJAIAVB4K2IgABqKAIEIgZFDQAjgYCAgABB4K2IgABqKAIAIQUMAQs/ACEFI4GAgIAAQeCtiIAAaiIHIAVBEHQiBjYCBCAHI4OAgIAAIgU2AgALAkAgBSADaiIHIAVJDQACQCAHIAZNDQAgBEEIaiOBgICAAEHgrYiAAGogBUEBIAMQkoCAgAAgBCgCCEEBRw0BIAQoAgwiBSADaiEHCyOBgICAAEHgrYiAAGogBzYCACAFRQ0AAkAgA0UNACAFIAggA/wKAAALIAAgAzYCDCAAIAU2AgggACADNgIEIABBi4CAgHg2AgAgARCggICAAAwCC0EBIAMQvoCAgAAACyAAIAEpAwg3AwggACABKQMANwMACyAEQSBqJICAgIAAC5UCAQF/AkACQAJAAkACQAJAAkAgACgCACIBQYCAgIB4c0ELIAFBAEgbDgsGAQYGAgYGBgYDBAALIAFFDQUgASAAKAIEIgBqI4GAgIAAQeCtiIAAaigCAEcNBQwECyAAKAIEIgFFDQQgASAAKAIIIgBqI4GAgIAAQeCtiIAAaigCAEYNAwwECyAAKAIEIgFFDQMgASAAKAIIIgBqI4GAgIAAQeCtiIAAaigCAEYNAgwDCyAAKAIEIgFFDQIgASAAKAIIIgBqI4GAgIAAQeCtiIAAaigCAEYNAQwCCyAAKAIEIgFFDQEgASAAKAIIIgBqI4GAgIAAQeCtiIAAaigCAEcNAQsjgYCAgABB4K2IgABqIAA2AgALC5kQAQ9/I4CAgIAAQcAAayICJICAgIAAAkACQAJAAkACQAJAAkACQAJAAkAgASgCAEGLgICAeEcNACOBgICAACEDEJCAgIAAAkACQCADQeCtiIAAaigCBCIDRQ0AI4GAgIAAQeCtiIAAaigCACEEDAELPwAhAyOBgICAAEHgrYiAAGoiBSADQRB0IgM2AgQgBSODgICAACIENgIACwJAIARBf0YNAAJAIAQgA0kNACACQQhqI4GAgIAAQeCtiIAAaiAEQQFBARCSgICAACACKAIIQQFHDQEgAigCDCEEC0EBIQMjgYCAgABB4K2IgABqIARBAWo2AgAgBA0CC0EBQQEQvoCAgAAACyACQShqIAEQooCAgAAgAiACKAIwIgE2AhggAiACKQIoNwMQIAIoAjghBiACKAI8IQMgAigCFCEFIAItADQNAiABRQ0BAkAgBS0AAEEtRg0AAkAgASAAKAIAIAAoAggiB2tNDQAgACAHIAFBAUEBEJiAgIAAIAAoAgghBwsCQCABRQ0AIAAoAgQgB2ogBSAB/AoAAAsgAEEIaiEFDAcLIAIjhICAgABBhICAgABqrUIghiACQRBqrYQ3AyggACOBgICAACIBQZCmiIAAaiABQbWLiIAAaiACQShqENiAgIAAGgwHCyAEQfsAOgAAIAJBATYCGCACIAQ2AhQgAkEBNgIQIAJCATcCIEEBIQUgASgCDCIGRQ0DIAEoAggiCCAGQQR0aiEJQQAhCkEBIQMDQAJAIApFDQAgAyEBAkAgAigCECADRw0AIAJBEGogA0EBQQFBARCYgICAACACKAIUIQQgAigCGCEBCyAEIAFqQSw6AAAgAiADQQFqIgM2AhgLAkACQCAIKAIAQYCAgIB4Rg0AIAJBKGogCBCigICAACACIAIpAjg3AiAgAigCMCEBIAIoAiwhCyACKAIoIQwgAyEFAkAgAigCECADRw0AIAJBEGogA0EBQQFBARCYgICAACACKAIYIQULIAIoAhQiBCAFakEiOgAAIAIgA0EBaiIDNgIYAkAgAUUNACALIAFqIQ0gCyEFA0ACQAJAIAUsAAAiAUF/TA0AIAVBAWohBSABQf8BcSEBDAELIAUtAAFBP3EhBiABQR9xIQcCQCABQV9LDQAgB0EGdCAGciEBIAVBAmohBQwBCyAGQQZ0IAUtAAJBP3FyIQYCQCABQXBPDQAgBiAHQQx0ciEBIAVBA2ohBQwBCyAGQQZ0IAUtAANBP3FyIAdBEnRBgIDwAHFyIQEgBUEEaiEFCwJAAkACQCABQSJGDQAgAUHcAEcNAQsgAyEGAkAgAigCECADRw0AIAJBEGogA0EBQQFBARCYgICAACACKAIUIQQgAigCGCEGCyAEIAZqQdwAOgAAQQEhDiACIANBAWoiAzYCGEEBIQYMAQtBASEOAkAgAUGAAU8NAEEBIQYMAQtBAiEGQQAhDiABQYAQSQ0AQQNBBCABQYCABEkbIQYLIAMhBwJAIAYgAigCECADa00NACACQRBqIAMgBkEBQQEQmICAgAAgAigCGCEHCyACKAIUIgQgB2ohBwJAAkAgDg0AIAFBP3FBgH9yIQ4gAUEGdiEPAkAgAUGAEE8NACAHIA46AAEgByAPQcABcjoAAAwCCyABQQx2IRAgD0E/cUGAf3IhDwJAIAFB//8DSw0AIAcgDjoAAiAHIA86AAEgByAQQeABcjoAAAwCCyAHIA46AAMgByAPOgACIAcgEEE/cUGAf3I6AAEgByABQRJ2QXByOgAADAELIAcgAToAAAsgAiAGIANqIgM2AhggBSANRw0ACwsgAyEBAkAgAigCECADRw0AIAJBEGogA0EBQQFBARCYgICAACACKAIUIQQgAigCGCEBCyAEIAFqQSI6AAAgAiADQQFqIgM2AhggDEGAgICAeHJBgICAgHhGDQEgDCALaiOBgICAAEHgrYiAAGooAgBHDQEjgYCAgABB4K2IgABqIAs2AgAMAQsCQCACKAIQIANrQQNLDQAgAkEQaiADQQRBAUEBEJiAgIAAIAIoAhghAwsgAigCFCIEIANqQc6qseIENgAAIAIgA0EEaiIDNgIYCyAKQQFqIQogCEEQaiIIIAlGDQMMAAsLIABBCGohBSAAKAIIIQcMBAsgAEEnIAUgARCkgICAAAwECyADIQYgAigCECIFIANHDQELIAJBEGogBUEBQQFBARCYgICAACACKAIYIQYLIAIoAhQiASAGakH9ADoAACAAQScgASADQQFqEKSAgIAAAkAgAigCJEUNACACI4SAgIAAQYKAgIAAaq1CIIYgAkEgaq2ENwMoIAAjgYCAgAAiA0GQpoiAAGogA0HMioiAAGogAkEoahDYgICAABoLIAIoAhAiA0UNAiADIAFqI4GAgIAAQeCtiIAAaigCAEcNAiOBgICAAEHgrYiAAGogATYCAAwCCyAFIAcgAWo2AgALAkAgA0UNAAJAIAAoAgAgACgCCCIBa0EBSw0AIAAgAUECQQFBARCYgICAACAAKAIIIQELIAAoAgQgAWpBuvQAOwAAIAAgAUECaiIBNgIIAkAgAyAAKAIAIAFrTQ0AIAAgASADQQFBARCYgICAACAAKAIIIQELAkAgA0UNACAAKAIEIAFqIAYgA/wKAAALIAAgASADajYCCAsgAigCECIDQQFIDQAgAyACKAIUIgFqI4GAgIAAQeCtiIAAaigCAEcNACOBgICAAEHgrYiAAGogATYCAAsgAkHAAGokgICAgAALlwkDAn8BfAF/I4CAgIAAQTBrIgIkgICAgAACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQCABKAIAIgNBgICAgHhzQQsgA0EASBsODAABAgMECwUGBwgJCgALIABCATcCECAAQQA6AAwgAEEENgIIIABBgICAgHg2AgAgACOBgICAAEH6jIiAAGo2AgQMCwsgAEIBNwIQIABBAToADCAAQYCAgIB4NgIAIAAgASkDCDcCBAwKCyACIAFBBGo2AhAgAiOEgICAAEGFgICAAGqtQiCGIAJBEGqthDcDGCACQSBqI4GAgIAAQfODiIAAaiACQRhqEMOAgIAAIAAgAigCKDYCCCAAIAIpAiA3AgAgAEIBNwIQIABBADoADAwJCyACIAFBCGo2AhAgAiOEgICAAEGGgICAAGqtQiCGIAJBEGqthDcDGCACQSBqI4GAgIAAIgFB84OIgABqIAJBGGoQw4CAgAAgACACKAIoNgIIIAAgAikCIDcCACAAQQY2AhQgACABQbmMiIAAajYCECAAQQE6AAwMCAsgAEEHNgIUIABBAToADCAAQYCAgIB4NgIAIAAjgYCAgABBv4yIgABqNgIQIAAgASkDCDcCBAwHCyAAQgE3AhAgAEEAOgAMIABBgICAgHg2AgAgAEEEQQUgAS0ABCIBGzYCCCAAI4GAgIAAIgNBhY6IgABqIANBgI6IgABqIAEbNgIEDAYLIAIgASkDCDcDECACI4aAgIAArUIghiACQRBqrYQ3AxggAkEgaiOBgICAACIBQfODiIAAaiACQRhqEMOAgIAAIAAgAigCKDYCCCAAIAIpAiA3AgAgAEELNgIUIAAgAUHajIiAAGo2AhAgAEEBOgAMDAULIAIgASgCBDYCECACI4eAgIAArUIghiACQRBqrYQ3AxggAkEgaiOBgICAACIBQfODiIAAaiACQRhqEMOAgIAAIAAgAigCKDYCCCAAIAIpAiA3AgAgAEEENgIUIAAgAUHljIiAAGo2AhAgAEEBOgAMDAQLIABBCDYCFCAAQQE6AAwgAEGAgICAeDYCACAAI4GAgIAAQemMiIAAajYCECAAIAEpAwg3AgQMAwsgAEEENgIUIABBAToADCAAQYCAgIB4NgIAIAAjgYCAgABB8YyIgABqNgIQIAAgASkDCDcCBAwCCyAAQQU2AhQgAEEBOgAMIABBgICAgHg2AgAgACOBgICAAEH1jIiAAGo2AhAgACABKQIENwIEDAELIAIgAUEIajYCGAJAAkAgASsDCCIEmUQAAAAAAADwf2ENACACI4SAgIAAQYmAgIAAaq1CIIYgAkEYaq2ENwMgIAJBBGojgYCAgABB84OIgABqIAJBIGoQw4CAgAAgAigCDCEBIAIoAgghAyACKAIEIQUMAQsjgYCAgAAiAUGhjIiAAGogAUGpjIiAAGogBEQAAAAAAAAAAGQiARshA0EIQQkgARshAUGAgICAeCEFCyAAQRA2AhQgAEEBOgAMIAAgATYCCCAAIAM2AgQgACAFNgIAIAAjgYCAgABB8I2IgABqNgIQCyACQTBqJICAgIAACxQAIAAoAgQgACgCCCABEPGAgIAAC7cFAQh/IAAoAggiBCEFAkAgACgCACAERw0AIAAgBEEBQQFBARCYgICAACAAKAIIIQULIAAgBEEBaiIGNgIIIAAoAgQiByAFaiABOgAAAkAgA0UNACACIANqIQgDQAJAAkAgAiwAACIEQX9MDQAgAkEBaiECIARB/wFxIQQMAQsgAi0AAUE/cSEDIARBH3EhBQJAIARBX0sNACAFQQZ0IANyIQQgAkECaiECDAELIANBBnQgAi0AAkE/cXIhAwJAIARBcE8NACADIAVBDHRyIQQgAkEDaiECDAELIANBBnQgAi0AA0E/cXIgBUESdEGAgPAAcXIhBCACQQRqIQILAkAgBCABRw0AIAYhAwJAIAAoAgAgBkcNACAAIAZBAUEBQQEQmICAgAAgACgCBCEHIAAoAgghAwsgACAGQQFqIgY2AgggByADaiABOgAACwJAAkAgBEGAAUkiCUUNAEEBIQMMAQsCQCAEQYAQTw0AQQIhAwwBC0EDQQQgBEGAgARJGyEDCyAGIQUCQCADIAAoAgAgBmtNDQAgACAGIANBAUEBEJiAgIAAIAAoAgghBQsgACgCBCIHIAVqIQUCQAJAIAkNACAEQT9xQYB/ciEJIARBBnYhCgJAIARBgBBPDQAgBSAJOgABIAUgCkHAAXI6AAAMAgsgBEEMdiELIApBP3FBgH9yIQoCQCAEQf//A0sNACAFIAk6AAIgBSAKOgABIAUgC0HgAXI6AAAMAgsgBSAJOgADIAUgCjoAAiAFIAtBP3FBgH9yOgABIAUgBEESdkFwcjoAAAwBCyAFIAQ6AAALIAAgAyAGaiIGNgIIIAIgCEcNAAsLIAYhBAJAIAAoAgAgBkcNACAAIAZBAUEBQQEQmICAgAAgACgCBCEHIAAoAgghBAsgACAGQQFqNgIIIAcgBGogAToAAAvBAgECfwJAIAAoAggiBEUNAAJAIAAoAgAgBGtBAUsNACAAIARBAkEBQQEQmICAgAAgACgCCCEECyAAIARBAmo2AgggACgCBCAEakGswAA7AAALIABBIiABIAIQpICAgAACQCAAKAIAIAAoAggiBGtBAksNACAAIARBA0EBQQEQmICAgAAgACgCCCEECyAAKAIEIgUgBGoiAiOBgICAAEG0jYiAAGoiAS0AAjoAAiACIAEvAAA7AAAgACAEQQNqIgQ2AggCQCADKAIAQYyAgIB4Rw0AIAMoAgghAgJAAkACQCADKAIMIgMgACgCACAEa00NACAAIAQgA0EBQQEQmICAgAAgACgCBCEFIAAoAgghBAwBCyADRQ0BCyADRQ0AIAUgBGogAiAD/AoAAAsgACAEIANqNgIIDwsgACADEKGAgIAAC8tOBA5/AX4GfwJ+I4CAgIAAQfABayIEJICAgIAAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkAgASgCAEEBRw0AIAEoAgwiBUUNASAFQbPmzBlNDQJBACEGDBILIAFBBGohByABKAIIIgMgASgCDCIIaiEFQQAhAgJAIAgNACADIQFBACEGDAsLIAMhAQNAIAIhBgJAAkAgASICLAAAIglBf0wNACACQQFqIQEgCUH/AXEhCQwBCyACLQABQT9xIQEgCUEfcSEKAkAgCUFfSw0AIApBBnQgAXIhCSACQQJqIQEMAQsgAUEGdCACLQACQT9xciEBAkAgCUFwTw0AIAEgCkEMdHIhCSACQQNqIQEMAQsgAUEGdCACLQADQT9xciAKQRJ0QYCA8ABxciEJIAJBBGohAQsgASACayAGaiECAkAgCUF3akEFSQ0AIAlBIEYNACAJQYABSQ0MAkACQAJAAkAgCUEIdiIKQWpqDhsBEBAQEBAQEBAQAxAQEBAQEBAQEBAQEBAQEAIACyAKDQ8jiICAgAAgCUH/AXFqLQAAQQFxRQ0PDAMLIAlBgC1HDQ4MAgsgCUGA4ABHDQ0MAQsjiICAgAAgCUH/AXFqLQAAQQJxRQ0MCyABIAVHDQAMDAsLI4GAgIAAIQIgASgCCCEGIAEoAgQhCRCQgICAAAJAAkAgAkHgrYiAAGooAgQiAkUNACOBgICAAEHgrYiAAGooAgAhAQwBCz8AIQEjgYCAgABB4K2IgABqIgUgAUEQdCICNgIEIAUjg4CAgAAiATYCAAsgAUFLSw0BAkAgAUE0aiIFIAJNDQAgBCOBgICAAEHgrYiAAGogAUEBQTQQkoCAgAAgBCgCAEEBRw0CIAQoAgQiAUE0aiEFCyOBgICAAEHgrYiAAGogBTYCACABRQ0BIABBADoAICAAQTQ2AhwgACABNgIYIABCgZTr3MMGNwMQIAEjgYCAgABB/oyIgABqIgIoADA2ADAgASACKQAoNwAoIAEgAikAIDcAICABIAIpABg3ABggASACKQAQNwAQIAEgAikACDcACCABIAIpAAA3AAAgAEIBNwMAIAlFDQ4gCUEFdCAGaiAFRw0OI4GAgIAAQeCtiIAAaiAGNgIADA4LIAEoAgQhCyABKAIIIQEjgYCAgAAhCRCQgICAAAJAAkAgCUHgrYiAAGooAgQiDEUNACOBgICAAEHgrYiAAGooAgAhCgwBCz8AIQkjgYCAgABB4K2IgABqIgYgCUEQdCIMNgIEIAYjg4CAgAAiCjYCAAsgBUEobCEJAkACQCAKQQdxDQAgCiEIDAELQQghBiAKQXhxQQhqIgggCkkNEAtBCCEGIAggCWoiCiAISQ0PAkAgCiAMTQ0AIARBwABqI4GAgIAAQeCtiIAAaiAIQQggCRCSgICAAAJAIAQoAkBBAUYNAEEIIAkQvoCAgAAACyAEKAJEIgggCWohCgsjgYCAgABB4K2IgABqIAo2AgAgCEUNDyAEQQA2AmggBCAINgJkIAQgBTYCYCAEIAs2AnQgBCABNgJsIAQgASAFQQV0aiINNgJ4IAIgA0EEdCIOaiEMIARB2AFqQQRyIQ8gBEGoAWpBCGohECAEQZgBakEEciERQQAhCwJAA0AgBCABQSBqIgc2AnAgASgCACIFQYGAgIB4Rg0BIAQgASkCBCISNwKAASAEIAU2AnwgBCABKQIYNwOQASAEIAEpAhA3A4gBAkACQAJAAkAgAg0AQQAhAQwBCyAEIBJCIIinIgY2ApwBIAQgEqciCjYCmAECQAJAIANFDQBBACEFIA4hCSACIQEDQAJAIAFBBGooAgAgBkcNACABKAIAIAogBhDzgICAAEUNBAsgAUEQaiEBIAVBAWohBSAJQXBqIgkNAAsgBEEANgLQASAEQoCAgIAQNwLIAUEBIQNBACEBA0AgBCgCyAEhCSOBgICAACEKAkACQAJAAkBBAkEAIAEbIgUgCSABa00NACAEQcgBaiABIAVBAUEBEJiAgIAAIAQoAsgBIQkgBCgCzAEhAyAEKALQASEGDAELIAFFDQEgASEGCyAFRQ0BIAMgBmogCkGyjYiAAGpBASABGyAF/AoAAAwBC0EAIQYLIAQgBiAFaiIFNgLQASACKAIAIQYCQAJAAkAgAkEEaigCACIBIAkgBWtNDQAgBEHIAWogBSABQQFBARCYgICAACAEKALMASEDIAQoAtABIQUMAQsgAUUNAQsgAUUNACADIAVqIAYgAfwKAAALIAQgBSABaiIBNgLQASACQRBqIgIgDEcNAAwCCwsgBEEANgLQASAEQoCAgIAQNwLIAQsgBCOEgICAACIBQYqAgIAAaq1CIIYgBEHIAWqthDcD4AEgBCABQYKAgIAAaq1CIIYgBEGYAWqthDcD2AEgBEG0AWoiASOBgICAAEHsioiAAGogBEHYAWoQw4CAgAAgBEEAOgDAAQJAIAQoAsgBIgJFDQAgAiAEKALMASIFaiOBgICAAEHgrYiAAGooAgBHDQAjgYCAgABB4K2IgABqIAU2AgALIAAgASkCADcCFCAAIAEpAgg3AhwgACABKAIQNgIkIAQpA6gBIRIgAEGBlOvcAzYCECAAIBI3AwggAEIBNwMAAkAgBCgCiAEiAUGMgICAeEcNACAEKAKMASIBRQ0CIAEgBCgCkAEiAmojgYCAgABB4K2IgABqKAIARw0CI4GAgIAAQeCtiIAAaiACNgIADAILAkAgAUGLgICAeEYNACAEQYgBahCggICAAAwCCyAEKAKQASEFAkAgBCgClAEiAkUNACAFIQEDQCABEKCAgIAAIAFBEGohASACQX9qIgINAAsLIAQoAowBIgFFDQEgAUEEdCAFaiOBgICAAEHgrYiAAGooAgBHDQEjgYCAgABB4K2IgABqIAU2AgAMAQsCQCAEKAKIAUGMgICAeEcNAEGMgICAeCETIAQoApQBIQogBCgCkAEhCSAEKAKMASEUDAILIAQgBCkDkAE3A6ABIAQgBCkDiAEiEjcDmAECQAJAAkAgEqciE0GLgICAeEcNACAEKAKkASIJRQ0CIAlBBHQhCiAEKAKgASEJA0ACQAJAAkACQCAJKAIAIgZBgICAgHhzQQsgBkEASBtBf2oOCwEDAwEDAwMDAQEAAwsgCSEGDAELIAlBBGohBgsgBigCBCEUAkACQCAGKAIIIgZBB0sNACAGDQEMAgsgBEEwakEAIBQgBhDogICAACAEKAIwQQFHDQFBi4CAgHghFQwEC0GLgICAeCEVIBQtAABFDQMgBkEBRg0AIBQtAAFFDQMgBkECRg0AIBQtAAJFDQMgBkEDRg0AIBQtAANFDQMgBkEERg0AIBQtAARFDQMgBkEFRg0AIBQtAAVFDQMgBkEGRg0AIBQtAAZFDQMLIAlBEGohCSAKQXBqIgoNAAwDCwsgE0GAgICAeHNBCyATQQBIGyIGQQtLDQECQAJAQQEgBnRBkgxxDQAgBEGYAWohCSAGQQtGDQEMAwsgESEJCyAJKAIEIQYCQAJAIAkoAggiCUEHSw0AIAlFDQMgBi0AAEUNASAJQQFGDQMgBi0AAUUNASAJQQJGDQMgBi0AAkUNASAJQQNGDQMgBi0AA0UNASAJQQRGDQMgBi0ABEUNASAJQQVGDQMgBi0ABUUNASAJQQZGDQMgBi0ABg0DDAELIARBOGpBACAGIAkQ6ICAgAAgBCgCOEEBRw0CCyATIRULI4GAgIAAIQEQkICAgAACQAJAIAFB4K2IgABqKAIEIgJFDQAjgYCAgABB4K2IgABqKAIAIQEMAQs/ACEBI4GAgIAAQeCtiIAAaiIFIAFBEHQiAjYCBCAFI4OAgIAAIgE2AgALAkACQCABQUZLDQACQCABQTlqIgUgAk0NACAEQShqI4GAgIAAQeCtiIAAaiABQQFBORCSgICAACAEKAIoQQFHDQEgBCgCLCIBQTlqIQULI4GAgIAAQeCtiIAAaiAFNgIAIAFFDQAgAEEAOgAgIABBOTYCHCAAIAE2AhggAEKBlOvckwc3AxAgASOBgICAAEG3jYiAAGoiAi0AODoAOCABIAIpADA3ADAgASACKQAoNwAoIAEgAikAIDcAICABIAIpABg3ABggASACKQAQNwAQIAEgAikACDcACCABIAIpAAA3AAAgAEIBNwMAAkAgE0GLgICAeEYNAAJAAkACQAJAAkAgFUGAgICAeHNBCyAVQQBIGw4LCQEJCQIJCQkJAwQACyAVRQ0IIBUgBCgCnAEiAWogBUcNCAwGCyAEKAKcASICRQ0HIAIgBCgCoAEiAWogBUYNBQwHCyAEKAKcASICRQ0GIAIgBCgCoAEiAWogBUYNBAwGCyAEKAKcASICRQ0FIAIgBCgCoAEiAWogBUYNAwwFCyAEKAKcASICRQ0EIAIgBCgCoAEiAWogBUYNAgwECyAEKAKgASEFAkAgBCgCpAEiAkUNACAFIQEDQCABEKCAgIAAIAFBEGohASACQX9qIgINAAsLIAQoApwBIgFFDQMgAUEEdCAFaiOBgICAAEHgrYiAAGooAgBHDQMjgYCAgABB4K2IgABqIAU2AgAMAwtBAUE5EL6AgIAAAAsjgYCAgABB4K2IgABqIAE2AgAMAQsgBCgCpAEhCiAEKAKgASEJIAQoApwBIRQgAUUNASABKAIIIRUCQAJAAkACQAJAAkACQAJAAkACQCABKAIMIgZBA0cNACATQYCAgIB4Rg0LIBUvAABB4dwBcyAVQQJqLQAAQfkAc3JB//8DcUEARg0LDAELAkAgE0GAgICAeEcNAEGAgICAeCETDAsLIAZBAkkNAQtB3bYBIAZBfmoiFiAVai8AACIXQQh0IBdBgP4DcUEIdnJB//8DcWshFwJAAkACQCATQYuAgIB4Rw0AIBcNBCAKQQR0IRggCg0BQYCAgIB4IRUgCSEKIAkhBgwCCyAXDQgjgYCAgAAiAkH4joiAAGogE0GAgICAeHNBCyATQQBIGyIGQQJ0IgVqKAIAIRYgAkHIpoiAAGogBWooAgAhChCQgICAAAJAAkAgAkHgrYiAAGooAgQiBUUNACOBgICAAEHgrYiAAGooAgAhFwwBCz8AIQIjgYCAgABB4K2IgABqIgwgAkEQdCIFNgIEIAwjg4CAgAAiFzYCAAsgFyAWaiICIBdJDQUCQCACIAVNDQAgBEEgaiOBgICAAEHgrYiAAGogF0EBIBYQkoCAgAAgBCgCIEEBRw0GIAQoAiQiFyAWaiECCyOBgICAAEHgrYiAAGogAjYCACAXRQ0FAkAgFkUNACAXIAogFvwKAAALIAFBCGohAiAWIRUCQAJAAkACQAJAAkAgBg4LDwEPDwIPDw8PAwQACyATDQkgFiEVDA4LAkAgFA0AIBYhFQwOCyAUIAlqI4GAgIAAQeCtiIAAaigCAEYNAyAWIRUMDQsCQCAUDQAgFiEVDA0LIBQgCWojgYCAgABB4K2IgABqKAIARg0CIBYhFQwMCwJAIBQNACAWIRUMDAsgFCAJaiOBgICAAEHgrYiAAGooAgBGDQEgFiEVDAsLAkAgFA0AIBYhFQwLCyAUIAlqI4GAgIAAQeCtiIAAaigCAEYNACAWIRUMCgsgCSEUIBYhFQwHC0EAIRMCQANAIAQgCTYCqAEgECAJIBNqIgYpAwg3AwggECAGKQMANwMAIAQgBjYCrAEgBEHYAWogECAVIBYQn4CAgAAgBCgC2AEiF0GLgICAeEYNASAGIBc2AgAgBkEEaiAPKQIANwIAIAZBDGogDygCCDYCACAYIBNBEGoiE0cNAAtBi4CAgHghEwwLCyAGQRBqIQogBCgC5AEhFiAEKALgASEXIAQoAtwBIRULAkAgCSAYaiITIApGDQAgEyAKa0EEdiETA0AgChCggICAACAKQRBqIQogE0F/aiITDQALCyAGIAlrIQoCQCAVQYCAgIB4Rw0AIApBBHYhCkGLgICAeCETDAoLAkAgBiAJRg0AIApBBHYhBSAJIQIDQCACEKCAgIAAIAJBEGohAiAFQX9qIgUNAAsLIAFBCGohAiAURQ0HIBRBBHQgCWojgYCAgABB4K2IgABqKAIARw0HIAkhFAwFCyATQYuAgIB4Rw0FCyOBgICAACECEJCAgIAAAkACQCACQeCtiIAAaigCBCICRQ0AI4GAgIAAQeCtiIAAaigCACEXDAELPwAhAiOBgICAAEHgrYiAAGoiBSACQRB0IgI2AgQgBSODgICAACIXNgIACyAXQXdLDQICQCAXQQhqIgUgAk0NACAEQRhqI4GAgIAAQeCtiIAAaiAXQQFBCBCSgICAACAEKAIYQQFHDQMgBCgCHCIXQQhqIQULI4GAgIAAQeCtiIAAaiAFNgIAIBdFDQIgF0Lh3IGJps7csPkANwAAAkAgCkUNACAJIQIDQCACEKCAgIAAIAJBEGohAiAKQX9qIgoNAAsLIAFBCGohAgJAIBQNAEEIIRZBCCEVDAYLQQghFQJAIBRBBHQgCWojgYCAgABB4K2IgABqKAIARg0AQQghFgwGCyAJIRRBCCEWDAMLIBYhFSAUIBNqI4GAgIAAQeCtiIAAaigCAEYNAgwEC0EBIBYQvoCAgAAAC0EBQQgQvoCAgAAACyOBgICAAEHgrYiAAGogFDYCAAwBCyAEIAo2AtQBIAQgCTYC0AEgBCAUNgLMASAEIBM2AsgBIARBqAFqIARByAFqIBUgBhCfgICAAAJAIAQoAqgBIhNBi4CAgHhHDQAgAUEIaiECIAQoArQBIRYgBCgCsAEhFyAEKAKsASEVDAELIAQoArQBIQogBCgCsAEhCSAEKAKsASEUDAILIAQgFjYC0AEgBCAXNgLMASAEIBU2AsgBIAQjhICAgAAiAUGKgICAAGqtQiCGIARByAFqrYQ3A+gBIAQgAUGCgICAAGqtQiCGIAKthDcD4AEgBCABQYSAgIAAaq1CIIYgBEH8AGqthDcD2AEgBEG0AWojgYCAgABByIKIgABqIARB2AFqEMOAgIAAIARBADoAwAECQCAEKALIASIBRQ0AIAEgBCgCzAEiAmojgYCAgABB4K2IgABqKAIARw0AI4GAgIAAQeCtiIAAaiACNgIACyAEKQOoASESIAQpArQBIRkgBCkCvAEhGiAAIAQoAsQBNgIkIAAgGjcCHCAAIBk3AhQgAEGBlOvcAzYCECAAIBI3AwggAEIBNwMACwJAIAQoAnwiAUEBSA0AIAEgBCgCgAEiAmojgYCAgABB4K2IgABqKAIARw0AI4GAgIAAQeCtiIAAaiACNgIACyAEQewAahCngICAACAEKAJkIQwMCQsgBCAEKAKEATYCsAEgBCAEKQJ8NwOoASABQQBHIQYCQCALIAQoAmBHDQAgBEHgAGoQqICAgAAgBCgCZCEICyAIIAtBKGxqIgEgBTYCBCABIAY2AgAgASAEKQOoATcDCCABIAQoArABNgIQIAEgCjYCJCABIAk2AiAgASAUNgIcIAEgEzYCGCAEIAtBAWoiCzYCaCAHIQEgByANRw0ACwsgBCgCZCIMIAtBKGwiCWohFCAEQewAahCngICAACAJIQIgDCEBAkADQCACRQ0BAkAgASgCAEUNACACQVhqIQIgAUEYaiEFIAFBKGohASAFKAIAQYyAgIB4Rw0BCwsgBEEANgKwASAEQoCAgIAQNwKoASALRQ0DIAxBGGohAQNAIARBqAFqIAFBdGooAgAgAUF4aigCACABEKWAgIAAIAFBKGohASAJQVhqIgkNAAsgBCgCrAEhAiAEKAKwASIBQQdLDQIgAUUNAyACLQAARQ0GIAFBAUYNAyACLQABRQ0GIAFBAkYNAyACLQACRQ0GIAFBA0YNAyACLQADRQ0GIAFBBEYNAyACLQAERQ0GIAFBBUYNAyACLQAFRQ0GIAFBBkYNAyACLQAGDQMMBgsgBCgCYCIOQShsIhNBGG4hECAMIQIgDCEKAkAgC0UNACAMIQIgDCEKA0AgAigCJCEFIAIoAiAhCyACKAIcIQYgAigCGCEBIAIoAgwhAyACKAIIIQkCQAJAAkACQAJAAkACQCACKAIAQQFHDQAgAUGMgICAeEcNAQsCQCAJQQFIDQAgCSADaiOBgICAAEHgrYiAAGooAgBHDQAjgYCAgABB4K2IgABqIAM2AgALIAFB9f///wdqDgIDAQILIAIoAgQhCAJAIAlBAUgNACAJIANqI4GAgIAAQeCtiIAAaigCAEcNACOBgICAAEHgrYiAAGogAzYCAAsgCiAINgIQIAogBTYCDCAKIAs2AgggCiAGNgIEIAogATYCACAKQRhqIQoMBAsgBkUNAyAGIAtqI4GAgIAAQeCtiIAAaigCAEcNAyOBgICAAEHgrYiAAGogCzYCAAwDCwJAAkACQAJAAkAgAUGAgICAeHNBCyABQQBIGw4LBwEHBwIHBwcHAwQACyABRQ0GIAYgAWojgYCAgABB4K2IgABqKAIARw0GDAULIAZFDQUgBiALaiOBgICAAEHgrYiAAGooAgBHDQUgCyEGDAQLIAZFDQQgBiALaiOBgICAAEHgrYiAAGooAgBHDQQgCyEGDAMLIAZFDQMgBiALaiOBgICAAEHgrYiAAGooAgBHDQMgCyEGDAILIAZFDQIgBiALaiOBgICAAEHgrYiAAGooAgBHDQIgCyEGDAELAkAgBUUNACOBgICAAEHgrYiAAGooAgAhCCALIQEDQAJAAkACQAJAAkACQAJAIAEoAgAiCUGAgICAeHNBCyAJQQBIGw4LBgEGBgIGBgYGAwQACyAJRQ0FIAkgAUEEaigCACIDaiAIRw0FDAQLIAFBBGooAgAiCUUNBCAJIAFBCGooAgAiA2ogCEYNAwwECyABQQRqKAIAIglFDQMgCSABQQhqKAIAIgNqIAhGDQIMAwsgAUEEaigCACIJRQ0CIAkgAUEIaigCACIDaiAIRg0BDAILIAFBBGooAgAiCUUNASAJIAFBCGooAgAiA2ogCEcNAQsjgYCAgABB4K2IgABqIAM2AgAgAyEICyABQRBqIQEgBUF/aiIFDQALCyAGRQ0BIAZBBHQgC2ojgYCAgABB4K2IgABqKAIARw0BI4GAgIAAQeCtiIAAaiALNgIADAELI4GAgIAAQeCtiIAAaiAGNgIACyACQShqIgIgFEcNAAsLIBQgAmtBKG4hBwJAIBQgAkYNAEEAIQsDQAJAIAIgC0EobGoiBigCCCIBQQFIDQAgASAGKAIMIgVqI4GAgIAAQeCtiIAAaigCAEcNACOBgICAAEHgrYiAAGogBTYCAAsCQAJAIAYoAhgiAUGMgICAeEYNAAJAIAFBi4CAgHhGDQAgBkEYahCggICAAAwCCyAGKAIgIRQCQCAGKAIkIglFDQAjgYCAgABB4K2IgABqKAIAIQggFCEBA0ACQAJAAkACQAJAAkACQCABKAIAIgVBgICAgHhzQQsgBUEASBsOCwYBBgYCBgYGBgMEAAsgBUUNBSAFIAFBBGooAgAiA2ogCEcNBQwECyABQQRqKAIAIgVFDQQgBSABQQhqKAIAIgNqIAhGDQMMBAsgAUEEaigCACIFRQ0DIAUgAUEIaigCACIDaiAIRg0CDAMLIAFBBGooAgAiBUUNAiAFIAFBCGooAgAiA2ogCEYNAQwCCyABQQRqKAIAIgVFDQEgBSABQQhqKAIAIgNqIAhHDQELI4GAgIAAQeCtiIAAaiADNgIAIAMhCAsgAUEQaiEBIAlBf2oiCQ0ACwsgBigCHCIBRQ0BIAFBBHQgFGojgYCAgABB4K2IgABqKAIARw0BI4GAgIAAQeCtiIAAaiAUNgIADAELIAYoAhwiAUUNACABIAYoAiAiBWojgYCAgABB4K2IgABqKAIARw0AI4GAgIAAQeCtiIAAaiAFNgIACyALQQFqIgsgB0cNAAsLIAwhASAORQ0EIAwhASATIBBBGGwiAkYNBAJAIBNBF0sNAAJAIBMNAEEIIQEMBgtBCCEBIAwhAiATIAxqI4GAgIAAQeCtiIAAaigCAEcNBQwECyAMIQEgEyAMaiOBgICAAEHgrYiAAGooAgBHDQQgDCEBIAIjgYCAgABB4K2IgABqKAIEIAxrSw0EIAIgDGohAiAMIQEMAwtBAUE0EL6AgIAAAAsgBEEQakEAIAIgARDogICAACAEKAIQQQFGDQMLIAAgBCgCsAE2AhggACAEKQKoATcCECAAQgI3AwggAEIANwMADAMLI4GAgIAAQeCtiIAAaiACNgIACyAAIAE2AhQgACAQNgIQIABCAzcDCCAAQgA3AwAgACAKIAxrQRhuNgIYDAgLI4GAgIAAIQEQkICAgAACQAJAIAFB4K2IgABqKAIEIgJFDQAjgYCAgABB4K2IgABqKAIAIQEMAQs/ACEBI4GAgIAAQeCtiIAAaiIFIAFBEHQiAjYCBCAFI4OAgIAAIgE2AgALIAFBRksNAQJAIAFBOWoiBSACTQ0AIARBCGojgYCAgABB4K2IgABqIAFBAUE5EJKAgIAAIAQoAghBAUcNAiAEKAIMIgFBOWohBQsjgYCAgABB4K2IgABqIAU2AgAgAUUNASAAQQA6ACAgAEE5NgIcIAAgATYCGCAAQoGU69yTBzcDECABI4GAgIAAQbeNiIAAaiICLQA4OgA4IAEgAikAMDcAMCABIAIpACg3ACggASACKQAgNwAgIAEgAikAGDcAGCABIAIpABA3ABAgASACKQAINwAIIAEgAikAADcAACAAQgE3AwAgBCgCqAEiAUUNACABIAQoAqwBIgJqIAVHDQAjgYCAgABB4K2IgABqIAI2AgALAkAgC0UNAEEAIQYDQAJAIAwgBkEobGoiCSgCCCIBQQFIDQAgASAJKAIMIgJqI4GAgIAAQeCtiIAAaigCAEcNACOBgICAAEHgrYiAAGogAjYCAAsCQAJAIAkoAhgiAUGMgICAeEYNAAJAIAFBi4CAgHhGDQAgCUEYahCggICAAAwCCyAJKAIgIQMCQCAJKAIkIgVFDQAjgYCAgABB4K2IgABqKAIAIQAgAyEBA0ACQAJAAkACQAJAAkACQCABKAIAIgJBgICAgHhzQQsgAkEASBsOCwYBBgYCBgYGBgMEAAsgAkUNBSACIAFBBGooAgAiCmogAEcNBQwECyABQQRqKAIAIgJFDQQgAiABQQhqKAIAIgpqIABGDQMMBAsgAUEEaigCACICRQ0DIAIgAUEIaigCACIKaiAARg0CDAMLIAFBBGooAgAiAkUNAiACIAFBCGooAgAiCmogAEYNAQwCCyABQQRqKAIAIgJFDQEgAiABQQhqKAIAIgpqIABHDQELI4GAgIAAQeCtiIAAaiAKNgIAIAohAAsgAUEQaiEBIAVBf2oiBQ0ACwsgCSgCHCIBRQ0BIAFBBHQgA2ojgYCAgABB4K2IgABqKAIARw0BI4GAgIAAQeCtiIAAaiADNgIADAELIAkoAhwiAUUNACABIAkoAiAiAmojgYCAgABB4K2IgABqKAIARw0AI4GAgIAAQeCtiIAAaiACNgIACyAGQQFqIgYgC0cNAAsLIAQoAmAiAUUNBiABQShsIAxqI4GAgIAAQeCtiIAAaigCAEcNBiOBgICAAEHgrYiAAGogDDYCAAwGC0EBQTkQvoCAgAAACwJAIAEgBUYNAANAAkAgBSIKQX9qIgUsAAAiCUF/Sg0AAkACQCAKQX5qIgUtAAAiDMAiC0FASA0AIAxBH3EhDAwBCwJAAkAgCkF9aiIFLQAAIgzAIhRBQEgNACAMQQ9xIQwMAQsgCkF8aiIFLQAAQQdxQQZ0IBRBP3FyIQwLIAxBBnQgC0E/cXIhDAsgDEEGdCAJQT9xciEJCwJAAkAgCUF3akEFSQ0AIAlBIEYNACAJQYABSQ0BAkACQAJAAkAgCUEIdiIMQWpqDhsABQUFBQUFBQUFAgUFBQUFBQUFBQUFBQUFBQEDCyAJQYAtRg0DDAQLIAlBgOAARg0CDAMLI4iAgIAAIAlB/wFxai0AAEECcQ0BDAILIAwNASOIgICAACAJQf8BcWotAABBAXFFDQELIAEgBUcNAQwCCwsgAiABayAKaiECCyACIAZHDQELI4GAgIAAIQEgBygCACEJEJCAgIAAAkACQCABQeCtiIAAaigCBCICRQ0AI4GAgIAAQeCtiIAAaigCACEBDAELPwAhASOBgICAAEHgrYiAAGoiBSABQRB0IgI2AgQgBSODgICAACIBNgIACyABQUtLDQECQCABQTRqIgUgAk0NACAEQcgAaiOBgICAAEHgrYiAAGogAUEBQTQQkoCAgAAgBCgCSEEBRw0CIAQoAkwiAUE0aiEFCyOBgICAAEHgrYiAAGogBTYCACABRQ0BIABBADoAICAAQTQ2AhwgACABNgIYIABCgZTr3MMGNwMQIAEjgYCAgABB/oyIgABqIgIoADA2ADAgASACKQAoNwAoIAEgAikAIDcAICABIAIpABg3ABggASACKQAQNwAQIAEgAikACDcACCABIAIpAAA3AAAgAEIBNwMAIAlFDQMgCSADaiAFRw0DI4GAgIAAQeCtiIAAaiADNgIADAMLAkACQCAIQQdLDQAgCEUNASADLQAARQ0DIAhBAUYNASADLQABRQ0DIAhBAkYNASADLQACRQ0DIAhBA0YNASADLQADRQ0DIAhBBEYNASADLQAERQ0DIAhBBUYNASADLQAFRQ0DIAhBBkYNASADLQAGDQEMAwsgBEHYAGpBACADIAgQ6ICAgAAgBCgCWEEBRg0CCyAAQgI3AwggAEIANwMAIAAgBygCCDYCGCAAIAcpAgA3AhAMAgtBAUE0EL6AgIAAAAsjgYCAgAAhASAHKAIAIQkQkICAgAACQAJAIAFB4K2IgABqKAIEIgJFDQAjgYCAgABB4K2IgABqKAIAIQEMAQs/ACEBI4GAgIAAQeCtiIAAaiIFIAFBEHQiAjYCBCAFI4OAgIAAIgE2AgALIAFBRksNAQJAIAFBOWoiBSACTQ0AIARB0ABqI4GAgIAAQeCtiIAAaiABQQFBORCSgICAACAEKAJQQQFHDQIgBCgCVCIBQTlqIQULI4GAgIAAQeCtiIAAaiAFNgIAIAFFDQEgAEEAOgAgIABBOTYCHCAAIAE2AhggAEKBlOvckwc3AxAgASOBgICAAEG3jYiAAGoiAi0AODoAOCABIAIpADA3ADAgASACKQAoNwAoIAEgAikAIDcAICABIAIpABg3ABggASACKQAQNwAQIAEgAikACDcACCABIAIpAAA3AAAgAEIBNwMAIAlFDQAgCSADaiAFRw0AI4GAgIAAQeCtiIAAaiADNgIACyAEQfABaiSAgICAAA8LQQFBORC+gICAAAALIAYgCRC+gICAAAALhAUBCn8CQCAAKAIMIgEgACgCBCICRg0AIAEgAmtBBXYhA0EAIQQDQAJAIAIgBEEFdGoiBSgCACIBQQFIDQAgASAFKAIEIgZqI4GAgIAAQeCtiIAAaigCAEcNACOBgICAAEHgrYiAAGogBjYCAAsCQAJAIAUoAhAiAUGMgICAeEYNAAJAIAFBi4CAgHhGDQAgBUEQahCggICAAAwCCyAFKAIYIQcCQCAFKAIcIghFDQAjgYCAgABB4K2IgABqKAIAIQkgByEBA0ACQAJAAkACQAJAAkACQCABKAIAIgZBgICAgHhzQQsgBkEASBsOCwYBBgYCBgYGBgMEAAsgBkUNBSAGIAFBBGooAgAiCmogCUcNBQwECyABQQRqKAIAIgZFDQQgBiABQQhqKAIAIgpqIAlGDQMMBAsgAUEEaigCACIGRQ0DIAYgAUEIaigCACIKaiAJRg0CDAMLIAFBBGooAgAiBkUNAiAGIAFBCGooAgAiCmogCUYNAQwCCyABQQRqKAIAIgZFDQEgBiABQQhqKAIAIgpqIAlHDQELI4GAgIAAQeCtiIAAaiAKNgIAIAohCQsgAUEQaiEBIAhBf2oiCA0ACwsgBSgCFCIBRQ0BIAFBBHQgB2ojgYCAgABB4K2IgABqKAIARw0BI4GAgIAAQeCtiIAAaiAHNgIADAELIAUoAhQiAUUNACABIAUoAhgiBmojgYCAgABB4K2IgABqKAIARw0AI4GAgIAAQeCtiIAAaiAGNgIACyAEQQFqIgQgA0cNAAsLAkAgACgCCCIBRQ0AIAFBBXQgACgCACIBaiOBgICAAEHgrYiAAGooAgBHDQAjgYCAgABB4K2IgABqIAE2AgALC38BA38jgICAgABBEGsiASSAgICAACABQQRqIAAoAgAiAiAAKAIEIAJBAXQiAkEEIAJBBEsbIgJBCEEoELeAgIAAAkAgASgCBEEBRw0AIAEoAgggASgCDBC+gICAAAALIAEoAgghAyAAIAI2AgAgACADNgIEIAFBEGokgICAgAALDwAgACgCACABEOyAgIAACw8AIAAoAgAgARDtgICAAAuQBgUBfwR+AX8DfgJ/I4CAgIAAQfAAayICJICAgIAAAkACQAJAAkAgACkDACIDQoCAgICAgICAgH9RDQACQCADQv///////////wBRDQAgAiADIANCwIQ9fyIEQsCEPX59IgNCP4ciBULAhD2DIAN8IgY3AwAgAkIDQndCsfUIQgAgBSAEfCIDQoCjBX8iBCADIARCgKMFfn0iBEI/hyIFfKdB7PQraiIAIABBsfUIbSIHQbH1CGxrIgBBAEgbIACsIgh8IgMgAyADQq/1CFatfacgA6ciAEG0C25rIABBrJ0CbmoiAEHMdG2sfCAAQZSdAm2tfCAAQe0Cba0iCUKTfX58IgNCsgJTGyADp0EFbEECakGZAW0iAKx8Igo3AwggAiADIABBmQFsQQJqQXttrHxCAXw3AxAgAiAIQj+HIAesfEKQA34gCXwgCkIDU618IgNCASADfSADQgBVIgcbNwMYIAJBAEEDIAcbNgIkQQEhACACQQEjgYCAgAAiC0GajoiAAGogBxs2AiAgAiAFQoCjBYMgBHynIgdBkBxurTcDKCACIAdBPG4iDEH//wNxQTxwrTcDMCACIAcgDEE8bGutNwM4IAIjhYCAgACtQiCGIgMgAkE4aq2ENwNoIAIgAyACQTBqrYQ3A2AgAiADIAJBKGqthDcDWCACIAMgAkEQaq2ENwNQIAIgAyACQQhqrYQ3A0ggAiADIAJBGGqthDcDQCABKAIAIAEoAgQgC0G4joiAAGogAkHAAGoQ2ICAgAANBCAGQgBSDQIMAwsgASOBgICAAEGJjoiAAGpBCBDhgICAACEADAMLIAEjgYCAgABBkY6IgABqQQkQ4YCAgAAhAAwCCyACIAMgAq2ENwNAI4GAgIAAIQcgASgCACABKAIEIAdB7Y6IgABqIAJBwABqENiAgIAADQELIAIjhICAgABBgoCAgABqrUIghiACQSBqrYQ3A0AjgYCAgAAhACABKAIAIAEoAgQgAEHtgIiAAGogAkHAAGoQ2ICAgAAhAAsgAkHwAGokgICAgAAgAAveAwMBfwV+AX8jgICAgABBwABrIgIkgICAgAACQAJAIAAoAgAiAEGAgICAeEYNAAJAIABB/////wdGDQAgAkIDQncgAKxC7PQrfCIDIANCsfUIfyIEQrH1CH59IgNCP4ciBUKx9QiDIAN8IgMgAyADQq/1CFatfacgA6ciAEG0C25rIABBrJ0CbmoiAEHMdG2sfCAAQZSdAm2tfCAAQe0Cba0iBkKTfX58IgNCsgJTGyADp0EFbEECakGZAW0iAKx8Igc3AwAgAiADIABBmQFsQQJqQXttrHxCAXw3AwggAiAFIAR8QpADfiAGfCAHQgNTrXwiA0IBIAN9IANCAFUiABs3AxAgAkEAQQMgABs2AhwgAkEBI4GAgIAAIghBmo6IgABqIAAbNgIYIAIjhICAgABBgoCAgABqrUIghiACQRhqrYQ3AzggAiOFgICAAK1CIIYiAyACQQhqrYQ3AzAgAiADIAKthDcDKCACIAMgAkEQaq2ENwMgIAEoAgAgASgCBCAIQZ2OiIAAaiACQSBqENiAgIAAIQEMAgsgASOBgICAAEGJjoiAAGpBCBDhgICAACEBDAELIAEjgYCAgABBkY6IgABqQQkQ4YCAgAAhAQsgAkHAAGokgICAgAAgAQsPACAAKAIAIAEQ74CAgAALNAACQCABRQ0AIAEgAGojgYCAgABB4K2IgABqKAIARw0AI4GAgIAAQeCtiIAAaiAANgIACwsIABC6gICAAAsCAAu8BAEEfyOAgICAAEEQayICJICAgIAAIAJBADYCDAJAAkAgAUGAAUkNACABQT9xQYB/ciEDIAFBBnYhBAJAIAFBgBBPDQAgAiADOgANIAIgBEHAAXI6AAxBAiEDDAILIAFBDHYhBSAEQT9xQYB/ciEEAkAgAUH//wNLDQAgAiADOgAOIAIgBDoADSACIAVB4AFyOgAMQQMhAwwCCyACIAM6AA8gAiAEOgAOIAIgBUE/cUGAf3I6AA0gAiABQRJ2QXByOgAMQQQhAwwBCyACIAE6AAxBASEDCwJAAkAgACgCgAgiBEGACEcNAEEAIQEMAQtBgAggBGsiASADIAEgA0kiARshBQJAIAFFDQAgAkEMaiAFaiwAAEG/f0oNAAJAIAVBf2oiAQ0AQQAhAQwCCyABIANPDQEgAkEMaiABaiwAAEG/f0oNAQJAIAVBfmoiAQ0AQQAhAQwCCyABIANPDQEgAkEMaiABaiwAAEG/f0oNAUEAIQEgBUF9aiIFRQ0BAkAgBSADSQ0AIAUhAQwCCyAFQQAgAkEMaiAFaiwAAEG/f0obIQEMAQsgBSEBCwJAAkAgASAEaiIFIARJDQAgBUGBCEkNAQsgBCAFQYAII4GAgIAAQbimiIAAahDTgICAAAALAkAgASADSw0AAkAgAUUNACAAIARqIAJBDGogAfwKAAALIAAgACgCgAggAWo2AoAIIAJBEGokgICAgAAgASADRw8LQQAgASADI4GAgIAAQaimiIAAahDTgICAAAALGwAgACOBgICAAEHopYiAAGogASACENiAgIAACxsAIAAjgYCAgABBkKaIgABqIAEgAhDYgICAAAv4AwEKfwJAIAAoAgwiASAAKAIEIgJGDQAgASACa0EEdiEDQQAhBANAAkACQCACIARBBHRqIgUoAgBBi4CAgHhGDQAgBRCggICAAAwBCyAFKAIIIQYCQCAFKAIMIgdFDQAjgYCAgABB4K2IgABqKAIAIQggBiEBA0ACQAJAAkACQAJAAkACQCABKAIAIglBgICAgHhzQQsgCUEASBsOCwYBBgYCBgYGBgMEAAsgCUUNBSAJIAFBBGooAgAiCmogCEcNBQwECyABQQRqKAIAIglFDQQgCSABQQhqKAIAIgpqIAhGDQMMBAsgAUEEaigCACIJRQ0DIAkgAUEIaigCACIKaiAIRg0CDAMLIAFBBGooAgAiCUUNAiAJIAFBCGooAgAiCmogCEYNAQwCCyABQQRqKAIAIglFDQEgCSABQQhqKAIAIgpqIAhHDQELI4GAgIAAQeCtiIAAaiAKNgIAIAohCAsgAUEQaiEBIAdBf2oiBw0ACwsgBSgCBCIBRQ0AIAFBBHQgBmojgYCAgABB4K2IgABqKAIARw0AI4GAgIAAQeCtiIAAaiAGNgIACyAEQQFqIgQgA0cNAAsLAkAgACgCCCIBRQ0AIAFBBHQgACgCACIBaiOBgICAAEHgrYiAAGooAgBHDQAjgYCAgABB4K2IgABqIAE2AgALC0ABAX8CQCAAKAIAIgFFDQAgASAAKAIEIgBqI4GAgIAAQeCtiIAAaigCAEcNACOBgICAAEHgrYiAAGogADYCAAsLFQAgAEGClOvcAzYCCCABELSAgIAAC7cFAwN/AX4BfyOAgICAAEEQayIGJICAgIAAQQEhB0EEIQgCQAJAIAWtIAOtfiIJQiCIp0UNAEEAIQMMAQsCQCAJpyIDQYCAgIB4IARrTQ0AQQAhAwwBCwJAAkACQAJAAkACQAJAIAFFDQACQCAFIAFsIgUgAmojgYCAgABB4K2IgABqKAIAIghHDQAgAyOBgICAAEHgrYiAAGooAgQgAmtNDQQLIAMgBU0NBAJAI4GAgIAAQeCtiIAAaigCBCIKDQA/ACEII4GAgIAAQeCtiIAAaiIBIAhBEHQiCjYCBCABI4OAgIAAIgg2AgALAkAgCCAEcCIBRQ0AIAQgAWsiASAIaiIIIAFJDQMLIAggA2oiASAISQ0CAkAgASAKTQ0AIAZBCGojgYCAgABB4K2IgABqIAggBCADEJKAgIAAIAYoAghBAUcNAyAGKAIMIgggA2ohAQsjgYCAgABB4K2IgABqIAE2AgAgBUUNASAIIAIgBfwKAAAMAQsCQCADDQAgBCEIDAULI4GAgIAAIQgQkICAgAACQAJAIAhB4K2IgABqKAIEIgFFDQAjgYCAgABB4K2IgABqKAIAIQgMAQs/ACEII4GAgIAAQeCtiIAAaiIFIAhBEHQiATYCBCAFI4OAgIAAIgg2AgALAkAgCCAEcCIFRQ0AIAQgBWsiBSAIaiIIIAVJDQILIAggA2oiBSAISQ0BAkAgBSABTQ0AIAYjgYCAgABB4K2IgABqIAggBCADEJKAgIAAIAYoAgBBAXFFDQIgBigCBCIIIANqIQULI4GAgIAAQeCtiIAAaiAFNgIACyAIDQMLIAAgBDYCBAwDCyOBgICAAEHgrYiAAGogAyACajYCAAsgAiEICyAAIAg2AgRBACEHC0EIIQgLIAAgCGogAzYCACAAIAc2AgAgBkEQaiSAgICAAAvTAQEDf0EAIQMCQEGACCAAKAKACCIEayIFIAIgBSACSRsiBUUNAAJAA0AgBSACTw0BIAEgBWosAABBv39KDQEgBUF/aiIFDQAMAgsLIAUhAwsCQAJAIAMgBGoiBSAESQ0AIAVBgQhJDQELIAQgBUGACCOBgICAAEG4poiAAGoQ04CAgAAACwJAIAMgAksNAAJAIANFDQAgACAEaiABIAP8CgAACyAAIAAoAoAIIANqNgKACCADIAJHDwtBACADIAIjgYCAgABBqKaIgABqENOAgIAAAAvQBAEEfyOAgICAAEEQayIEJICAgIAAAkAgA0UNAAJAAkACQAJAIAENAAJAAkAjgYCAgABB4K2IgABqKAIEIgVFDQAjgYCAgABB4K2IgABqKAIAIQEMAQs/ACEBI4GAgIAAQeCtiIAAaiIAIAFBEHQiBTYCBCAAI4OAgIAAIgE2AgALAkAgASACcCIARQ0AIAIgAGsiACABaiIBIABJDQQLIAEgA2oiACABSQ0DAkAgACAFSw0AIAEhAgwCCyAEI4GAgIAAQeCtiIAAaiABIAIgAxCSgICAACAEKAIAQQFxRQ0DIAQoAgQiAiADaiEADAELAkACQAJAIAEgAGojgYCAgABB4K2IgABqKAIAIgVHDQAgAyOBgICAAEHgrYiAAGooAgQgAGtNDQELIAMgAUsNASAAIQIMAwsjgYCAgABB4K2IgABqIAMgAGo2AgAgACECDAILAkAjgYCAgABB4K2IgABqKAIEIgYNAD8AIQUjgYCAgABB4K2IgABqIgcgBUEQdCIGNgIEIAcjg4CAgAAiBTYCAAsCQCAFIAJwIgdFDQAgAiAHayIHIAVqIgUgB0kNAwsgBSADaiIHIAVJDQICQAJAIAcgBksNACAFIQIMAQsgBEEIaiOBgICAAEHgrYiAAGogBSACIAMQkoCAgAAgBCgCCEEBRw0DIAQoAgwiAiADaiEHCyOBgICAAEHgrYiAAGogBzYCACABRQ0BIAIgACAB/AoAAAwBCyOBgICAAEHgrYiAAGogADYCAAsgAg0BCwALIARBEGokgICAgAAgAgs1AQF/AkAjgYCAgABBiK6IgABqLQAADQAjgYCAgAAhABCBgICAACAAQYiuiIAAakEBOgAACwtTAQF/AkAgAg0AIABCADcCAA8LEJCAgIAAAkAgAiABEJGAgIAAIgNFDQAgACADNgIMIAAgAjYCCCAAIAE2AgQgACADNgIADwsgASACEMGAgIAAAAsgAQF/AkAgACgCACIBRQ0AIAAoAgQgAUEBEJOAgIAACwufAQEBfyOAgICAAEEQayIDJICAgIAAAkAgAiABaiIBIAJPDQBBAEEAEL6AgIAAAAsgA0EEaiAAKAIAIgIgACgCBCABIAJBAXQiAiABIAJLGyICQQggAkEISxsiAhC/gICAAAJAIAMoAgRBAUcNACADKAIIIAMoAgwQvoCAgAAACyADKAIIIQEgACACNgIAIAAgATYCBCADQRBqJICAgIAACxwAAkAgAEUNACAAIAEQwYCAgAAACxDCgICAAAALkAEAAkACQCADQQBODQBBASEBQQQhAkEAIQMMAQsCQAJAAkACQCABRQ0AIAIgAUEBIAMQlICAgAAhAQwBCwJAIAMNAEEBIQEMAgsQkICAgAAgA0EBEJGAgIAAIQELIAENAEEBIQEgAEEBNgIEDAELIAAgATYCBEEAIQELQQghAgsgACACaiADNgIAIAAgATYCAAtYAQF/I4CAgIAAQRBrIgIkgICAgAAgAiAANgIEIAIjiYCAgACtQiCGIAJBBGqthDcDCCOBgICAACIAQf+JiIAAaiACQQhqQQAgAEH4poiAAGoQ5oCAgAAACw0AIAEgABCPgICAAAALJQEBfyOBgICAACIAQaiPiIAAakEjIABBiKeIgABqENWAgIAAAAu7AwEGfyOAgICAAEEQayIDJICAgIAAAkACQAJAAkACQAJAAkAgAkEBcUUNACACQQF2IQQMAQsgAS0AACIERQ0BQQAhBSABIQZBACEHA0AgBkEBaiEGAkACQCAEwEF/Sg0AAkAgBEH/AXFBgAFHDQAgBSAGLwAAIgRqIQUgBiAEakECaiEGDAILIAYgBEEDcUEIeCIIQQV0QYCAgIAEcSAIQQd0ckEddmogBEEBdkECcWogBEECdkECcWohBiAFRSAHciEHDAELIAYgBEH/AXEiBGohBiAFIARqIQULIAYtAAAiBA0AC0EAIQQgByAFQRBJcQ0AQQAhByAFQQF0IgRBAEgNBAsgBA0BC0EBIQZBACEEDAELEJCAgIAAQQEhByAEQQEQkYCAgAAiBkUNAQsgA0EANgIIIAMgBjYCBCADIAQ2AgAgAyOBgICAAEGYp4iAAGogASACENiAgIAARQ0BI4GAgIAAIgRBuY+IgABqQdYAIANBD2ogBEGwp4iAAGogBEHAp4iAAGoQ5ICAgAAACyAHIAQQvoCAgAAACyAAIAMoAgg2AgggACADKQIANwIAIANBEGokgICAgAALGQAgASOBgICAAEGPkIiAAGpBBRDhgICAAAulAgEGfyAAKAIIIQICQAJAIAFBgAFPDQBBASEDDAELAkAgAUGAEE8NAEECIQMMAQtBA0EEIAFBgIAESRshAwsgAiEEAkAgAyAAKAIAIAJrTQ0AIAAgAiADEL2AgIAAIAAoAgghBAsgACgCBCAEaiEEAkACQCABQYABSQ0AIAFBP3FBgH9yIQUgAUEGdiEGAkAgAUGAEE8NACAEIAU6AAEgBCAGQcABcjoAAAwCCyABQQx2IQcgBkE/cUGAf3IhBgJAIAFB//8DSw0AIAQgBToAAiAEIAY6AAEgBCAHQeABcjoAAAwCCyAEIAU6AAMgBCAGOgACIAQgB0E/cUGAf3I6AAEgBCABQRJ2QXByOgAADAELIAQgAToAAAsgACADIAJqNgIIQQALWgEBfwJAAkACQCACIAAoAgAgACgCCCIDa00NACAAIAMgAhC9gICAACAAKAIIIQMMAQsgAkUNAQsgAkUNACAAKAIEIANqIAEgAvwKAAALIAAgAyACajYCCEEACxsAIAAjgYCAgABBmKeIgABqIAEgAhDYgICAAAvXAgIBfwF+I4CAgIAAQcAAayIIJICAgIAAIAggAjYCBCAIIAE2AgAgCCAENgIMIAggAzYCCCAII4GAgIAAIgJB+KSIgABqIABB/wFxQQJ0IgFqKAIANgIUIAggAkHQrYiAAGogAWooAgA2AhACQCAFRQ0AIAggBjYCHCAIIAU2AhggCCOKgICAAK1CIIYgCEEYaq2ENwMoIAgjhICAgAAiBUGagICAAGqtQiCGIgkgCEEIaq2ENwM4IAggCSAIrYQ3AzAgCCAFQZuAgIAAaq1CIIYgCEEQaq2ENwMgI4GAgIAAQbSDiIAAaiAIQSBqIAcQ1YCAgAAACyAII4SAgIAAIgVBmoCAgABqrUIghiIJIAhBCGqthDcDMCAIIAkgCK2ENwMoIAggBUGbgICAAGqtQiCGIAhBEGqthDcDICOBgICAAEH9goiAAGogCEEgaiAHENWAgIAAAAtNAQF/I4CAgIAAQRBrIgYkgICAgAAgBiACNgIMIAYgATYCCCAAIAZBCGojgYCAgABB0KeIgABqIgIgBkEMaiACIAMgBCAFEMiAgIAAAAsVACAAIAFBAXRBAXIgAhDVgICAAAALgQgIAX8CfgN/An4CfwF+A38BfiOAgICAAEEQayIFJICAgIAAAkACQAJAAkACQAJAAkACQCABKQMAIgZCAFENACAGQoCAgICAgICAIFoNASADRQ0CQaB/IAEvARggBnkiB6drIghrwUHQAGxBsKcFakHOEG0iAUHQAEsNAyAFI4uAgIAAIAFBBHRqIgEpAwBCACAGIAeGQgAQ8oCAgAAgBSkDAEI/iCAFKQMIfCIGQUAgCCABLwEIamsiCa0iB4inIQogAS8BCiEBAkBCASAHhiILQn98IgwgBoMiB1BFDQAgA0EKSw0HI4GAgIAAQZSjiIAAaiADQQJ0akF8aigCACAKSw0HCyAJQT9xIQ0CQCAKQZDOAEkNACAKQcCEPUkNBQJAIApBgMLXL0kNAEEIQQkgCkGAlOvcA0kiCBshDkGAwtcvQYCU69wDIAgbIQgMBwtBBkEHIApBgK3iBEkiCBshDkHAhD1BgK3iBCAIGyEIDAYLAkAgCkHkAEkNAEECQQMgCkHoB0kiCBshDkHkAEHoByAIGyEIDAYLQQpBASAKQQlLIg4bIQgMBQsjgYCAgAAiAUGAoYiAAGpBHCABQeCoiIAAahDKgICAAAALI4GAgIAAIgFBnKGIgABqQSQgAUHwqIiAAGoQyoCAgAAACyOBgICAACIBQY+WiIAAakEhIAFBgKmIgABqEMqAgIAAAAsgAUHRACOBgICAAEGQqYiAAGoQ2YCAgAAAC0EEQQUgCkGgjQZJIggbIQ5BkM4AQaCNBiAIGyEICyANrSEPAkACQAJAAkACQCAOIAFrQQFqwSIQIATBIgFMDQAgCUH//wNxIREgECAEa8EgAyAQIAFrIANJGyISQX9qIQ1BACEBA0AgCiAIbiEJIAMgAUYNAyAKIAkgCGxrIQogAiABaiAJQTBqOgAAIA0gAUYNBCAOIAFGDQIgAUEBaiEBIAhBCkkhCSAIQQpuIQggCUUNAAsjgYCAgABBoKmIgABqEOmAgIAAAAsgACACIANBACAQIAQgBkIKgCAIrSAPhiALEOqAgIAADAULIAFBAWohASARQX9qQT9xrSETQgEhBgNAAkAgBiATiFANACAAQQA2AgAMBgsgASADTw0DIAIgAWogB0IKfiIHIA+Ip0EwajoAACAGQgp+IQYgByAMgyEHIBIgAUEBaiIBRw0ACyAAIAIgAyASIBAgBCAHIAsgBhDqgICAAAwECyADIAMjgYCAgABBsKmIgABqENmAgIAAAAsgACACIAMgEiAQIAQgCq0gD4YgB3wgCK0gD4YgCxDqgICAAAwCCyABIAMjgYCAgABBwKmIgABqENmAgIAAAAsgAEEANgIACyAFQRBqJICAgIAAC9kpAwF/A34bfyOAgICAAEHABmsiBSSAgICAAAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkAgASkDACIGQgBRDQAgASkDCCIHQgBRDQEgASkDECIIQgBRDQIgCCAGQn+FVg0DIAYgB1QNBCABLgEYIQEgBSAGPgIMIAUgBkIgiCIHPgIQIAVBAUECIAdQGzYCrAEgBUEUakEAQZgB/AsAIAVBtAFqQQBBnAH8CwAgBUEBNgKwASAFQQE2AtACIAGsIAZCf3x5fULCmsHoBH5CgKHNoLQCfEIgiKciCcEhCgJAAkAgAUEASA0AIAVBDGogARDbgICAABoMAQsgBUGwAWpBACABa8EQ24CAgAAaCwJAAkAgCkF/Sg0AIAVBDGpBACAKa0H//wNxEOuAgIAAGgwBCyAFQbABaiAJQf//AXEQ64CAgAAaCyAFQZwFaiAFQbABakGkAfwKAAAgAyELAkAgA0EKSQ0AIAVBnAVqQXhqIQwgAyELA0AgBSgCvAYiAUEpTw0HAkAgAUUNAAJAAkAgAUECdCIBQXxqIgkNACAFQZwFaiABaiEBQgAhBgwBCyAJQQJ2QQFqIglBAXEhDSAMIAFqIQEgCUH+////B3EhCUIAIQYDQCABQQRqIg4gBkIghiAONQIAhCIGQoCU69wDgCIHPgIAIAEgBiAHQoCU69wDfn1CIIYgATUCAIQiBkKAlOvcA4AiBz4CACAGIAdCgJTr3AN+fSEGIAFBeGohASAJQX5qIgkNAAsgDUUNASABQQhqIQELIAFBfGoiASAGQiCGIAE1AgCEQoCU69wDgD4CAAsgC0F3aiILQQlLDQALCyOBgICAAEGUo4iAAGogC0ECdGooAgBBAXQiCUUNBiAFKAK8BiIBQSlPDQcCQAJAIAENAEEAIQEMAQsgCa0hBgJAAkACQCABQQJ0IgFBfGoiCQ0AIAVBnAVqIAFqIQFCACEHDAELIAlBAnZBAWoiCUEBcSELIAlB/v///wdxIQkgASAFQZwFampBeGohAUIAIQcDQCABQQRqIg4gB0IghiAONQIAhCIHIAaAIgg+AgAgASAHIAggBn59QiCGIAE1AgCEIgcgBoAiCD4CACAHIAggBn59IQcgAUF4aiEBIAlBfmoiCQ0ACyALRQ0BIAFBCGohAQsgAUF8aiIBIAdCIIYgATUCAIQgBoA+AgALIAUoArwGIQELIAUoAqwBIg8gASAPIAFLGyIQQShLDQgCQAJAIBANAEEAIRAMAQtBACELQQAhDQJAAkAgEEEBRg0AIBBBAXEhESAQQT5xIRJBACENIAVBnAVqIQEgBUEMaiEJQQAhCwNAIAEgCSgCACIMIAEoAgBqIg4gC0EBcWoiEzYCACABQQRqIgsgCUEEaigCACIUIAsoAgBqIgsgDiAMSSATIA5JcmoiDjYCACALIBRJIA4gC0lyIQsgCUEIaiEJIAFBCGohASASIA1BAmoiDUcNAAsgEUUNAQsgBUGcBWogDUECdCIBaiIJIAVBDGogAWooAgAiDiAJKAIAaiIBIAtqIgk2AgAgASAOSSAJIAFJciELCyALRQ0AIBBBKEYNCiAFQZwFaiAQQQJ0akEBNgIAIBBBAWohEAsgBSAQNgK8BiAFKALQAiIVIBAgFSAQSxsiAUEpTw0KIAFBAnQhASAFQZwFakF8aiEJAkACQANAIAFFDQEgCSABaigCACIOIAFBfGoiASAFQbABamooAgAiC0YNAAsgDiALTw0AAkAgDw0AQQAhDyAFQQA2AqwBDAILIA9BAnQiDUF8aiIBQQJ2QQFqIglBA3EhCwJAAkACQCABQQxPDQBCACEGIAVBDGohAQwBCyAJQfz///8HcSEJQgAhBiAFQQxqIQEDQCABIAE1AgBCCn4gBnwiBj4CACABQQRqIg4gDjUCAEIKfiAGQiCIfCIGPgIAIAFBCGoiDiAONQIAQgp+IAZCIIh8IgY+AgAgAUEMaiIOIA41AgBCCn4gBkIgiHwiBj4CACAGQiCIIQYgAUEQaiEBIAlBfGoiCQ0ACyALRQ0BCyALQQJ0IQkDQCABIAE1AgBCCn4gBnwiBj4CACABQQRqIQEgBkIgiCEGIAlBfGoiCQ0ACwsCQCAGUA0AIA9BKEYNDiAFQQxqIA1qIAanNgIAIA9BAWohDwsgBSAPNgKsAQwBCyAKQQFqIQoLQQAhFkEBIRMCQCAKwSIBIATBIglIIhdFDQBBACEMDBgLQQAhDCAKIARrwSADIAEgCWsgA0kbIhhFDRcgBUHUAmogBUGwAWpBpAH8CgAAIAVB1AJqQQEQ24CAgAAhGSAFQfgDaiAFQbABakGkAfwKAAAgBUH4A2pBAhDbgICAACEaIAVBnAVqIAVBsAFqQaQB/AoAACAFQbABakF8aiERIAVB1AJqQXxqIQQgBUH4A2pBfGohECAFQZwFakF8aiESIAVBnAVqQQMQ24CAgAAhGyAZKAKgASEcIBooAqABIR0gGygCoAEhHkEAIR8gBSgCrAEhDwJAAkADQCAfISAgD0EpTw0PICBBAWohHyAPQQJ0IQ5BACEBA0AgDiABRg0DIAVBDGogAWohCSABQQRqIQEgCSgCAEUNAAsgHiAPIB4gD0sbIiFBKU8NECAhQQJ0IQECQAJAA0AgAUUNASASIAFqIQkgAUF8aiIBIAVBDGpqKAIAIg4gCSgCACIJRg0AC0EAISIgDiAJSQ0BC0EBIQtBACENAkACQCAhQQFGDQAgIUEBcSEjICFBPnEhD0EAIQ1BASELIAVBDGohASAFQZwFaiEJA0AgASABKAIAIgwgCSgCAEF/c2oiDiALQQFxaiITNgIAIAFBBGoiCyALKAIAIhQgCUEEaigCAEF/c2oiCyAOIAxJIBMgDklyaiIONgIAIAsgFEkgDiALSXIhCyAJQQhqIQkgAUEIaiEBIA8gDUECaiINRw0ACyAjRQ0BCyAFQQxqIA1BAnQiAWoiCSAJKAIAIgkgGyABaigCAEF/c2oiASALaiIONgIAIAEgCUkgDiABSXIhCwsgC0UNEiAFICE2AqwBQQghIiAhIQ8LIB0gDyAdIA9LGyIhQSlPDRIgIUECdCEBAkACQANAIAFFDQEgECABaiEJIAFBfGoiASAFQQxqaigCACIOIAkoAgAiCUYNAAsgDiAJTw0AIA8hIQwBCwJAICFFDQBBASELQQAhDQJAAkAgIUEBRg0AICFBAXEhIyAhQT5xIQ9BACENQQEhCyAFQQxqIQEgBUH4A2ohCQNAIAEgASgCACIMIAkoAgBBf3NqIg4gC0EBcWoiEzYCACABQQRqIgsgCygCACIUIAlBBGooAgBBf3NqIgsgDiAMSSATIA5JcmoiDjYCACALIBRJIA4gC0lyIQsgCUEIaiEJIAFBCGohASAPIA1BAmoiDUcNAAsgI0UNAQsgBUEMaiANQQJ0IgFqIgkgCSgCACIJIBogAWooAgBBf3NqIgEgC2oiDjYCACABIAlJIA4gAUlyIQsLIAtFDRULIAUgITYCrAEgIkEEciEiCyAcICEgHCAhSxsiI0EpTw0UICNBAnQhAQJAAkADQCABRQ0BIAQgAWohCSABQXxqIgEgBUEMamooAgAiDiAJKAIAIglGDQALIA4gCU8NACAhISMMAQsCQCAjRQ0AQQEhC0EAIQ0CQAJAICNBAUYNACAjQQFxISEgI0E+cSEPQQAhDUEBIQsgBUEMaiEBIAVB1AJqIQkDQCABIAEoAgAiDCAJKAIAQX9zaiIOIAtBAXFqIhM2AgAgAUEEaiILIAsoAgAiFCAJQQRqKAIAQX9zaiILIA4gDEkgEyAOSXJqIg42AgAgCyAUSSAOIAtJciELIAlBCGohCSABQQhqIQEgDyANQQJqIg1HDQALICFFDQELIAVBDGogDUECdCIBaiIJIAkoAgAiCSAZIAFqKAIAQX9zaiIBIAtqIg42AgAgASAJSSAOIAFJciELCyALRQ0XCyAFICM2AqwBICJBAmohIgsgFSAjIBUgI0sbIg9BKU8NFiAPQQJ0IQECQAJAA0AgAUUNASARIAFqIQkgAUF8aiIBIAVBDGpqKAIAIg4gCSgCACIJRg0ACyAOIAlPDQAgIyEPDAELAkAgD0UNAEEBIQtBACENAkACQCAPQQFGDQAgD0EBcSEjIA9BPnEhIUEAIQ1BASELIAVBDGohASAFQbABaiEJA0AgASABKAIAIgwgCSgCAEF/c2oiDiALQQFxaiITNgIAIAFBBGoiCyALKAIAIhQgCUEEaigCAEF/c2oiCyAOIAxJIBMgDklyaiIONgIAIAsgFEkgDiALSXIhCyAJQQhqIQkgAUEIaiEBICEgDUECaiINRw0ACyAjRQ0BCyAFQQxqIA1BAnQiAWoiCSAJKAIAIgkgBUGwAWogAWooAgBBf3NqIgEgC2oiDjYCACABIAlJIA4gAUlyIQsLIAtFDRkLIAUgDzYCrAEgIkEBaiEiCyAgIANGDQEgAiAgaiAiQTBqOgAAAkACQCAPDQBBACEPDAELIA9BAnQiDUF8aiIBQQJ2QQFqIglBA3EhCwJAAkACQCABQQxPDQBCACEGIAVBDGohAQwBCyAJQfz///8HcSEJQgAhBiAFQQxqIQEDQCABIAE1AgBCCn4gBnwiBj4CACABQQRqIg4gDjUCAEIKfiAGQiCIfCIGPgIAIAFBCGoiDiAONQIAQgp+IAZCIIh8IgY+AgAgAUEMaiIOIA41AgBCCn4gBkIgiHwiBj4CACAGQiCIIQYgAUEQaiEBIAlBfGoiCQ0ACyALRQ0BCyALQQJ0IQkDQCABIAE1AgBCCn4gBnwiBj4CACABQQRqIQEgBkIgiCEGIAlBfGoiCQ0ACwsgBlANACAPQShGDRkgBUEMaiANaiAGpzYCACAPQQFqIQ8LIAUgDzYCrAEgHyAYRw0AC0EAIRMgGCEMDBkLIAMgAyOBgICAAEHQq4iAAGoQ2YCAgAAACyAYIANLDRYCQCAYICBGDQAgGCAgayIBRQ0AIAIgIGpBMCAB/AsACyAAIAo7AQggACAYNgIEDBgLI4GAgIAAIgFBgKGIgABqQRwgAUHwqoiAAGoQyoCAgAAACyOBgICAACIBQcChiIAAakEdIAFBgKuIgABqEMqAgIAAAAsjgYCAgAAiAUHdoYiAAGpBHCABQZCriIAAahDKgICAAAALI4GAgIAAIgFB3aKIgABqQTYgAUGArIiAAGoQyoCAgAAACyOBgICAACIBQaaiiIAAakE3IAFB8KuIgABqEMqAgIAAAAtBACABQSgjgYCAgABBgKiIgABqENOAgIAAAAsjgYCAgAAiAUGpk4iAAGpBGyABQYCoiIAAahDKgICAAAALQQAgAUEoI4GAgIAAQYCoiIAAahDTgICAAAALQQAgEEEoI4GAgIAAQYCoiIAAahDTgICAAAALQShBKCOBgICAAEGAqIiAAGoQ2YCAgAAAC0EAIAFBKCOBgICAAEGAqIiAAGoQ04CAgAAAC0EoQSgjgYCAgABBgKiIgABqENmAgIAAAAtBACAPQSgjgYCAgABBgKiIgABqENOAgIAAAAtBACAhQSgjgYCAgABBgKiIgABqENOAgIAAAAsjgYCAgAAiAUHEk4iAAGpBGiABQYCoiIAAahDKgICAAAALQQAgIUEoI4GAgIAAQYCoiIAAahDTgICAAAALI4GAgIAAIgFBxJOIgABqQRogAUGAqIiAAGoQyoCAgAAAC0EAICNBKCOBgICAAEGAqIiAAGoQ04CAgAAACyOBgICAACIBQcSTiIAAakEaIAFBgKiIgABqEMqAgIAAAAtBACAPQSgjgYCAgABBgKiIgABqENOAgIAAAAsjgYCAgAAiAUHEk4iAAGpBGiABQYCoiIAAahDKgICAAAALQShBKCOBgICAAEGAqIiAAGoQ2YCAgAAACyAgIBggAyOBgICAAEHgq4iAAGoQ04CAgAAACwJAAkACQAJAAkAgFUUNACAVQQJ0Ig1BfGoiAUECdkEBaiIJQQNxIQsCQAJAAkAgAUEMTw0AQgAhBiAFQbABaiEBDAELIAlB/P///wdxIQlCACEGIAVBsAFqIQEDQCABIAE1AgBCBX4gBnwiBj4CACABQQRqIg4gDjUCAEIFfiAGQiCIfCIGPgIAIAFBCGoiDiAONQIAQgV+IAZCIIh8IgY+AgAgAUEMaiIOIA41AgBCBX4gBkIgiHwiBj4CACAGQiCIIQYgAUEQaiEBIAlBfGoiCQ0ACyALRQ0BCyALQQJ0IQkDQCABIAE1AgBCBX4gBnwiBj4CACABQQRqIQEgBkIgiCEGIAlBfGoiCQ0ACwsCQCAGUEUNACAVIRYMAQsgFUEoRg0BIAVBsAFqIA1qIAanNgIAIBVBAWohFgsgBSAWNgLQAiAWIA8gFiAPSxsiAUEpTw0BIAFBAnQhASAFQQxqQXxqIQsgBUGwAWpBfGohDQJAAkACQAJAAkADQCABRQ0BIA0gAWohCSALIAFqIQ4gAUF8aiEBIA4oAgAiDiAJKAIAIglGDQALIA4gCUsgDiAJSWtB/wFxDgIAAQcLQQAhASATDQcgDEF/aiIBIANPDQEgAiABai0AAEEBcUUNBgsgDCADSw0BIAIgDGohC0EAIQEgAiEJA0AgDCABRg0DIAFBAWohASAJQX9qIgkgDGoiDi0AAEE5Rg0ACyAOIA4tAABBAWo6AAAgAUF/aiIBRQ0FIA5BAWpBMCAB/AsADAULIAEgAyOBgICAAEGgq4iAAGoQ2YCAgAAAC0EAIAwgAyOBgICAAEGwq4iAAGoQ04CAgAAAC0ExIQECQCATDQAgAkExOgAAQTAhASAMQX9qIglFDQAgAkEBakEwIAn8CwALIApBAWohCiAXDQIgDCADTw0CIAsgAToAACAMQQFqIQwMAgtBKEEoI4GAgIAAQYCoiIAAahDZgICAAAALQQAgAUEoI4GAgIAAQYCoiIAAahDTgICAAAALIAwgA0sNAiAMIQELIAAgCjsBCCAAIAE2AgQLIAAgAjYCACAFQcAGaiSAgICAAA8LQQAgDCADI4GAgIAAQcCriIAAahDTgICAAAAL2gMAAkACQAJAIAJFDQAgAS0AAEEwTQ0BIAZBA00NAiAFQQI7AQACQAJAAkACQAJAIAPBIgZBAUgNACAFIAE2AgQgAiADQf//A3EiA0sNAiAFQQA7AQwgBSACNgIIIAUgAyACazYCECAEDQFBAiEBDAQLIAUgAjYCICAFIAE2AhwgBUECOwEYIAVBADsBDCAFQQI2AgggBSOBgICAAEH8koiAAGo2AgQgBUEAIAZrIgM2AhBBAyEBIAQgAk0NAyAEIAJrIgIgA00NAyACIAZqIQQMAgsgBUEBNgIgIAVBAjsBGCAFI4GAgIAAQY6WiIAAajYCHAwBCyAFQQI7ARggBUEBNgIUIAVBAjsBDCAFIAM2AgggBSACIANrIgI2AiAgBSABIANqNgIcIAUjgYCAgABBjpaIgABqNgIQAkAgBCACSw0AQQMhAQwCCyAEIAJrIQQLIAUgBDYCKCAFQQA7ASRBBCEBCyAAIAE2AgQgACAFNgIADwsjgYCAgAAiBUGPloiAAGpBISAFQZCoiIAAahDKgICAAAALI4GAgIAAIgVBsJaIgABqQR8gBUGgqIiAAGoQyoCAgAAACyOBgICAACIFQaSSiIAAakEiIAVBsKiIgABqEMqAgIAAAAujBQMCfwF+BX8jgICAgABBEGsiAiSAgICAAAJAAkAgAC8BDCIDDQAgACgCACAAKAIEIAEQ34CAgAAhAQwBCyACIAEpAgg3AwggAiABKQIANwMAAkACQAJAIAApAggiBKciBUGAgIAIcQ0AIAIoAgQhBgwBCyAAKAIAIAIoAgAgAigCBCIBIAAoAgQoAgwRgICAgACAgICAAA0BIAAgBUGAgID/eXFBsICAgAJyIgU2AgggAkIBNwMAQQAhBkEAIAMgAUH//wNxayIBIAEgA0sbIQMLAkACQCACKAIMIgcNAEEAIQgMAQsgAigCCCEBQQAhCANAAkACQAJAAkACQCABLwEADgMAAQIACyABQQRqKAIAIQkMAwsgAUECai8BACIJDQFBASEJDAILIAFBCGooAgAhCQwBCyAJQfb/F2ogCUGc/x9qcSAJQZj4N2ogCUHwsR9qcXNBEXZBAWohCQsgAUEMaiEBIAkgCGohCCAHQX9qIgcNAAsLAkACQCAIIAZqIgEgA0H//wNxTw0AIAMgAWshBkEAIQFBACEDAkACQAJAIAVBHXZBA3EOBAIAAQACCyAGIQMMAQsgBkH+/wNxQQF2IQMLIAVB////AHEhCSAAKAIEIQggACgCACEHA0AgAUH//wNxIANB//8DcU8NAiABQQFqIQEgByAJIAgoAhARgYCAgACAgICAAEUNAAwDCwsgACgCACAAKAIEIAIQ34CAgAAhASAAIAQ3AggMAgsgByAIIAIQ34CAgAANAEEAIQUgBiADa0H//wNxIQMCQANAIAVB//8DcSIGIANJIQEgBiADTw0BIAVBAWohBSAHIAkgCCgCEBGBgICAAICAgIAARQ0ACwsgACAENwIIDAELQQEhAQsgAkEQaiSAgICAACABC/0IBwF/An4BfwJ+A38BfgJ/I4CAgIAAQfAIayIEJICAgIAAIAG9IgVC/////////weDIgZCgICAgICAgAiEIAVCAYZC/v///////w+DIAVCNIinQf8PcSIHGyIIQgGDIQlBAiEKAkACQAJAAkACQCAGUCILQQJBAyALG0EEIAVCgICAgICAgPj/AIMiBlAbIAZCgICAgICAgPj/AFEbDgUEAAECAwQLQQMhCgwDC0EEIQoMAgsgB0HNd2ohDCAJp0EBcyEKQgEhDQwBC0KAgICAgICAICAIQgGGIAhCgICAgICAgAhRIgwbIQhCAkIBIAwbIQ0gCadBAXMhCkHLd0HMdyAMGyAHaiEMCyADQf//A3EhCyAEIAw7AegIIAQgDTcD4AggBEIBNwPYCCAEIAg3A9AIIAQgCjoA6ggCQAJAAkAgCkH/AXFBAUsNACOBgICAACEKQXRBBSAMwSIMQQBIGyAMbCIMQcD9AEkNASOBgICAACIEQYSTiIAAakElIARB4KeIgABqEMqAgIAAAAsCQAJAAkAgCkF+aiIHQf8BcUUNAEEBIQojgYCAgAAiDEHzkoiAAGoiDiAMQfSSiIAAaiAFQgBTIgwbIA5BASAMGyACGyEMQQEgBUI/iKcgAhshAiAHQf8BcUECRw0BIARBAjsBkAggA0H//wNxDQJBASEKIARBATYCmAggBCOBgICAAEH7koiAAGo2ApQIIARBkAhqIQMMBAsgBEEDNgKYCCAEQQI7AZAIIAQjgYCAgABB9ZKIgABqNgKUCEEBIQwgBEGQCGohA0EAIQJBASEKDAMLIARBAzYCmAggBEECOwGQCCAEI4GAgIAAQfiSiIAAajYClAggBEGQCGohAwwCCyAEIAs2AqAIIARBADsBnAhBAiEKIARBAjYCmAggBCOBgICAAEH8koiAAGo2ApQIIARBkAhqIQMMAQsgCkHzkoiAAGoiByAKQfSSiIAAaiAFQgBTIgobIQ4gB0EBIAobIQcgBUI/iKchDyAEQZAIaiAEQdAIaiAEQRBqIAxBBHZBFWoiDEEAIANrQYCAfiADwUF/ShsiChDLgICAACAKwSEKAkACQCAEKAKQCEUNACAEIAQoApgINgLICCAEIAQpApAINwPACAwBCyAEQcAIaiAEQdAIaiAEQRBqIAwgChDMgICAAAsgDiAHIAIbIQxBASAPIAIbIQICQCAELgHICCIHIApMDQAgBEEIaiAEKALACCAEKALECCAHIAsgBEGQCGpBBBDNgICAACAEKAIMIQogBCgCCCEDDAELQQIhCiAEQQI7AZAIAkAgA0H//wNxDQBBASEKIARBATYCmAggBCOBgICAAEH7koiAAGo2ApQIIARBkAhqIQMMAQsgBCALNgKgCCAEQQA7AZwIIARBAjYCmAggBCOBgICAAEH8koiAAGo2ApQIIARBkAhqIQMLIAQgCjYCzAggBCADNgLICCAEIAI2AsQIIAQgDDYCwAggACAEQcAIahDOgICAACEKIARB8AhqJICAgIAAIAoL8A4KAX8GfgF/BX4BfwV+An8BfgN/AX4jgICAgABB0ABrIgQkgICAgAACQAJAAkACQAJAAkACQAJAAkACQAJAAkAgASkDACIFQgBRDQAgASkDCCIGQgBRDQEgASkDECIHQgBRDQIgByAFfCIIIAdUDQMgBSAGVA0EIANBEE0NBSAIQoCAgICAgICAIFoNBiAEIAEvARgiATsBQCAEIAUgBn0iBjcDOCAEIAYgCHkiB4YiCSAHiCIKNwNIIAogBlINByAEIAE7AUAgBCAFNwM4IAQgBSAHhiIKIAeIIgY3A0ggBiAFUg0IQaB/IAEgB6drIgtrwUHQAGxBsKcFakHOEG0iAUHQAEsNCiAEQSBqI4uAgIAAIAFBBHRqIgEpAwAiBUIAIAggB4ZCABDygICAACAEQRBqIAVCACAJQgAQ8oCAgAAgBCAFQgAgCkIAEPKAgIAAQgFBACALIAEvAQhqayILrSIFhiIMQn98IQ0gBCkDEEI/hyEOIAQpAwBCP4ghDyAEKQMIIRAgAS8BCiEBIAtBP3EhESAEKQMYIRICQCAEKQMoIhMgBCkDIEI/iCIUfCIVQgF8IhYgBYinIhdBkM4ASQ0AIBdBwIQ9SQ0KAkAgF0GAwtcvSQ0AQQhBCSAXQYCU69wDSSILGyEYQYDC1y9BgJTr3AMgCxshCwwNC0EGQQcgF0GAreIESSILGyEYQcCEPUGAreIEIAsbIQsMDAsCQCAXQeQASQ0AQQJBAyAXQegHSSILGyEYQeQAQegHIAsbIQsMDAtBCkEBIBdBCUsiGBshCwwLCyOBgICAACIBQYChiIAAakEcIAFB0KmIgABqEMqAgIAAAAsjgYCAgAAiAUHAoYiAAGpBHSABQeCpiIAAahDKgICAAAALI4GAgIAAIgFB3aGIgABqQRwgAUHwqYiAAGoQyoCAgAAACyOBgICAACIBQd2iiIAAakE2IAFB4KqIgABqEMqAgIAAAAsjgYCAgAAiAUGmooiAAGpBNyABQdCqiIAAahDKgICAAAALI4GAgIAAIgFBxpKIgABqQS0gAUGAqoiAAGoQyoCAgAAACyOBgICAACIBQfmhiIAAakEtIAFBkKqIgABqEMqAgIAAAAtBACAEQcgAaiAEQThqQQAgASOBgICAAEHwp4iAAGoQyYCAgAAAC0EAIARByABqIARBOGpBACABI4GAgIAAQfCniIAAahDJgICAAAALQQRBBSAXQaCNBkkiCxshGEGQzgBBoI0GIAsbIQsMAQsgAUHRACOBgICAAEGQqYiAAGoQ2YCAgAAACyAWIA2DIQUgDyAQfCEZIBGtIQcgGCABa0EBaiEaIA4gEn0gFnxCAXwiCiANgyEGQQAhAQJAAkACQAJAAkACQAJAAkACQAJAA0AgFyALbiERIAMgAUYNAyACIAFqIhsgEUEwaiIcOgAAIAogFyARIAtsayIXrSAHhiIJIAV8IghWDQICQCAYIAFHDQAgAUEBaiEBQgEhCANAIAYhCSAIIQogASADTw0GIAIgAWogBUIKfiIFIAeIp0EwaiILOgAAIAFBAWohASAKQgp+IQggCUIKfiIGIAUgDYMiBVgNAAsgBiAFfSIPIAxUIRcgCCAWIBl9fiIHIAh8IQ4gBSAHIAh9Ig1aDQggDyAMWg0CDAgLIAFBAWohASALQQpJIREgC0EKbiELIBFFDQALI4GAgIAAQaCqiIAAahDpgICAAAALIAIgAWpBf2ohESAMIA19IRlCACAFfSEHIAlCCn4gDH0hFgNAAkAgBSAMfCIIIA1UDQAgDSAHfCAZIAV8Wg0AQQAhFwwHCyARIAtBf2oiCzoAACAWIAd8IgkgDFQhFyAIIA1aDQcgByAMfSEHIAghBSAJIAxUDQcMAAsLIAogCH0iDSALrSAHhiIHVCELIBYgGX0iBkIBfCEdIAggBkJ/fCIMWg0CIA0gB1QNAiAVIBl9IAkgBXx9IRkgFSAOfCASfSAFIAd8IgUgCXx9QgJ8IRYgBSAPfCAQfCAUfSATfSAJfCEJQgAhBQNAAkAgCCAHfCIGIAxUDQAgGSAFfCAJWg0AQQAhCwwECyAbIBxBf2oiHDoAACAWIAV8Ig0gB1QhCyAGIAxaDQQgCSAHfCEJIAUgB30hBSAGIQggDSAHVA0EDAALCyADIAMjgYCAgABBsKqIgABqENmAgIAAAAsgASADI4GAgIAAQcCqiIAAahDZgICAAAALIAghBgsCQCAdIAZYDQAgCw0AAkAgBiAHfCIFIB1UDQAgHSAGfSAFIB19VA0BCyAAQQA2AgAMBAsCQAJAIAZCAlQNACAGIApCfHxYDQELIABBADYCAAwECyAAIBo7AQggACABQQFqNgIEDAILIAUhCAsCQCAOIAhYDQAgFw0AAkAgCCAMfCIFIA5UDQAgDiAIfSAFIA59VA0BCyAAQQA2AgAMAgsCQAJAIApCFH4gCFYNACAIIAYgCkJYfnxYDQELIABBADYCAAwCCyAAIBo7AQggACABNgIECyAAIAI2AgALIARB0ABqJICAgIAAC9AxAwF/BH4efyOAgICAAEGgCmsiBCSAgICAAAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkACQAJAAkAgASkDACIFQgBRDQAgASkDCCIGQgBRDQEgASkDECIHQgBRDQIgByAFfCIIIAdUDQMgBSAGVA0EIANBEE0NBSABLAAaIQkgAS4BGCEBIAQgBT4CACAEIAVCIIgiBT4CBCAEQQFBAiAFUBs2AqABIARBCGpBAEGYAfwLACAEIAY+AqQBIAQgBkIgiCIFPgKoASAEQQFBAiAFUBs2AsQCIARBpAFqQQhqQQBBmAH8CwAgBCAHPgLIAiAEIAdCIIgiBT4CzAIgBEEBQQIgBVAbNgLoAyAEQcgCakEIakEAQZgB/AsAIARB8ANqQQBBnAH8CwAgBEEBNgLsAyAEQQE2AowFIAGsIAhCf3x5fULCmsHoBH5CgKHNoLQCfEIgiKciCsEhCwJAAkAgAUEASA0AIAQgARDbgICAABogBEGkAWogARDbgICAABogBEHIAmogARDbgICAABoMAQsgBEHsA2pBACABa8EQ24CAgAAaCwJAAkAgC0F/Sg0AIARBACALa0H//wNxIgEQ64CAgAAaIARBpAFqIAEQ64CAgAAaIARByAJqIAEQ64CAgAAaDAELIARB7ANqIApB//8BcRDrgICAABoLIARB/AhqIARBpAH8CgAAIAQoAugDIgwgBCgCnAoiASAMIAFLGyINQShLDQYCQAJAIA0NAEEAIQ0MAQtBACEOQQAhDwJAAkAgDUEBRg0AIA1BAXEhECANQT5xIRFBACEPIARB/AhqIQEgBEHIAmohCkEAIQ4DQCABIAooAgAiEiABKAIAaiITIA5BAXFqIhQ2AgAgAUEEaiIOIApBBGooAgAiFSAOKAIAaiIOIBMgEkkgFCATSXJqIhM2AgAgDiAVSSATIA5JciEOIApBCGohCiABQQhqIQEgESAPQQJqIg9HDQALIBBFDQELIARB/AhqIA9BAnQiAWoiCiAEQcgCaiABaigCACITIAooAgBqIgEgDmoiCjYCACABIBNJIAogAUlyIQ4LIA5FDQAgDUEoRg0IIARB/AhqIA1BAnRqQQE2AgAgDUEBaiENCyAEIA02ApwKIA0gBCgCjAUiFiANIBZLGyIBQSlPDQggAUECdCEBIARB/AhqQXxqIRMCQANAAkAgAQ0AQQAhAQwCCyATIAFqIQogAUF8aiIBIARB7ANqaigCACIOIAooAgAiCkYNAAsgDiAKSyAOIApJayEBCwJAAkAgASAJSA0AIAQoAqABIg5BKU8NCwJAAkAgDg0AQQAhDgwBCyAOQQJ0IhJBfGoiAUECdkEBaiIKQQNxIQ8CQAJAAkAgAUEMTw0AQgAhBSAEIQEMAQsgCkH8////B3EhCkIAIQUgBCEBA0AgASABNQIAQgp+IAV8IgU+AgAgAUEEaiITIBM1AgBCCn4gBUIgiHwiBT4CACABQQhqIhMgEzUCAEIKfiAFQiCIfCIFPgIAIAFBDGoiEyATNQIAQgp+IAVCIIh8IgU+AgAgBUIgiCEFIAFBEGohASAKQXxqIgoNAAsgD0UNAQsgD0ECdCEKA0AgASABNQIAQgp+IAV8IgU+AgAgAUEEaiEBIAVCIIghBSAKQXxqIgoNAAsLIAVQDQAgDkEoRg0NIAQgEmogBac2AgAgDkEBaiEOCyAEIA42AqABIAQoAsQCIg5BKU8NDUEAIQ9BACEBAkAgDkUNACAOQQJ0IhRBfGoiAUECdkEBaiIKQQNxIRICQAJAAkAgAUEMTw0AQgAhBSAEQaQBaiEBDAELIApB/P///wdxIQpCACEFIARBpAFqIQEDQCABIAE1AgBCCn4gBXwiBT4CACABQQRqIhMgEzUCAEIKfiAFQiCIfCIFPgIAIAFBCGoiEyATNQIAQgp+IAVCIIh8IgU+AgAgAUEMaiITIBM1AgBCCn4gBUIgiHwiBT4CACAFQiCIIQUgAUEQaiEBIApBfGoiCg0ACyASRQ0BCyASQQJ0IQoDQCABIAE1AgBCCn4gBXwiBT4CACABQQRqIQEgBUIgiCEFIApBfGoiCg0ACwsCQCAFUEUNACAOIQEMAQsgDkEoRg0PIARBpAFqIBRqIAWnNgIAIA5BAWohAQsgBCABNgLEAgJAIAxFDQAgDEECdCIPQXxqIgFBAnZBAWoiCkEDcSEOAkACQAJAIAFBDE8NAEIAIQUgBEHIAmohAQwBCyAKQfz///8HcSEKQgAhBSAEQcgCaiEBA0AgASABNQIAQgp+IAV8IgU+AgAgAUEEaiITIBM1AgBCCn4gBUIgiHwiBT4CACABQQhqIhMgEzUCAEIKfiAFQiCIfCIFPgIAIAFBDGoiEyATNQIAQgp+IAVCIIh8IgU+AgAgBUIgiCEFIAFBEGohASAKQXxqIgoNAAsgDkUNAQsgDkECdCEKA0AgASABNQIAQgp+IAV8IgU+AgAgAUEEaiEBIAVCIIghBSAKQXxqIgoNAAsLAkAgBVBFDQAgBCAMNgLoAwwDCyAMQShGDRAgBEHIAmogD2ogBac2AgAgDEEBaiEPCyAEIA82AugDDAELIAtBAWohCwsgBEGQBWogBEHsA2pBpAH8CgAAIARBkAVqQQEQ24CAgAAhFyAEQbQGaiAEQewDakGkAfwKAAAgBEG0BmpBAhDbgICAACEYIARB2AdqIARB7ANqQaQB/AoAAAJAAkACQAJAIARB2AdqQQMQ24CAgAAiGSgCoAEiGiAEKAKgASIOIBogDksbIhtBKEsNACAEQewDakF8aiEQIARB/AhqQXxqIRwgBEGQBWpBfGohDCAEQbQGakF8aiENIARB2AdqQXxqIREgFygCoAEhHSAYKAKgASEeQQAhHwNAIB8hICAbQQJ0IQECQAJAA0AgAUUNASARIAFqIQogAUF8aiIBIARqKAIAIhMgCigCACIKRg0AC0EAISEgEyAKSQ0BCwJAIBtFDQBBASEOQQAhDwJAAkAgG0EBRg0AIBtBAXEhIiAbQT5xISNBACEPQQEhDiAEIQEgBEHYB2ohCgNAIAEgASgCACISIAooAgBBf3NqIhMgDkEBcWoiFDYCACABQQRqIg4gDigCACIVIApBBGooAgBBf3NqIg4gEyASSSAUIBNJcmoiEzYCACAOIBVJIBMgDklyIQ4gCkEIaiEKIAFBCGohASAjIA9BAmoiD0cNAAsgIkUNAQsgBCAPQQJ0IgFqIgogCigCACIKIBkgAWooAgBBf3NqIgEgDmoiEzYCACABIApJIBMgAUlyIQ4LIA5FDRULIAQgGzYCoAFBCCEhIBshDgsgHiAOIB4gDksbIhtBKU8NFCAbQQJ0IQECQAJAA0AgAUUNASANIAFqIQogAUF8aiIBIARqKAIAIhMgCigCACIKRg0ACyATIApPDQAgDiEbDAELAkAgG0UNAEEBIQ5BACEPAkACQCAbQQFGDQAgG0EBcSEiIBtBPnEhI0EAIQ9BASEOIAQhASAEQbQGaiEKA0AgASABKAIAIhIgCigCAEF/c2oiEyAOQQFxaiIUNgIAIAFBBGoiDiAOKAIAIhUgCkEEaigCAEF/c2oiDiATIBJJIBQgE0lyaiITNgIAIA4gFUkgEyAOSXIhDiAKQQhqIQogAUEIaiEBICMgD0ECaiIPRw0ACyAiRQ0BCyAEIA9BAnQiAWoiCiAKKAIAIgogGCABaigCAEF/c2oiASAOaiITNgIAIAEgCkkgEyABSXIhDgsgDkUNFwsgBCAbNgKgASAhQQRyISELIB0gGyAdIBtLGyIiQSlPDRYgIkECdCEBAkACQANAIAFFDQEgDCABaiEKIAFBfGoiASAEaigCACITIAooAgAiCkYNAAsgEyAKTw0AIBshIgwBCwJAICJFDQBBASEOQQAhDwJAAkAgIkEBRg0AICJBAXEhGyAiQT5xISNBACEPQQEhDiAEIQEgBEGQBWohCgNAIAEgASgCACISIAooAgBBf3NqIhMgDkEBcWoiFDYCACABQQRqIg4gDigCACIVIApBBGooAgBBf3NqIg4gEyASSSAUIBNJcmoiEzYCACAOIBVJIBMgDklyIQ4gCkEIaiEKIAFBCGohASAjIA9BAmoiD0cNAAsgG0UNAQsgBCAPQQJ0IgFqIgogCigCACIKIBcgAWooAgBBf3NqIgEgDmoiEzYCACABIApJIBMgAUlyIQ4LIA5FDRkLIAQgIjYCoAEgIUECaiEhCyAWICIgFiAiSxsiG0EpTw0YIBtBAnQhAQJAAkADQCABRQ0BIAFBfGoiASAEaigCACIKIAEgBEHsA2pqKAIAIhNGDQALIAogE08NACAiIRsMAQsCQCAbRQ0AQQEhDkEAIQ8CQAJAIBtBAUYNACAbQQFxISIgG0E+cSEjQQAhD0EBIQ4gBCEBIARB7ANqIQoDQCABIAEoAgAiEiAKKAIAQX9zaiITIA5BAXFqIhQ2AgAgAUEEaiIOIA4oAgAiFSAKQQRqKAIAQX9zaiIOIBMgEkkgFCATSXJqIhM2AgAgDiAVSSATIA5JciEOIApBCGohCiABQQhqIQEgIyAPQQJqIg9HDQALICJFDQELIAQgD0ECdCIBaiIKIAooAgAiCiAEQewDaiABaigCAEF/c2oiASAOaiITNgIAIAEgCkkgEyABSXIhDgsgDkUNGwsgBCAbNgKgASAhQQFqISELICAgA0YNHiACICBqICFBMGo6AAAgBCgCxAIiJCAbICQgG0sbIgFBKU8NGiAgQQFqIR8gAUECdCEBAkADQAJAIAENAEEAISUMAgsgAUF8aiIBIARqKAIAIgogASAEQaQBamooAgAiE0YNAAsgCiATSyAKIBNJayElCyAEQfwIaiAEQaQB/AoAACAEKALoAyIhIAQoApwKIgEgISABSxsiIkEoSw0bAkACQCAiDQBBACEiDAELQQAhDkEAIQ8CQAJAICJBAUYNACAiQQFxISYgIkE+cSEjQQAhDyAEQfwIaiEBIARByAJqIQpBACEOA0AgASAKKAIAIhIgASgCAGoiEyAOQQFxaiIUNgIAIAFBBGoiDiAKQQRqKAIAIhUgDigCAGoiDiATIBJJIBQgE0lyaiITNgIAIA4gFUkgEyAOSXIhDiAKQQhqIQogAUEIaiEBICMgD0ECaiIPRw0ACyAmRQ0BCyAEQfwIaiAPQQJ0IgFqIgogBEHIAmogAWooAgAiEyAKKAIAaiIBIA5qIgo2AgAgASATSSAKIAFJciEOCyAORQ0AICJBKEYNHSAEQfwIaiAiQQJ0akEBNgIAICJBAWohIgsgBCAiNgKcCiAiIBYgIiAWSxsiAUEpTw0dIAFBAnQhAQJAA0ACQCABDQBBACEBDAILIBwgAWohCiAQIAFqIRMgAUF8aiEBIBMoAgAiEyAKKAIAIgpGDQALIBMgCksgEyAKSWshAQsgJSAJSA0CIAEgCUgNA0EAIQ9BACEOAkAgG0UNACAbQQJ0IhJBfGoiAUECdkEBaiIKQQNxIQ4CQAJAAkAgAUEMTw0AQgAhBSAEIQEMAQsgCkH8////B3EhCkIAIQUgBCEBA0AgASABNQIAQgp+IAV8IgU+AgAgAUEEaiITIBM1AgBCCn4gBUIgiHwiBT4CACABQQhqIhMgEzUCAEIKfiAFQiCIfCIFPgIAIAFBDGoiEyATNQIAQgp+IAVCIIh8IgU+AgAgBUIgiCEFIAFBEGohASAKQXxqIgoNAAsgDkUNAQsgDkECdCEKA0AgASABNQIAQgp+IAV8IgU+AgAgAUEEaiEBIAVCIIghBSAKQXxqIgoNAAsLAkAgBVBFDQAgGyEODAELIBtBKEYNICAEIBJqIAWnNgIAIBtBAWohDgsgBCAONgKgAQJAICRFDQAgJEECdCISQXxqIgFBAnZBAWoiCkEDcSEPAkACQAJAIAFBDE8NAEIAIQUgBEGkAWohAQwBCyAKQfz///8HcSEKQgAhBSAEQaQBaiEBA0AgASABNQIAQgp+IAV8IgU+AgAgAUEEaiITIBM1AgBCCn4gBUIgiHwiBT4CACABQQhqIhMgEzUCAEIKfiAFQiCIfCIFPgIAIAFBDGoiEyATNQIAQgp+IAVCIIh8IgU+AgAgBUIgiCEFIAFBEGohASAKQXxqIgoNAAsgD0UNAQsgD0ECdCEKA0AgASABNQIAQgp+IAV8IgU+AgAgAUEEaiEBIAVCIIghBSAKQXxqIgoNAAsLAkAgBVBFDQAgJCEPDAELICRBKEYNISAEQaQBaiASaiAFpzYCACAkQQFqIQ8LIAQgDzYCxAICQAJAICENAEEAISEMAQsgIUECdCISQXxqIgFBAnZBAWoiCkEDcSEPAkACQAJAIAFBDE8NAEIAIQUgBEHIAmohAQwBCyAKQfz///8HcSEKQgAhBSAEQcgCaiEBA0AgASABNQIAQgp+IAV8IgU+AgAgAUEEaiITIBM1AgBCCn4gBUIgiHwiBT4CACABQQhqIhMgEzUCAEIKfiAFQiCIfCIFPgIAIAFBDGoiEyATNQIAQgp+IAVCIIh8IgU+AgAgBUIgiCEFIAFBEGohASAKQXxqIgoNAAsgD0UNAQsgD0ECdCEKA0AgASABNQIAQgp+IAV8IgU+AgAgAUEEaiEBIAVCIIghBSAKQXxqIgoNAAsLIAVQDQAgIUEoRg0iIARByAJqIBJqIAWnNgIAICFBAWohIQsgBCAhNgLoAyAaIA4gGiAOSxsiG0EpSQ0ACwtBACAbQSgjgYCAgABBgKiIgABqENOAgIAAAAsgASAJTg0BIARBARDbgICAABogFiAEKAKgASIBIBYgAUsbIgFBKU8NHyABQQJ0IQEgBEF8aiEOIARB7ANqQXxqIQ8DQCABRQ0BIA8gAWohCiAOIAFqIRMgAUF8aiEBIBMoAgAiEyAKKAIAIgpGDQALIBMgCkkNAQsgAiAfaiEPQX8hCiAgIQECQANAIAFBf0YNASAKQQFqIQogAiABaiETIAFBf2oiDiEBIBMtAABBOUYNAAsgAiAOaiITQQFqIgEgAS0AAEEBajoAACAKRQ0BIBNBAmpBMCAK/AsADAELIAJBMToAAAJAICBFDQAgAkEBakEwICD8CwALIB8gA08NHyAPQTA6AAAgC0EBaiELICBBAmohHwsgHyADSw0fIAAgCzsBCCAAIB82AgQgACACNgIAIARBoApqJICAgIAADwsjgYCAgAAiBEGAoYiAAGpBHCAEQZCsiIAAahDKgICAAAALI4GAgIAAIgRBwKGIgABqQR0gBEGgrIiAAGoQyoCAgAAACyOBgICAACIEQd2hiIAAakEcIARBsKyIgABqEMqAgIAAAAsjgYCAgAAiBEHdooiAAGpBNiAEQZCtiIAAahDKgICAAAALI4GAgIAAIgRBpqKIgABqQTcgBEGArYiAAGoQyoCAgAAACyOBgICAACIEQcaSiIAAakEtIARBwKyIgABqEMqAgIAAAAtBACANQSgjgYCAgABBgKiIgABqENOAgIAAAAtBKEEoI4GAgIAAQYCoiIAAahDZgICAAAALQQAgAUEoI4GAgIAAQYCoiIAAahDTgICAAAALQQAgDkEoI4GAgIAAQYCoiIAAahDTgICAAAALQShBKCOBgICAAEGAqIiAAGoQ2YCAgAAAC0EAIA5BKCOBgICAAEGAqIiAAGoQ04CAgAAAC0EoQSgjgYCAgABBgKiIgABqENmAgIAAAAtBKEEoI4GAgIAAQYCoiIAAahDZgICAAAALI4GAgIAAIgRBxJOIgABqQRogBEGAqIiAAGoQyoCAgAAAC0EAIBtBKCOBgICAAEGAqIiAAGoQ04CAgAAACyOBgICAACIEQcSTiIAAakEaIARBgKiIgABqEMqAgIAAAAtBACAiQSgjgYCAgABBgKiIgABqENOAgIAAAAsjgYCAgAAiBEHEk4iAAGpBGiAEQYCoiIAAahDKgICAAAALQQAgG0EoI4GAgIAAQYCoiIAAahDTgICAAAALI4GAgIAAIgRBxJOIgABqQRogBEGAqIiAAGoQyoCAgAAAC0EAIAFBKCOBgICAAEGAqIiAAGoQ04CAgAAAC0EAICJBKCOBgICAAEGAqIiAAGoQ04CAgAAAC0EoQSgjgYCAgABBgKiIgABqENmAgIAAAAtBACABQSgjgYCAgABBgKiIgABqENOAgIAAAAsgAyADI4GAgIAAQdCsiIAAahDZgICAAAALQShBKCOBgICAAEGAqIiAAGoQ2YCAgAAAC0EoQSgjgYCAgABBgKiIgABqENmAgIAAAAtBKEEoI4GAgIAAQYCoiIAAahDZgICAAAALQQAgAUEoI4GAgIAAQYCoiIAAahDTgICAAAALIB8gAyOBgICAAEHgrIiAAGoQ2YCAgAAAC0EAIB8gAyOBgICAAEHwrIiAAGoQ04CAgAAAC/IGBgF/An4BfwJ+A38BfiOAgICAAEGAAWsiBCSAgICAACABvSIFQv////////8HgyIGQoCAgICAgIAIhCAFQgGGQv7///////8PgyAFQjSIp0H/D3EiBxsiCEIBgyEJQQIhCgJAAkACQAJAAkAgBlAiC0ECQQMgCxtBBCAFQoCAgICAgID4/wCDIgZQGyAGQoCAgICAgID4/wBRGw4FBAABAgMEC0EDIQoMAwtBBCEKDAILIAdBzXdqIQwgCadBAXMhCkIBIQ0MAQtCgICAgICAgCAgCEIBhiAIQoCAgICAgIAIUSIMGyEIQgJCASAMGyENIAmnQQFzIQpBy3dBzHcgDBsgB2ohDAsgBCAMOwF4IAQgDTcDcCAEQgE3A2ggBCAINwNgIAQgCjoAegJAAkACQAJAAkACQAJAIApB/wFxQQFLDQAgA0H//wNxIQogBEEgaiAEQeAAaiAEQQ9qQREQ0ICAgAAjgYCAgAAiDEHzkoiAAGoiCyAMQfSSiIAAaiAFQgBTIgwbIQMgC0EBIAwbIQwgBUI/iKchCyAEKAIgRQ0BIAQgBCgCKDYCWCAEIAQpAiA3A1AMAgsgCkF+aiILQf8BcUUNAkEBIQojgYCAgAAiDEHzkoiAAGoiByAMQfSSiIAAaiAFQgBTIgwbIAdBASAMGyACGyEMQQEgBUI/iKcgAhshAiALQf8BcUECRw0DIARBAjsBICADQf//A3ENBEEBIQogBEEBNgIoIAQjgYCAgABB+5KIgABqNgIkIARBIGohCwwFCyAEQdAAaiAEQeAAaiAEQQ9qQREQ0YCAgAALIAMgDCACGyEMQQEgCyACGyECIAQgBCgCUCAEKAJUIAQvAVggCiAEQSBqQQQQzYCAgAAgBCgCBCEKIAQoAgAhCwwDCyAEQQM2AiggBEECOwEgIAQjgYCAgABB9ZKIgABqNgIkQQEhDCAEQSBqIQtBACECQQEhCgwCCyAEQQM2AiggBEECOwEgIAQjgYCAgABB+JKIgABqNgIkIARBIGohCwwBCyAEQQE2AjAgBEEAOwEsQQIhCiAEQQI2AiggBCOBgICAAEH8koiAAGo2AiQgBEEgaiELCyAEIAo2AlwgBCALNgJYIAQgAjYCVCAEIAw2AlAgACAEQdAAahDOgICAACEKIARBgAFqJICAgIAAIAoL6QICAX8BfiOAgICAAEEgayIEJICAgIAAAkACQAJAIAAgAksNACABIAJLDQEjjICAgACtQiCGIQUgACABTQ0CIAQgADYCCCAEIAE2AgwgBCAFIARBDGqthDcDGCAEIAUgBEEIaq2ENwMQI4GAgIAAQfmAiIAAaiAEQRBqIAMQ1YCAgAAACyAEIAA2AgggBCACNgIMIAQjjICAgACtQiCGIgUgBEEMaq2ENwMYIAQgBSAEQQhqrYQ3AxAjgYCAgABB2IGIgABqIARBEGogAxDVgICAAAALIAQgATYCCCAEIAI2AgwgBCOMgICAAK1CIIYiBSAEQQxqrYQ3AxggBCAFIARBCGqthDcDECOBgICAAEGRgoiAAGogBEEQaiADENWAgIAAAAsgBCABNgIIIAQgAjYCDCAEIAUgBEEMaq2ENwMYIAQgBSAEQQhqrYQ3AxAjgYCAgABBkYKIgABqIARBEGogAxDVgICAAAALyAgHAX8CfgF/An4DfwF+A38jgICAgABBoAFrIgQkgICAgAAgAb0iBUL/////////B4MiBkKAgICAgICACIQgBUIBhkL+////////D4MgBUI0iKdB/w9xIgcbIghCAYMhCUECIQoCQAJAAkACQAJAIAZQIgtBAkEDIAsbQQQgBUKAgICAgICA+P8AgyIGUBsgBkKAgICAgICA+P8AURsOBQQAAQIDBAtBAyEKDAMLQQQhCgwCCyAHQc13aiEMIAmnQQFzIQpCASENDAELQoCAgICAgIAgIAhCAYYgCEKAgICAgICACFEiDBshCEICQgEgDBshDSAJp0EBcyEKQct3Qcx3IAwbIAdqIQwLIAQgDDsBiAEgBCANNwOAASAEQgE3A3ggBCAINwNwIAQgCjoAigECQAJAAkACQAJAAkACQAJAAkAgCkH/AXFBAUsNACAEQeAAaiAEQfAAaiAEQQdqQREQ0ICAgAAjgYCAgAAhCiAEKAJgRQ0BIAQgBCgCaDYCmAEgBCAEKQJgNwOQAQwCCyAKQX5qIgpB/wFxRQ0CQQEhDCOBgICAACILQfOSiIAAaiIHIAtB9JKIgABqIAVCAFMiCxsgB0EBIAsbIAIbIQtBASAFQj+IpyACGyECIApB/wFxQQJGDQMgBEEDNgIgIARBAjsBGCAEI4GAgIAAQfiSiIAAajYCHAwHCyAEQZABaiAEQfAAaiAEQQdqQREQ0YCAgAALIAQoApQBIgxFDQIgBCgCkAEiCy0AAEEwTQ0DIApB85KIgABqIgcgCkH0koiAAGogBUIAUyIKGyEOIAdBASAKGyEHIAVCP4inIQ8gBC4BmAEhECAEIAs2AhwgBEECOwEYIARBATYCIAJAIAxBAUcNACAEQSRqIQpBAyEMDAULIARBPGohCiAEQQI7ATAgBEECOwEkIAQgDEF/ajYCOCAEI4GAgIAAQY6WiIAAajYCKCAEQQE2AiwgBCALQQFqNgI0QQUhDAwECyAEQQM2AiAgBEECOwEYIAQjgYCAgABB9ZKIgABqNgIcQQEhC0EAIQJBASEMDAQLIARBAzYCICAEQQI7ARggBCOBgICAAEGBk4iAAEH+koiAACADG2o2AhwMAwsjgYCAgAAiBEGPloiAAGpBISAEQcCoiIAAahDKgICAAAALI4GAgIAAIgRBsJaIgABqQR8gBEHQqIiAAGoQyoCAgAAACyAOIAcgAhshC0EBIA8gAhshAiAKQQE7AQwgCkECOwEAIApBAkEBIBBBAUgiDhs2AgggCiOBgICAACIHQdOWiIAAaiAHQdGWiIAAaiADGyAHQdCWiIAAaiAHQc+WiIAAaiADGyAOGzYCBCAKIBBBf2oiAyADQR91IgNzIANrOwEOCyAEIAw2AmwgBCACNgJkIAQgCzYCYCAEIARBGGo2AmggACAEQeAAahDOgICAACEKIARBoAFqJICAgIAAIAoLRwEBfyOAgICAAEEgayIDJICAgIAAIAMgATYCECADIAA2AgwgA0EBOwEcIAMgAjYCGCADIANBDGo2AhQgA0EUahCVgICAAAAL5wIFAn8CfgF/AX4CfyOAgICAAEEgayICJICAgIAAQRQhAyAAKQMAIgQhBQJAIARC6AdUDQBBFCEDIAQhBQNAIAJBDGogA2oiAEF8aiOBgICAAEHGlIiAAGoiBiAFIgcgB0KQzgCAIgVCkM4Afn2nIghB//8DcUHkAG4iCUEBdGovAAA7AAAgAEF+aiAGIAggCUHkAGxrQf//A3FBAXRqLwAAOwAAIANBfGohAyAHQv+s4gRWDQALCwJAIAVCCVgNACACQQxqIANBfmoiA2ojgYCAgABBxpSIgABqIAWnIgAgAEH//wNxQeQAbiIAQeQAbGtB//8DcUEBdGovAAA7AAAgAK0hBQsCQAJAIARQDQAgBVANAQsgAkEMaiADQX9qIgNqI4GAgIAAQcaUiIAAaiAFp0EBdGotAAE6AAALIAFBAUEBQQAgAkEMaiADakEUIANrENyAgIAAIQMgAkEgaiSAgICAACADCxQAIAEgACgCACAAKAIEEOCAgIAAC/QEAQh/I4CAgIAAQRBrIgQkgICAgAACQAJAAkAgA0EBcQ0AIAItAAAiBQ0BQQAhBQwCCyAAIAIgA0EBdiABKAIMEYCAgIAAgICAgAAhBQwBCyABKAIMIQZBACEHA0AgAkEBaiEIAkACQAJAAkACQCAFwEF/Sg0AIAVB/wFxIglBgAFGDQEgCUHAAUcNAyAEIAE2AgQgBCAANgIAIARCoICAgAY3AgggAyAHQQN0aiIFKAIAIAQgBSgCBBGBgICAAICAgIAARQ0CQQEhBQwGCwJAIAAgCCAFQf8BcSIFIAYRgICAgACAgICAAA0AIAggBWohAgwEC0EBIQUMBQsCQCAAIAJBA2oiBSACLwABIgIgBhGAgICAAICAgIAADQAgBSACaiECDAMLQQEhBQwECyAHQQFqIQcgCCECDAELQaCAgIAGIQoCQCAFQQFxRQ0AIAJBBWohCCACKAABIQoLQQAhCQJAAkAgBUECcQ0AQQAhCyAIIQIMAQsgCEECaiECIAgvAAAhCwsCQAJAIAVBBHENACACIQgMAQsgAkECaiEIIAIvAAAhCQsCQAJAIAVBCHENACAIIQIMAQsgCEECaiECIAgvAAAhBwsCQCAFQRBxRQ0AIAMgC0H//wNxQQN0ai8BBCELCwJAIAVBIHFFDQAgAyAJQf//A3FBA3RqLwEEIQkLIAQgCTsBDiAEIAs7AQwgBCAKNgIIIAQgATYCBCAEIAA2AgACQCADIAdBA3RqIgUoAgAgBCAFKAIEEYGAgIAAgICAgABFDQBBASEFDAMLIAdBAWohBwsgAi0AACIFDQALQQAhBQsgBEEQaiSAgICAACAFC2YCAX8BfiOAgICAAEEgayIDJICAgIAAIAMgATYCDCADIAA2AgggAyOMgICAAK1CIIYiBCADQQhqrYQ3AxggAyAEIANBDGqthDcDECOBgICAAEGhgYiAAGogA0EQaiACENWAgIAAAAvbBgMLfwJ+AX8jgICAgABBoAFrIgMkgICAgAAgA0EAQaAB/AsAAkACQAJAAkAgACgCoAEiBCACSQ0AIARBKU8NASABIAJBAnRqIQUCQAJAAkAgBEUNACAEQQFqIQYgBEECdCECQQAhB0EAIQgDQCADIAdBAnRqIQkDQCAHIQogCSELIAEgBUYNCCALQQRqIQkgCkEBaiEHIAEoAgAhDCABQQRqIg0hASAMRQ0ACyAMrSEOQgAhDyACIQwgCiEBIAAhCQNAIAFBKE8NBCALIA8gCzUCAHwgCTUCACAOfnwiDz4CACAPQiCIIQ8gC0EEaiELIAFBAWohASAJQQRqIQkgDEF8aiIMDQALIAQhCwJAIA9QDQAgCiAEaiILQShPDQMgAyALQQJ0aiAPpzYCACAGIQsLIAggCyAKaiILIAggC0sbIQggDSEBDAALC0EAIQhBACELA0AgASAFRg0GIAtBAWohCyABKAIAIQkgAUEEaiIHIQEgCUUNACAIIAtBf2oiASAIIAFLGyEIIAchAQwACwsgC0EoI4GAgIAAQYCoiIAAahDZgICAAAALIAFBKCOBgICAAEGAqIiAAGoQ2YCAgAAACyAEQSlPDQEgAkEBaiEQIAJBAnQhBiAAIARBAnRqIQ1BACEKIAAhCUEAIQgCQANAIAMgCkECdGohBwNAIAohDCAHIQsgCSANRg0FIAtBBGohByAMQQFqIQogCSgCACEFIAlBBGoiBCEJIAVFDQALIAWtIQ5CACEPIAYhBSAMIQkgASEHA0AgCUEoTw0CIAsgDyALNQIAfCAHNQIAIA5+fCIPPgIAIA9CIIghDyALQQRqIQsgCUEBaiEJIAdBBGohByAFQXxqIgUNAAsgAiELAkACQCAPUA0AIAwgAmoiC0EoTw0BIAMgC0ECdGogD6c2AgAgECELCyAIIAsgDGoiCyAIIAtLGyEIIAQhCQwBCwsgC0EoI4GAgIAAQYCoiIAAahDZgICAAAALIAlBKCOBgICAAEGAqIiAAGoQ2YCAgAAAC0EAIARBKCOBgICAAEGAqIiAAGoQ04CAgAAAC0EAIARBKCOBgICAAEGAqIiAAGoQ04CAgAAACyAAIANBoAH8CgAAIAAgCDYCoAEgA0GgAWokgICAgAAgAAvqBAEJfwJAAkACQCABQYAKTw0AIAFBBXYhAgJAAkACQCAAKAKgASIDRQ0AIANBf2ohBCADQQJ0IABqQXxqIQUgAyACakECdCAAakF8aiEGIANBKUkhAwNAIANFDQIgAiAEaiIHQShPDQMgBiAFKAIANgIAIAVBfGohBSAGQXxqIQYgBEF/aiIEQX9HDQALCyABQR9xIQUCQCACRQ0AIAJBAnQiBEUNACAAQQAgBPwLAAsgACgCoAEiByACaiEEAkAgBQ0AIAAgBDYCoAEgAA8LIARBf2oiBkEnSw0DIAQhCCAAIAZBAnRqKAIAQSAgBWsiBnYiA0UNBAJAIARBJ0sNACAAIARBAnRqIAM2AgAgBEEBaiEIDAULIARBKCOBgICAAEGAqIiAAGoQ2YCAgAAACyAEQSgjgYCAgABBgKiIgABqENmAgIAAAAsgB0EoI4GAgIAAQYCoiIAAahDZgICAAAALI4GAgIAAIgRB3pOIgABqQR0gBEGAqIiAAGoQyoCAgAAACyAGQSgjgYCAgABBgKiIgABqENmAgIAAAAsCQCACQQFqIgkgBE8NAAJAAkAgB0EBcUUNACAEIQMMAQsgACAEQX9qIgNBAnRqIgEgACAEQQJ0akF4aigCACAGdiABKAIAIAV0cjYCAAsgB0ECRg0AIANBAnQgAGpBdGohBANAIARBCGoiByAEQQRqIgEoAgAiCiAGdiAHKAIAIAV0cjYCACABIAQoAgAgBnYgCiAFdHI2AgAgBEF4aiEEIAkgA0F+aiIDSQ0ACwsgACACQQJ0aiIEIAQoAgAgBXQ2AgAgACAINgKgASAAC5wGAgh/AX5BK0GAgMQAIAAoAggiBkGAgIABcSIHGyEIIAdBFXZBASABGyAFaiEJAkACQCAGQYCAgARxDQBBACECDAELAkACQCADQRBJDQAgAiADEN2AgIAAIQcMAQsCQCADDQBBACEHDAELIANBA3EhCkEAIQtBACEHAkAgA0EESQ0AIANBDHEhDEEAIQtBACEHA0AgByACIAtqIg0sAABBv39KaiANQQFqLAAAQb9/SmogDUECaiwAAEG/f0pqIA1BA2osAABBv39KaiEHIAwgC0EEaiILRw0ACyAKRQ0BCyACIAtqIQ0DQCAHIA0sAABBv39KaiEHIA1BAWohDSAKQX9qIgoNAAsLIAcgCWohCQsgCEEtIAEbIQwCQAJAIAkgAC8BDCIBTw0AAkACQAJAIAZBgICACHENACABIAlrIQhBACEHQQAhAQJAAkACQCAGQR12QQNxDgQCAAEAAgsgCCEBDAELIAhB/v8DcUEBdiEBCyAGQf///wBxIQkgACgCBCELIAAoAgAhCgNAIAdB//8DcSABQf//A3FPDQJBASENIAdBAWohByAKIAkgCygCEBGBgICAAICAgIAARQ0ADAULCyAAIAApAggiDqdBgICA/3lxQbCAgIACcjYCCEEBIQ0gACgCACIKIAAoAgQiCyAMIAIgAxDegICAAA0DQQAhByABIAlrQf//A3EhAgNAIAdB//8DcSACTw0CQQEhDSAHQQFqIQcgCkEwIAsoAhARgYCAgACAgICAAEUNAAwECwtBASENIAogCyAMIAIgAxDegICAAA0CIAogBCAFIAsoAgwRgICAgACAgICAAA0CQQAhByAIIAFrQf//A3EhAANAIAdB//8DcSICIABJIQ0gAiAATw0DIAdBAWohByAKIAkgCygCEBGBgICAAICAgIAARQ0ADAMLC0EBIQ0gCiAEIAUgCygCDBGAgICAAICAgIAADQEgACAONwIIQQAPC0EBIQ0gACgCACIHIAAoAgQiCiAMIAIgAxDegICAAA0AIAcgBCAFIAooAgwRgICAgACAgICAACENCyANC+sGAQh/AkACQCABIABBA2pBfHEiAiAAayIDSQ0AIAEgA2siBEECdiIFRQ0AIARBA3EhBkEAIQdBACEBAkAgAiAARg0AQQAhCEEAIQECQCAAIAJrIglBfEsNAEEAIQhBACEBA0AgASAAIAhqIgIsAABBv39KaiACQQFqLAAAQb9/SmogAkECaiwAAEG/f0pqIAJBA2osAABBv39KaiEBIAhBBGoiCA0ACwsgACAIaiECA0AgASACLAAAQb9/SmohASACQQFqIQIgCUEBaiIJDQALCyAAIANqIQkCQCAGRQ0AIAkgBEH8////B3FqIgIsAABBv39KIQcgBkEBRg0AIAcgAiwAAUG/f0pqIQcgBkECRg0AIAcgAiwAAkG/f0pqIQcLIAcgAWohCANAIAkhAyAFRQ0CIAVBwAEgBUHAAUkbIgdBA3EhBgJAAkAgB0ECdCIEQfAHcSIBDQBBACECDAELIAMgAWohAEEAIQIgAyEBA0AgAUEMaigCACIJQX9zQQd2IAlBBnZyQYGChAhxIAFBCGooAgAiCUF/c0EHdiAJQQZ2ckGBgoQIcSABQQRqKAIAIglBf3NBB3YgCUEGdnJBgYKECHEgASgCACIJQX9zQQd2IAlBBnZyQYGChAhxIAJqampqIQIgAUEQaiIBIABHDQALCyAFIAdrIQUgAyAEaiEJIAJBCHZB/4H8B3EgAkH/gfwHcWpBgYAEbEEQdiAIaiEIIAZFDQALIAMgB0H8AXFBAnRqIgIoAgAiAUF/c0EHdiABQQZ2ckGBgoQIcSEBAkAgBkEBRg0AIAIoAgQiCUF/c0EHdiAJQQZ2ckGBgoQIcSABaiEBIAZBAkYNACACKAIIIgJBf3NBB3YgAkEGdnJBgYKECHEgAWohAQsgAUEIdkH/gRxxIAFB/4H8B3FqQYGABGxBEHYgCGohCAwBCwJAIAENAEEADwsgAUEDcSECQQAhCUEAIQgCQCABQQRJDQAgAUF8cSEFQQAhCEEAIQkDQCAIIAAgCWoiASwAAEG/f0pqIAFBAWosAABBv39KaiABQQJqLAAAQb9/SmogAUEDaiwAAEG/f0pqIQggBSAJQQRqIglHDQALIAJFDQELIAAgCWohAQNAIAggASwAAEG/f0pqIQggAUEBaiEBIAJBf2oiAg0ACwsgCAtJAAJAIAJBgIDEAEYNACAAIAIgASgCEBGBgICAAICAgIAARQ0AQQEPCwJAIAMNAEEADwsgACADIAQgASgCDBGAgICAAICAgIAAC+oEAQd/I4CAgIAAQRBrIgMkgICAgAACQAJAAkAgAigCBCIERQ0AIAAgAigCACAEIAEoAgwRgICAgACAgICAAA0BCwJAIAIoAgwiBQ0AQQAhAgwCCyACKAIIIgQgBUEMbGohBgNAAkACQAJAAkACQAJAAkACQCAELwEADgMAAQIACyAEKAIEIgJBwQBJDQIgAUEMaigCACEFA0AgACOBgICAAEH7k4iAAGpBwAAgBRGAgICAAICAgIAADQkgAkFAaiICQcAASw0ADAYLCyAELwECIQIgA0EAOgAMIANBADYCCCACDQJBASEFDAMLIAAgBCgCBCAEKAIIIAFBDGooAgARgICAgACAgICAAEUNBAwGCyACDQIMAwsgAkH2/xdqIAJBnP8fanEgAkGY+DdqIAJB8LEfanFzQRF2QQFqIQULIANBCGogBUF/aiIHaiIIIAIgAkEKbiIJQQpsa0EwcjoAAAJAIAdFDQAgCEF/aiAJQQpwQTByOgAAIAVBAkYNACAIQX5qIAJB5ABuQQpwQTByOgAAIAVBA0YNACAIQX1qIAJB6AduQQpwQTByOgAAIAVBBEYNACAIQXxqIAJBkM4AbkEwcjoAACAFQQVGDQAgCEF7akEwOgAAIAVBBkYNACAIQXpqQTA6AAAgBUEHRg0AIAhBeWpBMDoAAAsgACADQQhqIAUgAUEMaigCABGAgICAAICAgIAARQ0BDAMLIAAjgYCAgABB+5OIgABqIAIgAUEMaigCABGAgICAAICAgIAADQILIARBDGoiBCAGRw0AC0EAIQIMAQtBASECCyADQRBqJICAgIAAIAILngUBB38CQAJAIAAoAggiA0GAgIDAAXFFDQACQAJAAkACQAJAIANBgICAgAFxRQ0AIAAvAQ4iBA0BQQAhAgwCCwJAIAJBEEkNACABIAIQ3YCAgAAhBQwECwJAIAINAEEAIQUMBAsgAkEDcSEGQQAhB0EAIQUCQCACQQRJDQAgAkEMcSEEQQAhBUEAIQcDQCAFIAEgB2oiCCwAAEG/f0pqIAhBAWosAABBv39KaiAIQQJqLAAAQb9/SmogCEEDaiwAAEG/f0pqIQUgBCAHQQRqIgdHDQALIAZFDQQLIAEgB2ohCANAIAUgCCwAAEG/f0pqIQUgCEEBaiEIIAZBf2oiBg0ADAQLCyABIAJqIQdBACECIAEhCCAEIQYDQCAIIgUgB0YNAgJAAkAgBSwAACIIQX9MDQAgBUEBaiEIDAELAkAgCEFgTw0AIAVBAmohCAwBCyAFQQRBAyAIQW9LG2ohCAsgCCAFayACaiECIAZBf2oiBg0ACwtBACEGCyAEIAZrIQULIAUgAC8BDCIITw0AIAggBWshCUEAIQVBACEEAkACQAJAIANBHXZBA3EOBAIAAQICCyAJIQQMAQsgCUH+/wNxQQF2IQQLIANB////AHEhByAAKAIEIQYgACgCACEAAkADQCAFQf//A3EgBEH//wNxTw0BQQEhCCAFQQFqIQUgACAHIAYoAhARgYCAgACAgICAAA0DDAALC0EBIQggACABIAIgBigCDBGAgICAAICAgIAADQFBACEFIAkgBGtB//8DcSECA0AgBUH//wNxIgQgAkkhCCAEIAJPDQIgBUEBaiEFIAAgByAGKAIQEYGAgIAAgICAgAANAgwACwsgACgCACABIAIgACgCBCgCDBGAgICAAICAgIAAIQgLIAgLHgAgACgCACABIAIgACgCBCgCDBGAgICAAICAgIAAC7QCBAF+BH8BfgJ/IAEhBCADIQUCQCABQugHVA0AIAJBfGohBiADIQUgASEEA0AgBiAFaiIHI4GAgIAAQcaUiIAAaiIIIAQiCSAJQpDOAIAiBEKQzgB+faciCkH//wNxQeQAbiILQQF0ai8AADsAACAHQQJqIAggCiALQeQAbGtB//8DcUEBdGovAAA7AAAgBUF8aiEFIAlC/6ziBFYNAAsLAkAgBEIJWA0AIAIgBUF+aiIFaiOBgICAAEHGlIiAAGogBKciByAHQf//A3FB5ABuIgdB5ABsa0H//wNxQQF0ai8AADsAACAHrSEECwJAAkAgAVANACAEUA0BCyACIAVBf2oiBWojgYCAgABBxpSIgABqIASnQQF0ai0AAToAAAsgACADIAVrNgIEIAAgAiAFajYCAAveAgEIfyOAgICAAEEQayICJICAgIAAQQohAyAAKAIAIgQhBQJAIARB6AdJDQBBCiEDIAQhBQNAIAJBBmogA2oiBkF8aiOBgICAAEHGlIiAAGoiByAFIgAgAEGQzgBuIgVBkM4AbGsiCEH//wNxQeQAbiIJQQF0ai8AADsAACAGQX5qIAcgCCAJQeQAbGtB//8DcUEBdGovAAA7AAAgA0F8aiEDIABB/6ziBEsNAAsLAkACQCAFQQlLDQAgBSEADAELIAJBBmogA0F+aiIDaiOBgICAAEHGlIiAAGogBSAFQf//A3FB5ABuIgBB5ABsa0H//wNxQQF0ai8AADsAAAsCQAJAIARFDQAgAEUNAQsgAkEGaiADQX9qIgNqI4GAgIAAQcaUiIAAaiAAQQF0ai0AAToAAAsgAUEBQQFBACACQQZqIANqQQogA2sQ3ICAgAAhAyACQRBqJICAgIAAIAMLgQEBAX8jgICAgABBIGsiBSSAgICAACAFIAE2AgQgBSAANgIAIAUgAzYCDCAFIAI2AgggBSOEgICAACIBQZqAgIAAaq1CIIYgBUEIaq2ENwMYIAUgAUGbgICAAGqtQiCGIAWthDcDECOBgICAAEHvg4iAAGogBUEQaiAEENWAgIAAAAscACAAKAIAIAEgACgCBCgCDBGBgICAAICAgIAAC04BAX8jgICAgABBIGsiBCSAgICAACAEIAE2AhAgBCAANgIMIAQgAjoAHSAEQQA6ABwgBCADNgIYIAQgBEEMajYCFCAEQRRqEJWAgIAAAAscACABKAIAIAEoAgQgACgCACAAKAIEENiAgIAAC6YCAQV/AkACQAJAAkAgAkEDakF8cSIEIAJHDQAgA0F4aiEFQQAhBAwBCyADIAQgAmsiBCADIARJGyEEAkAgA0UNAEEAIQYgAUH/AXEhB0EBIQgDQCACIAZqLQAAIAdGDQQgBCAGQQFqIgZHDQALCyAEIANBeGoiBUsNAQsgAUH/AXFBgYKECGwhBgNAQYCChAggAiAEaiIHKAIAIAZzIghrIAhyQYCChAggB0EEaigCACAGcyIHayAHcnFBgIGChHhxQYCBgoR4Rw0BIARBCGoiBCAFTQ0ACwsCQCADIARGDQAgAUH/AXEhBkEBIQgDQAJAIAIgBGotAAAgBkcNACAEIQYMAwsgAyAEQQFqIgRHDQALC0EAIQgLIAAgBjYCBCAAIAg2AgALGgAjgYCAgABB1ZaIgABqQTMgABDVgICAAAALogMBBH8CQAJAAkACQAJAAkACQCAHIAhYDQAgByAIfSAIWA0DAkAgByAGfSAGWA0AIAcgBkIBhn0gCEIBhloNAwsgBiAIWA0GIAcgBiAIfSIIfSAIVg0GIAMgAk0NAUEAIAMgAiOBgICAAEGwrYiAAGoQ04CAgAAACyAAQQA2AgAPCyABIANqIQlBACEKIAEhCwJAAkADQCADIApGDQEgCkEBaiEKIAtBf2oiCyADaiIMLQAAQTlGDQALIAwgDC0AAEEBajoAACAKQX9qIgpFDQEgDEEBakEwIAr8CwAMAQsCQAJAIAMNAEExIQoMAQsgAUExOgAAQTAhCiADQX9qIgtFDQAgAUEBakEwIAv8CwALIARBAWrBIgQgBcFMDQAgAyACTw0AIAkgCjoAACADQQFqIQMLIAMgAksNAgwDCyADIAJNDQJBACADIAIjgYCAgABBwK2IgABqENOAgIAAAAsgAEEANgIADwtBACADIAIjgYCAgABBoK2IgABqENOAgIAAAAsgACAEOwEIIAAgAzYCBCAAIAE2AgAPCyAAQQA2AgALhgsCB38CfgJAAkACQAJAAkACQCABQQhJDQAgAUEHcSICRQ0FI4GAgIAAIQMgACgCoAEiBEEpTw0BAkAgBA0AIABBADYCoAEMBgsgBEECdCIFQXxqIgZBAnZBAWoiB0EDcSEIIANBlKOIgABqIAJBAnRqKAIAIAJ2rSEJQgAhCiAAIQICQAJAIAZBDEkNACAHQfz///8HcSEDQgAhCiAAIQIDQCACIAI1AgAgCX4gCnwiCj4CACACQQRqIgYgBjUCACAJfiAKQiCIfCIKPgIAIAJBCGoiBiAGNQIAIAl+IApCIIh8Igo+AgAgAkEMaiIGIAY1AgAgCX4gCkIgiHwiCj4CACAKQiCIIQogAkEQaiECIANBfGoiAw0ACyAIRQ0BCyAIQQJ0IQMDQCACIAI1AgAgCX4gCnwiCj4CACACQQRqIQIgCkIgiCEKIANBfGoiAw0ACwsCQCAKUA0AIARBKEYNAyAAIAVqIAqnNgIAIARBAWohBAsgACAENgKgAQwFCyOBgICAACECIAAoAqABIgZBKU8NAgJAIAYNACAAQQA2AqABIAAPCyACQZSjiIAAaiABQQJ0ajUCACEJIAZBAnQiCEF8aiIDQQJ2QQFqIgFBA3EhBEIAIQogACECAkACQCADQQxJDQAgAUH8////B3EhA0IAIQogACECA0AgAiACNQIAIAl+IAp8Igo+AgAgAkEEaiIBIAE1AgAgCX4gCkIgiHwiCj4CACACQQhqIgEgATUCACAJfiAKQiCIfCIKPgIAIAJBDGoiASABNQIAIAl+IApCIIh8Igo+AgAgCkIgiCEKIAJBEGohAiADQXxqIgMNAAsgBEUNAQsgBEECdCEDA0AgAiACNQIAIAl+IAp8Igo+AgAgAkEEaiECIApCIIghCiADQXxqIgMNAAsLAkAgClANACAGQShGDQQgACAIaiAKpzYCACAGQQFqIQYLIAAgBjYCoAEgAA8LQQAgBEEoI4GAgIAAQYCoiIAAahDTgICAAAALQShBKCOBgICAAEGAqIiAAGoQ2YCAgAAAC0EAIAZBKCOBgICAAEGAqIiAAGoQ04CAgAAAC0EoQSgjgYCAgABBgKiIgABqENmAgIAAAAsCQAJAAkAgAUEIcUUNACAAKAKgASIEQSlPDQECQAJAIAQNAEEAIQQMAQsgBEECdCIFQXxqIgNBAnZBAWoiBkEDcSEIQgAhCSAAIQICQAJAIANBDEkNACAGQfz///8HcSEDQgAhCSAAIQIDQCACIAI1AgBC4esXfiAJfCIJPgIAIAJBBGoiBiAGNQIAQuHrF34gCUIgiHwiCT4CACACQQhqIgYgBjUCAELh6xd+IAlCIIh8Igk+AgAgAkEMaiIGIAY1AgBC4esXfiAJQiCIfCIJPgIAIAlCIIghCSACQRBqIQIgA0F8aiIDDQALIAhFDQELIAhBAnQhAwNAIAIgAjUCAELh6xd+IAl8Igk+AgAgAkEEaiECIAlCIIghCSADQXxqIgMNAAsLIAlQDQAgBEEoRg0DIAAgBWogCac2AgAgBEEBaiEECyAAIAQ2AqABCwJAIAFBEHFFDQAgACOBgICAAEG8o4iAAGpBAhDagICAABoLAkAgAUEgcUUNACAAI4GAgIAAQcSjiIAAakEDENqAgIAAGgsCQCABQcAAcUUNACAAI4GAgIAAQdCjiIAAakEFENqAgIAAGgsCQCABQYABcUUNACAAI4GAgIAAQeSjiIAAakEKENqAgIAAGgsCQCABQYACcUUNACAAI4GAgIAAQYykiIAAakETENqAgIAAGgsgACABENuAgIAAGiAADwtBACAEQSgjgYCAgABBgKiIgABqENOAgIAAAAtBKEEoI4GAgIAAQYCoiIAAahDZgICAAAAL6QIBCH8jgICAgABBEGsiAiSAgICAAEEKIQMCQCAAKAIAIgQgBEEfdSIAcyAAayIFQegHSQ0AQQohAwNAIAJBBmogA2oiBkF8aiOBgICAAEHGlIiAAGoiByAFIgAgAEGQzgBuIgVBkM4AbGsiCEH//wNxQeQAbiIJQQF0ai8AADsAACAGQX5qIAcgCCAJQeQAbGtB//8DcUEBdGovAAA7AAAgA0F8aiEDIABB/6ziBEsNAAsLAkACQCAFQQlLDQAgBSEADAELIAJBBmogA0F+aiIDaiOBgICAAEHGlIiAAGogBSAFQf//A3FB5ABuIgBB5ABsa0H//wNxQQF0ai8AADsAAAsCQAJAIARFDQAgAEUNAQsgAkEGaiADQX9qIgNqI4GAgIAAQcaUiIAAaiAAQQF0ai0AAToAAAsgASAEQX9zQR92QQFBACACQQZqIANqQQogA2sQ3ICAgAAhAyACQRBqJICAgIAAIAML6wIDAn8DfgN/I4CAgIAAQSBrIgIkgICAgABBFCEDAkAgACkDACIEIARCP4ciBYUgBX0iBkLoB1QNAEEUIQMDQCACQQxqIANqIgBBfGojgYCAgABBxpSIgABqIgcgBiIFIAVCkM4AgCIGQpDOAH59pyIIQf//A3FB5ABuIglBAXRqLwAAOwAAIABBfmogByAIIAlB5ABsa0H//wNxQQF0ai8AADsAACADQXxqIQMgBUL/rOIEVg0ACwsCQCAGQglYDQAgAkEMaiADQX5qIgNqI4GAgIAAQcaUiIAAaiAGpyIAIABB//8DcUHkAG4iAEHkAGxrQf//A3FBAXRqLwAAOwAAIACtIQYLAkACQCAEUA0AIAZQDQELIAJBDGogA0F/aiIDaiOBgICAAEHGlIiAAGogBqdBAXRqLQABOgAACyABIARCf1VBAUEAIAJBDGogA2pBFCADaxDcgICAACEDIAJBIGokgICAgAAgAwuzAgICfwF+I4CAgIAAQRBrIgIkgICAgAAgACgCACEAAkACQAJAIAEoAggiA0GAgIAQcQ0AIANBgICAIHENASAAIAEQ1oCAgAAhAAwCCyAAKQMAIQRBACEAA0AgAiAAakEPaiOBgICAAEGUkoiAAGogBKdBD3FqLQAAOgAAIABBf2ohACAEQgSIIgRCAFINAAsgAUEBI4GAgIAAQdikiIAAakECIAIgAGpBEGpBACAAaxDcgICAACEADAELIAApAwAhBEEAIQADQCACIABqQQ9qI4GAgIAAQdqkiIAAaiAEp0EPcWotAAA6AAAgAEF/aiEAIARCBIgiBEIAUg0ACyABQQEjgYCAgABB2KSIgABqQQIgAiAAakEQakEAIABrENyAgIAAIQALIAJBEGokgICAgAAgAAuRAQICfwJ8IAEoAggiAkGAgIABcSEDIAArAwAhBAJAIAJBgICAgAFxDQACQCAEmSIFRACA4Dd5w0FDZg0AIAREAAAAAAAAAABiIAVELUMc6+I2Gj9jcQ0AIAEgBCADQQBHQQEQ0oCAgAAPCyABIAQgA0EAR0EAENSAgIAADwsgASAEIANBAEcgAS8BDhDPgICAAAuGAgIFfwF+I4CAgIAAQSBrIgIkgICAgAAjgYCAgAAhA0EBIQQCQCABKAIAIgUgA0HqpIiAAGpBDCABKAIEIgEoAgwiBhGAgICAAICAgIAADQAgAiAAKAIEIgMpAgA3AgAgAiOMgICAAK1CIIYiByADQQxqrYQ3AxggAiAHIANBCGqthDcDECACI4SAgIAAQZuAgIAAaq1CIIYgAq2ENwMIIAUgASOBgICAAEHxgIiAAGogAkEIahDYgICAAA0AIAUjgYCAgABB9qSIgABqQQIgBhGAgICAAICAgIAADQAgBSABIAAoAgAiBCgCACAEKAIEENiAgIAAIQQLIAJBIGokgICAgAAgBAsOACACIAAgARDggICAAAtuAQZ+IAAgA0L/////D4MiBSABQv////8PgyIGfiIHIANCIIgiCCAGfiIGIAUgAUIgiCIJfnwiBUIghnwiCjcDACAAIAggCX4gBSAGVK1CIIYgBUIgiIR8IAogB1StfCAEIAF+IAMgAn58fDcDCAtJAQN/QQAhAwJAIAJFDQACQANAIAAtAAAiBCABLQAAIgVHDQEgAUEBaiEBIABBAWohACACQX9qIgINAAwCCwsgBCAFayEDCyADCwvtLQIAQYCACAuEJUxheW91dEVycm9ydHJfYTJDb3VudHMgYTIuYTJ0ZXh0dHJfYTNDb3VudHMgYTMuYTN0cl9hMUNvdW50cyBhMS5hMWNhbGxlZCBgUmVzdWx0Ojp1bndyYXAoKWAgb24gYW4gYEVycmAgdmFsdWUBWsAAwAE6wAE6wAAWc2xpY2UgaW5kZXggc3RhcnRzIGF0IMANIGJ1dCBlbmRzIGF0IMAAIGluZGV4IG91dCBvZiBib3VuZHM6IHRoZSBsZW4gaXMgwBIgYnV0IHRoZSBpbmRleCBpcyDAABJyYW5nZSBzdGFydCBpbmRleCDAIiBvdXQgb2YgcmFuZ2UgZm9yIHNsaWNlIG9mIGxlbmd0aCDAABByYW5nZSBlbmQgaW5kZXggwCIgb3V0IG9mIHJhbmdlIGZvciBzbGljZSBvZiBsZW5ndGggwAALYXR0cmlidXRlIGDAEWAgaXMgZGVjbGFyZWQgYXMgwBIgYW5kIHdhcyBhc3NpZ25lZCDAABBhc3NlcnRpb24gYGxlZnQgwBcgcmlnaHRgIGZhaWxlZAogIGxlZnQ6IMAJCiByaWdodDogwAAQYXNzZXJ0aW9uIGBsZWZ0IMAQIHJpZ2h0YCBmYWlsZWQ6IMAJCiAgbGVmdDogwAkKIHJpZ2h0OiDAAMACOiDAAC9ydXN0Yy81OTgwNzYxNmUxZmEyNTQwNzI0YmZiYWMxNGQ3OTc2ZDdlNGEzODYwL2xpYnJhcnkvY29yZS9zcmMvbnVtL2ZsdDJkZWMvc3RyYXRlZ3kvZ3Jpc3UucnMAL3J1c3RjLzU5ODA3NjE2ZTFmYTI1NDA3MjRiZmJhYzE0ZDc5NzZkN2U0YTM4NjAvbGlicmFyeS9hbGxvYy9zcmMvZm10LnJzAC9ydXN0Yy81OTgwNzYxNmUxZmEyNTQwNzI0YmZiYWMxNGQ3OTc2ZDdlNGEzODYwL2xpYnJhcnkvY29yZS9zcmMvbnVtL2RpeV9mbG9hdC5ycwAvdG1wL3cvZ2F0ZS9ndWVzdC1zZGsvcnVzdC93ZWRmbG93LWd1ZXN0L3NyYy9iaW5kaW5ncy5ycwAvcnVzdGMvNTk4MDc2MTZlMWZhMjU0MDcyNGJmYmFjMTRkNzk3NmQ3ZTRhMzg2MC9saWJyYXJ5L2NvcmUvc3JjL251bS9mbHQyZGVjL3N0cmF0ZWd5L2RyYWdvbi5ycwAvcnVzdGMvNTk4MDc2MTZlMWZhMjU0MDcyNGJmYmFjMTRkNzk3NmQ3ZTRhMzg2MC9saWJyYXJ5L2NvcmUvc3JjL251bS9iaWdudW0ucnMAL3RtcC93L2dhdGUvZ3Vlc3Qtc2RrL3J1c3Qvd2VkZmxvdy1ndWVzdC9zcmMvcnVudGltZS5ycwAvcnVzdGMvNTk4MDc2MTZlMWZhMjU0MDcyNGJmYmFjMTRkNzk3NmQ3ZTRhMzg2MC9saWJyYXJ5L2FsbG9jL3NyYy9yYXdfdmVjL21vZC5ycwAvcnVzdGMvNTk4MDc2MTZlMWZhMjU0MDcyNGJmYmFjMTRkNzk3NmQ3ZTRhMzg2MC9saWJyYXJ5L2NvcmUvc3JjL251bS9mbHQyZGVjL21vZC5ycwAvcnVzdGMvNTk4MDc2MTZlMWZhMjU0MDcyNGJmYmFjMTRkNzk3NmQ3ZTRhMzg2MC9saWJyYXJ5L2FsbG9jL3NyYy9hbGxvYy5ycwAVbWVtb3J5IGFsbG9jYXRpb24gb2YgwA0gYnl0ZXMgZmFpbGVkACJ0aGlzIGNvbXBvbmVudCBoYXMgbm8gdHJhbnNpdGlvbiBgwAFgAAI6OsACW10AwBUsIHRvbyBsYXJnZSBhIG51bWJlciwAC2F0dHJpYnV0ZSBgwDdgIGlzIG5vdCBhbW9uZyB0aG9zZSB0aGUgdHJhbnNpdGlvbiBkZWNsYXJlcyB0byB3cml0ZSAowAEpAAEowAEpAGNvdW50ZXJzYTEgPSAoYTE6OmludGVnZXIgKyAxKTo6dGV4dGEyID0gKGEyOjppbnRlZ2VyICsgMSk6OnRleHRhMyA9IChhMzo6aW50ZWdlciArIDEpOjp0ZXh0cnVzdCAwLjEuMEluZmluaXR5LUluZmluaXR5aW50ZWdlcmJpZ2ludG51bWVyaWNmbG9hdG51bGx0ZXh0Ym9vbGVhbnRpbWVzdGFtcHR6ZGF0ZWludGVydmFsdXVpZGpzb25iTlVMTHRoZSB0cmFuc2l0aW9uIHNldCBub3RoaW5nOyB0byBjb21taXQgbm90aGluZywgYWJvcnQsICA9IGEgdGV4dCBob2xkcyBhIE5VTCBjaGFyYWN0ZXIsIHdoaWNoIFBvc3RncmVzIGNhbm5vdCBzdG9yZWRvdWJsZSBwcmVjaXNpb25mYWxzZXRydWVpbmZpbml0eS1pbmZpbml0eSBCQ8MgAABpBAABLcMgAABpAgABLcMgAABpAgDAAMMgAABpBAABLcMgAABpAgABLcMgAABpAgABVMMgAABpAgABOsMgAABpAgABOsMgAABpAgAAAS7DIAAAaQYAAAAEAAAABAAAAAcAAAAGAAAABwAAAAUAAAAHAAAACwAAAAQAAAAIAAAABAAAAAUAAABjYXBhY2l0eSBvdmVyZmxvd2EgZm9ybWF0dGluZyB0cmFpdCBpbXBsZW1lbnRhdGlvbiByZXR1cm5lZCBhbiBlcnJvciB3aGVuIHRoZSB1bmRlcmx5aW5nIHN0cmVhbSBkaWQgbm90RXJyb3ICAgICAgICAgICAgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgIAAAAAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAMDEyMzQ1Njc4OWFiY2RlZmFzc2VydGlvbiBmYWlsZWQ6IHBhcnRzLmxlbigpID49IDRhc3NlcnRpb24gZmFpbGVkOiBidWYubGVuKCkgPj0gTUFYX1NJR19ESUdJVFMtK05hTmluZjAwLjBlMDBFMGFzc2VydGlvbiBmYWlsZWQ6IGJ1Zi5sZW4oKSA+PSBtYXhsZW5hc3NlcnRpb24gZmFpbGVkOiBvdGhlciA+IDBhc3NlcnRpb24gZmFpbGVkOiBub2JvcnJvd2Fzc2VydGlvbiBmYWlsZWQ6IGRpZ2l0cyA8IDQwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMD09IT1tYXRjaGVzMDAwMTAyMDMwNDA1MDYwNzA4MDkxMDExMTIxMzE0MTUxNjE3MTgxOTIwMjEyMjIzMjQyNTI2MjcyODI5MzAzMTMyMzMzNDM1MzYzNzM4Mzk0MDQxNDI0MzQ0NDU0NjQ3NDg0OTUwNTE1MjUzNTQ1NTU2NTc1ODU5NjA2MTYyNjM2NDY1NjY2NzY4Njk3MDcxNzI3Mzc0NzU3Njc3Nzg3OTgwODE4MjgzODQ4NTg2ODc4ODg5OTA5MTkyOTM5NDk1OTY5Nzk4OTkuYXNzZXJ0aW9uIGZhaWxlZDogIWJ1Zi5pc19lbXB0eSgpYXNzZXJ0aW9uIGZhaWxlZDogYnVmWzBdID4gYicwJ2VFZS1FLWF0dGVtcHQgdG8gZGl2aWRlIGJ5IHplcm8AAN9FGj0DzxrmwfvM/gAAAADKxprHF/5wq9z71P4AAAAAT9y8vvyxd//2+9z+AAAAAAzWa0HvkVa+Efzk/gAAAAA8/H+QrR/QjSz87P4AAAAAg5pVMShcUdNG/PT+AAAAALXJpq2PrHGdYfz8/gAAAADLi+4jdyKc6nv8BP8AAAAAbVN4QJFJzK6W/Az/AAAAAFfOtl15EjyCsfwU/wAAAAA3VvtNNpQQwsv8HP8AAAAAT5hIOG/qlpDm/CT/AAAAAMc6giXLhXTXAP0s/wAAAAD0l7+Xzc+GoBv9NP8AAAAA5awqF5gKNO81/Tz/AAAAAI6yNSr7ZziyUP1E/wAAAAA7P8bS39TIhGv9TP8AAAAAus3TGidE3cWF/VT/AAAAAJbJJbvOn2uToP1c/wAAAACEpWJ9JGys27r9ZP8AAAAA9tpfDVhmq6PV/Wz/AAAAACbxw96T+OLz7/10/wAAAAC4gP+qqK21tQr+fP8AAAAAi0p8bAVfYocl/oT/AAAAAFMwwTRg/7zJP/6M/wAAAABVJrqRjIVOllr+lP8AAAAAvX4pcCR3+d90/pz/AAAAAI+45bifvd+mj/6k/wAAAACUfXSIz1+p+Kn+rP8AAAAAz5uoj5NwRLnE/rT/AAAAAGsVD7/48AiK3/68/wAAAAC2MTFlVSWwzfn+xP8AAAAArH970MbiP5kU/8z/AAAAAAY7KyrEEFzkLv/U/wAAAADTknNpmSQkqkn/3P8AAAAADsoAg/K1h/1j/+T/AAAAAOsaEZJkCOW8fv/s/wAAAADMiFBvCcy8jJn/9P8AAAAALGUZ4lgXt9Gz//z/AAAAAAAAAAAAAECczv8EAAAAAAAAAAAAEKXU6Oj/DAAAAAAAAABirMXreK0DABQAAAAAAIQJlPh4OT+BHgAcAAAAAACzFQfJe86XwDgAJAAAAAAAcFzqe84yfo9TACwAAAAAAGiA6aukONLVbQA0AAAAAABFIpoXJidPn4gAPAAAAAAAJ/vE1DGiY+2iAEQAAAAAAKityIw4Zd6wvQBMAAAAAADbZasajgjHg9gAVAAAAAAAmh1xQvkdXcTyAFwAAAAAAFjnG6YsaU2SDQFkAAAAAADqjXAaZO4B2icBbAAAAAAASnfvmpmjbaJCAXQAAAAAAIVrfbR7eAnyXAF8AAAAAAB3GN15oeRUtHcBhAAAAAAAwsWbW5KGW4aSAYwAAAAAAD1dlsjFUzXIrAGUAAAAAACzoJf6XLQqlccBnAAAAAAA41+gmb2fRt7hAaQAAAAAACWMOds0wpul/AGsAAAAAABcn5ijcprG9hYCtAAAAAAAzr7pVFO/3LcxArwAAAAAAOJBIvIX8/yITALEAAAAAACleFzTm84gzGYCzAAAAAAA31Mhe/NaFpiBAtQAAAAAADowH5fctaDimwLcAAAAAACWs+NcU9HZqLYC5AAAAAAAPESnpNl8m/vQAuwAAAAAABBEpKdMTHa76wL0AAAAAAAanEC2746riwYD/AAAAAAALIRXphDvH9AgAwQBAAAAACkxkenlpBCbOwMMAQAAAACdDJyh+5sQ51UDFAEAAAAAKfQ7YtkgKKxwAxwBAAAAAIXPp3peS0SAiwMkAQAAAAAt3awDQOQhv6UDLAEAAAAAj/9EXi+cZ47AAzQBAAAAAEG4jJydFzPU2gM8AQAAAACpG+O0ktsZnvUDRAEAAAAA2Xffum6/lusPBEwBAAAAAGFzc2VydGlvbiBmYWlsZWQ6IGQubWFudCA+IDBhc3NlcnRpb24gZmFpbGVkOiBkLm1hbnQgPCAoMSA8PCA2MSlhc3NlcnRpb24gZmFpbGVkOiBkLm1pbnVzID4gMGFzc2VydGlvbiBmYWlsZWQ6IGQucGx1cyA+IDBhc3NlcnRpb24gZmFpbGVkOiBkLm1hbnQgKyBkLnBsdXMgPCAoMSA8PCA2MSlhc3NlcnRpb24gZmFpbGVkOiBkLm1hbnQuY2hlY2tlZF9zdWIoZC5taW51cykuaXNfc29tZSgpYXNzZXJ0aW9uIGZhaWxlZDogZC5tYW50LmNoZWNrZWRfYWRkKGQucGx1cykuaXNfc29tZSgpAAEAAAAKAAAAZAAAAOgDAAAQJwAAoIYBAEBCDwCAlpgAAOH1BQDKmjvBb/KGIwAAAIHvrIVbQW0t7gQAAAEfar9k7Thu7Zen2vT5P+kDTxgAAT6VLgmZ3wP9OBUPL+R0I+z1z9MI3ATE2rDNvBl/M6YDJh/pTgIAAAF8Lphbh9O+cp/Z2IcvFRLGUN5rcG5Kzw/YldVucbImsGbGrSQ2FR1a00I8DlT/Y8BzVcwX7/ll8ii8VffH3IDc7W70zu/cX/dTBQAweDAxMjM0NTY3ODlBQkNERUZwYW5pY2tlZCBhdCA6CgIAAAACAAAABwAAAABBhKUIC9gIGgACAAIAAAAcAAIABAAAAC8AAgACAAAAHAACAAQAAABAAAIAAgAAABwAAgAEAAAAAAAAAAAAAAABAAAAAQAAAO8CAgA4AAAACgAAAAEAAAAMAAAADAAAAAwAAAAMAAAADAAAAAAAAAAEBAAABAAAAA0AAAAOAAAADwAAANcDAgA3AAAAlgAAAB4AAAAQAAAADAAAAAQAAAARAAAAEgAAABMAAADXAwIANwAAAIMAAABUAAAA1wMCADcAAACDAAAAEgAAAEsGAgBPBgIAMgYCADkGAgA/BgIARgYCAFMGAgBaBgIAZQYCAGkGAgBxBgIAdQYCALQEAgBKAAAAKQIAAAkAAAAPBAIAUAAAABwAAAAFAAAAFQAAAAwAAAAEAAAAFgAAABcAAAAYAAAAAAAAAAAAAAABAAAAGQAAAFQCAgBIAAAAjwIAAA4AAAAAAAAABAAAAAQAAAAdAAAAYAQCAFMAAAB6AgAADQAAAJ0CAgBRAAAALgAAAAkAAACIAwIATgAAAIQBAAABAAAAYAQCAFMAAAC3AAAABQAAAGAEAgBTAAAAuAAAAAUAAABgBAIAUwAAALkAAAAFAAAAYAQCAFMAAAAGAQAABQAAAGAEAgBTAAAABwEAAAUAAAD1AQIAXgAAANwBAAAFAAAA9QECAF4AAADdAQAABQAAAPUBAgBeAAAA3gEAAAUAAAD1AQIAXgAAAH0AAAAVAAAA9QECAF4AAAAzAgAAEQAAAPUBAgBeAAAANgIAAAkAAAD1AQIAXgAAAGwCAAAJAAAA9QECAF4AAACpAAAABQAAAPUBAgBeAAAAqgAAAAUAAAD1AQIAXgAAAKsAAAAFAAAA9QECAF4AAACuAAAABQAAAPUBAgBeAAAArwAAAAUAAAD1AQIAXgAAAAoBAAARAAAA9QECAF4AAAANAQAACQAAAPUBAgBeAAAAQAEAAAkAAAD1AQIAXgAAAK0AAAAFAAAA9QECAF4AAACsAAAABQAAACgDAgBfAAAACwEAAAUAAAAoAwIAXwAAAAwBAAAFAAAAKAMCAF8AAAANAQAABQAAACgDAgBfAAAAcgEAACQAAAAoAwIAXwAAAHcBAAAvAAAAKAMCAF8AAACEAQAAEgAAACgDAgBfAAAAZgEAAA0AAAAoAwIAXwAAAEwBAAAiAAAAKAMCAF8AAAAPAQAABQAAACgDAgBfAAAADgEAAAUAAAAoAwIAXwAAAHYAAAAFAAAAKAMCAF8AAAB3AAAABQAAACgDAgBfAAAAeAAAAAUAAAAoAwIAXwAAAHsAAAAFAAAAKAMCAF8AAADCAAAACQAAACgDAgBfAAAA+wAAAA0AAAAoAwIAXwAAAAIBAAASAAAAKAMCAF8AAAB6AAAABQAAACgDAgBfAAAAeQAAAAUAAAD1AQIAXgAAAO8CAAAmAAAA9QECAF4AAADjAgAAJgAAAPUBAgBeAAAAzAIAACYAAAA7CgIAPQoCAD8KAgAA80QEbmFtZQAODWNvdW50ZXJzLndhc20Bjz10AFNfWk4xM3dlZGZsb3dfZ3Vlc3Q4YmluZGluZ3Mzd2VkNGZsb3c0aG9zdDhwYW5pY2tlZDExd2l0X2ltcG9ydDAxN2g5ZmIxNzM4OWE0ZTdlZWY5RQERX193YXNtX2NhbGxfY3RvcnMCU19STnZYc2RfTnROdENzOXB2ODQ4VXpRd1FfNGNvcmU1YWxsb2M2bGF5b3V0TnRCNV8xMUxheW91dEVycm9yTnROdEI5XzNmbXQ1RGVidWczZm10AzpfWk4xM3dlZGZsb3dfZ3Vlc3QxMHRyYW5zaXRpb243cGVyZm9ybTE3aDE0ZGNjOGU1NDA2YWIyMWNFBDpfWk4xM3dlZGZsb3dfZ3Vlc3QxMHRyYW5zaXRpb243cGVyZm9ybTE3aDk0ZGFiNzAyYTI1NjRmYTBFBTpfWk4xM3dlZGZsb3dfZ3Vlc3QxMHRyYW5zaXRpb243cGVyZm9ybTE3aGZmODA2ZDQ0YWU1OGQzYjNFBmhfWk40Y29yZTNwdHI3MGRyb3BfaW5fcGxhY2UkTFQkd2VkZmxvd19ndWVzdC4uYmluZGluZ3MuLndlZC4uZmxvdy4udmFsdWVzLi5WYWx1ZSRHVCQxN2hkM2EzMDJiN2E0MTc5NjliRQdDX1pONWFsbG9jN3Jhd192ZWMxOVJhd1ZlYyRMVCRUJEMkQSRHVCQ4Z3Jvd19vbmUxN2g2MzM5NmU1MDQ4NDdhNTgxRQhIX1pONWFsbG9jN3Jhd192ZWMyMFJhd1ZlY0lubmVyJExUJEEkR1QkMTFmaW5pc2hfZ3JvdzE3aGQwMTc1NGVmY2E0ZWY2MjdFCWZfWk43M18kTFQkY291bnRlcnMuLl8uLkNvbXBvbmVudCR1MjAkYXMkdTIwJHdlZGZsb3dfZ3Vlc3QuLmJpbmRpbmdzLi5HdWVzdCRHVCQzcnVuMTdoNGMwODgyYjhiZDVmYzlmM0UKa19aTjczXyRMVCRjb3VudGVycy4uXy4uQ29tcG9uZW50JHUyMCRhcyR1MjAkd2VkZmxvd19ndWVzdC4uYmluZGluZ3MuLkd1ZXN0JEdUJDhkZXNjcmliZTE3aDA0NjQzMWM4MTZkNWE2MGFFCxJjYWJpX3Bvc3RfZGVzY3JpYmUMDWNhYmlfcG9zdF9ydW4NCGRlc2NyaWJlDgNydW4POF9STnZDc2ZMZnk2RUkxNWlMXzdfX19ydXN0YzI2X19fcnVzdF9hbGxvY19lcnJvcl9oYW5kbGVyEEFfUk52Q3NmTGZ5NkVJMTVpTF83X19fcnVzdGMzNV9fX3J1c3Rfbm9fYWxsb2Nfc2hpbV9pc191bnN0YWJsZV92MhEqX1JOdkNzZkxmeTZFSTE1aUxfN19fX3J1c3RjMTJfX19ydXN0X2FsbG9jEjVfWk4xM3dlZGZsb3dfZ3Vlc3Q0YnVtcDRCdW1wNGdyb3cxN2hlOTA0N2EwOGZkZmI0NzRhRRMsX1JOdkNzZkxmeTZFSTE1aUxfN19fX3J1c3RjMTRfX19ydXN0X2RlYWxsb2MULF9STnZDc2ZMZnk2RUkxNWlMXzdfX19ydXN0YzE0X19fcnVzdF9yZWFsbG9jFS5fUk52Q3NmTGZ5NkVJMTVpTF83X19fcnVzdGMxN3J1c3RfYmVnaW5fdW53aW5kFklfWk40NF8kTFQkJFJGJFQkdTIwJGFzJHUyMCRjb3JlLi5mbXQuLkRpc3BsYXkkR1QkM2ZtdDE3aDk2ZjEwOTEzNGUzNTc3NDFFF0pfUk52WHMxSF9OdENzOGpiN1hJS0ZTU3lfNWFsbG9jNnN0cmluZ3hOdEI2XzEyU3BlY1RvU3RyaW5nMTRzcGVjX3RvX3N0cmluZxhaX1pONWFsbG9jN3Jhd192ZWMyMFJhd1ZlY0lubmVyJExUJEEkR1QkN3Jlc2VydmUyMWRvX3Jlc2VydmVfYW5kX2hhbmRsZTE3aDhlN2U1ZDk1MWYwMmRjMzVFGV5fUk52WHNaX050Q3M4amI3WElLRlNTeV81YWxsb2M2c3RyaW5nTnRCNV82U3RyaW5nTnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10NVdyaXRlMTB3cml0ZV9jaGFyGlxfUk52WHNaX050Q3M4amI3WElLRlNTeV81YWxsb2M2c3RyaW5nTnRCNV82U3RyaW5nTnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10NVdyaXRlOXdyaXRlX3N0chtYX1JOdlhzcV9OdENzOGpiN1hJS0ZTU3lfNWFsbG9jNnN0cmluZ050QjVfNlN0cmluZ050TnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdDdEaXNwbGF5M2ZtdBw6X1pOMTN3ZWRmbG93X2d1ZXN0MTB0cmFuc2l0aW9uN3Vua25vd24xN2gxNThiOWU3YjYwZDdiYjVmRR1JX1pONDRfJExUJCRSRiRUJHUyMCRhcyR1MjAkY29yZS4uZm10Li5EaXNwbGF5JEdUJDNmbXQxN2hjZmM1Y2NiMjAzMGUzMmYwRR47X1pOMTN3ZWRmbG93X2d1ZXN0MTB0cmFuc2l0aW9uOG1hbmlmZXN0MTdoYTM0YjQ2MThkN2FlOTgzMUUfOF9aTjEzd2VkZmxvd19ndWVzdDV2YWx1ZTEwZml0X3NjYWxhcjE3aDNlYzg5MzA0MTM5MGVkNGJFIGlfWk40Y29yZTNwdHI3MWRyb3BfaW5fcGxhY2UkTFQkd2VkZmxvd19ndWVzdC4uYmluZGluZ3MuLndlZC4uZmxvdy4udmFsdWVzLi5TY2FsYXIkR1QkMTdoYjU5ODAwYjcyM2I4MWFiMUUhOV9aTjEzd2VkZmxvd19ndWVzdDZjaGFuZ2UxMHB1c2hfdmFsdWUxN2gxZGZhOTc5ZTlmOGUxZWExRSI1X1pOMTN3ZWRmbG93X2d1ZXN0NmNoYW5nZTd3cml0dGVuMTdoZTE2MDllNTlkYWNlNGNjMUUjX19aTjY2XyRMVCRhbGxvYy4uYm9ycm93Li5Db3ckTFQkQiRHVCQkdTIwJGFzJHUyMCRjb3JlLi5mbXQuLkRpc3BsYXkkR1QkM2ZtdDE3aDYzMzBmZjA2ZGE1NTgxMTVFJDpfWk4xM3dlZGZsb3dfZ3Vlc3Q2Y2hhbmdlMTFwdXNoX3F1b3RlZDE3aDM4YzIwMGJlNDFmYjY2ZTZFJT5fWk4xM3dlZGZsb3dfZ3Vlc3Q2Y2hhbmdlMTVwdXNoX2Fzc2lnbm1lbnQxN2g1YzEyNGFjMTEwODA4MzFiRSZCX1pOMTN3ZWRmbG93X2d1ZXN0NmNoYW5nZTZDaGFuZ2UxMmludG9fb3V0Y29tZTE3aDIxMTE3MjYyZjIxMzE3NmVFJ6EBX1pONGNvcmUzcHRyMTI2ZHJvcF9pbl9wbGFjZSRMVCRhbGxvYy4udmVjLi5pbnRvX2l0ZXIuLkludG9JdGVyJExUJCRMUCRhbGxvYy4uYm9ycm93Li5Db3ckTFQkc3RyJEdUJCRDJHdlZGZsb3dfZ3Vlc3QuLmNoYW5nZS4uTmV3JFJQJCRHVCQkR1QkMTdoZDI4ZGU0MzRjYTBhOTA3MkUoQ19aTjVhbGxvYzdyYXdfdmVjMTlSYXdWZWMkTFQkVCRDJEEkR1QkOGdyb3dfb25lMTdoMDVmMzE2ZjgwYTBiMzZkY0UpSV9aTjQ0XyRMVCQkUkYkVCR1MjAkYXMkdTIwJGNvcmUuLmZtdC4uRGlzcGxheSRHVCQzZm10MTdoMDJhZWUyMzFiZjNlMWE5M0UqSV9aTjQ0XyRMVCQkUkYkVCR1MjAkYXMkdTIwJGNvcmUuLmZtdC4uRGlzcGxheSRHVCQzZm10MTdoMTUxNDk0ZTMxNjJhOTU2YUUrY19aTjcwXyRMVCR3ZWRmbG93X2d1ZXN0Li50eXBlcy4uVGltZXN0YW1wJHUyMCRhcyR1MjAkY29yZS4uZm10Li5EaXNwbGF5JEdUJDNmbXQxN2gxODFjYmY2YWE3Y2MyZDI3RSxeX1pONjVfJExUJHdlZGZsb3dfZ3Vlc3QuLnR5cGVzLi5EYXRlJHUyMCRhcyR1MjAkY29yZS4uZm10Li5EaXNwbGF5JEdUJDNmbXQxN2g5MmNlYWNjM2M1MzQ3MmNmRS1HX1pONDJfJExUJCRSRiRUJHUyMCRhcyR1MjAkY29yZS4uZm10Li5EZWJ1ZyRHVCQzZm10MTdoMWUxYjdhMGFiMTNiNGQ4ZUUuQV9aTjEzd2VkZmxvd19ndWVzdDhiaW5kaW5nczNfcnQxMmNhYmlfZGVhbGxvYzE3aGFiNDVjMjFiZjc3NDBlZTBFL0NfWk4xM3dlZGZsb3dfZ3Vlc3Q4YmluZGluZ3MzX3J0MTRydW5fY3RvcnNfb25jZTE3aDY1MWE2N2YwNTEzY2ZlZTNFMFlfWk4xM3dlZGZsb3dfZ3Vlc3Q4YmluZGluZ3M0MF9fbGlua19jdXN0b21fc2VjdGlvbl9kZXNjcmliaW5nX2ltcG9ydHMxN2gxZGE5NzI2N2YwODE3ZWUxRTEyX1pONGNvcmUzZm10NVdyaXRlMTB3cml0ZV9jaGFyMTdoZjVhNzIxOTc0MmRiMWRlOEUyMF9aTjRjb3JlM2ZtdDVXcml0ZTl3cml0ZV9mbXQxN2gxMTUzZGYwNDFjYjYxZDcwRTMwX1pONGNvcmUzZm10NVdyaXRlOXdyaXRlX2ZtdDE3aDE0YTZiM2NkMWQ0MDE4NmVFNJABX1pONGNvcmUzcHRyMTA5ZHJvcF9pbl9wbGFjZSRMVCRhbGxvYy4udmVjLi5pbnRvX2l0ZXIuLkludG9JdGVyJExUJHdlZGZsb3dfZ3Vlc3QuLmJpbmRpbmdzLi53ZWQuLmZsb3cuLnZhbHVlcy4uVmFsdWUkR1QkJEdUJDE3aDFiYmY2OGE4Y2VkMDEzNjZFNUxfWk40Y29yZTNwdHI0MmRyb3BfaW5fcGxhY2UkTFQkYWxsb2MuLnN0cmluZy4uU3RyaW5nJEdUJDE3aDdhZWU3MmJjNmFjM2FjM2ZFNlZfWk41Nl8kTFQkJExQJCRSUCQkdTIwJGFzJHUyMCR3ZWRmbG93X2d1ZXN0Li5zdGF0ZS4uU3RhdGUkR1QkNHJlYWQxN2g4M2QwZjMyNzZkY2YwNGQ1RTdIX1pONWFsbG9jN3Jhd192ZWMyMFJhd1ZlY0lubmVyJExUJEEkR1QkMTFmaW5pc2hfZ3JvdzE3aDhlYjBiZDI3MmY1Y2RjOGRFOGdfWk42OF8kTFQkd2VkZmxvd19ndWVzdC4ucnVudGltZS4uTWVzc2FnZSR1MjAkYXMkdTIwJGNvcmUuLmZtdC4uV3JpdGUkR1QkOXdyaXRlX3N0cjE3aDBkMDVlMWFkOTFiOTNhZWZFOQxjYWJpX3JlYWxsb2M6N19aTjExd2l0X2JpbmRnZW4ycnQxNHJ1bl9jdG9yc19vbmNlMTdoNmE3ZjA0YzM3MTI4NjhjZUU7M19aTjExd2l0X2JpbmRnZW4ycnQ3Q2xlYW51cDNuZXcxN2gzMTQ4MWFlNjAyMmE0ZmVhRTxXX1JJTnZOdENzOXB2ODQ4VXpRd1FfNGNvcmUzcHRyMTNkcm9wX2luX3BsYWNlTnROdENzOGpiN1hJS0ZTU3lfNWFsbG9jNnN0cmluZzZTdHJpbmdFQktfPXVfUklOdk52TXMyX050Q3M4amI3WElLRlNTeV81YWxsb2M3cmF3X3ZlY0lOdEI4XzExUmF3VmVjSW5uZXJwRTdyZXNlcnZlMjFkb19yZXNlcnZlX2FuZF9oYW5kbGVOdE50QmFfNWFsbG9jNkdsb2JhbEVCYV8+MF9STnZOdENzOGpiN1hJS0ZTU3lfNWFsbG9jN3Jhd192ZWMxMmhhbmRsZV9lcnJvcj9IX1JOdk1zNF9OdENzOGpiN1hJS0ZTU3lfNWFsbG9jN3Jhd192ZWNOdEI1XzExUmF3VmVjSW5uZXIxMWZpbmlzaF9ncm93QjdfQDdfUk52Q3NmTGZ5NkVJMTVpTF83X19fcnVzdGMyNV9fX3JkbF9hbGxvY19lcnJvcl9oYW5kbGVyQTRfUk52TnRDczhqYjdYSUtGU1N5XzVhbGxvYzVhbGxvYzE4aGFuZGxlX2FsbG9jX2Vycm9yQjVfUk52TnRDczhqYjdYSUtGU1N5XzVhbGxvYzdyYXdfdmVjMTdjYXBhY2l0eV9vdmVyZmxvd0M1X1JOdk52TnRDczhqYjdYSUtGU1N5XzVhbGxvYzNmbXQ2Zm9ybWF0MTJmb3JtYXRfaW5uZXJEO19STnZYc0tfTnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdE50QjVfNUVycm9yTnRCNV81RGVidWczZm10RV5fUk52WHNaX050Q3M4amI3WElLRlNTeV81YWxsb2M2c3RyaW5nTnRCNV82U3RyaW5nTnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10NVdyaXRlMTB3cml0ZV9jaGFyRlxfUk52WHNaX050Q3M4amI3WElLRlNTeV81YWxsb2M2c3RyaW5nTnRCNV82U3RyaW5nTnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10NVdyaXRlOXdyaXRlX3N0ckdZX1JOdllOdE50Q3M4amI3WElLRlNTeV81YWxsb2M2c3RyaW5nNlN0cmluZ050TnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdDVXcml0ZTl3cml0ZV9mbXRCNl9IOF9STnZOdENzOXB2ODQ4VXpRd1FfNGNvcmU5cGFuaWNraW5nMTlhc3NlcnRfZmFpbGVkX2lubmVySTlfUklOdk50Q3M5cHY4NDhVelF3UV80Y29yZTlwYW5pY2tpbmcxM2Fzc2VydF9mYWlsZWR5eUVCNF9KKV9STnZOdENzOXB2ODQ4VXpRd1FfNGNvcmU5cGFuaWNraW5nNXBhbmljS0xfUk52TnROdE50TnRDczlwdjg0OFV6UXdRXzRjb3JlM251bTdmbHQyZGVjOHN0cmF0ZWd5NWdyaXN1MTZmb3JtYXRfZXhhY3Rfb3B0TElfUk52TnROdE50TnRDczlwdjg0OFV6UXdRXzRjb3JlM251bTdmbHQyZGVjOHN0cmF0ZWd5NmRyYWdvbjEyZm9ybWF0X2V4YWN0TTpfUk52TnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzbnVtN2ZsdDJkZWMxN2RpZ2l0c190b19kZWNfc3RyTkVfUk52TXNhX050Q3M5cHY4NDhVelF3UV80Y29yZTNmbXROdEI1XzlGb3JtYXR0ZXIxOXBhZF9mb3JtYXR0ZWRfcGFydHNPSl9SSU52TnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10NWZsb2F0MjlmbG9hdF90b19kZWNpbWFsX2NvbW1vbl9leGFjdGRFQjZfUE9fUk52TnROdE50TnRDczlwdjg0OFV6UXdRXzRjb3JlM251bTdmbHQyZGVjOHN0cmF0ZWd5NWdyaXN1MTlmb3JtYXRfc2hvcnRlc3Rfb3B0UUxfUk52TnROdE50TnRDczlwdjg0OFV6UXdRXzRjb3JlM251bTdmbHQyZGVjOHN0cmF0ZWd5NmRyYWdvbjE1Zm9ybWF0X3Nob3J0ZXN0Uk1fUklOdk50TnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdDVmbG9hdDMyZmxvYXRfdG9fZGVjaW1hbF9jb21tb25fc2hvcnRlc3RkRUI2X1M5X1JOdk50TnRDczlwdjg0OFV6UXdRXzRjb3JlNXNsaWNlNWluZGV4MTZzbGljZV9pbmRleF9mYWlsVFFfUklOdk50TnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdDVmbG9hdDM2ZmxvYXRfdG9fZXhwb25lbnRpYWxfY29tbW9uX3Nob3J0ZXN0ZEVCNl9VLV9STnZOdENzOXB2ODQ4VXpRd1FfNGNvcmU5cGFuaWNraW5nOXBhbmljX2ZtdFY/X1JOdlhzZF9OdE50TnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdDNudW0zaW1weU50QjlfN0Rpc3BsYXkzZm10VzhfUk52WHMxaV9OdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10UmVOdEI2XzdEaXNwbGF5M2ZtdEI4X1gjX1JOdk50Q3M5cHY4NDhVelF3UV80Y29yZTNmbXQ1d3JpdGVZN19STnZOdENzOXB2ODQ4VXpRd1FfNGNvcmU5cGFuaWNraW5nMThwYW5pY19ib3VuZHNfY2hlY2taRF9STnZNczJfTnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzbnVtNmJpZ251bU50QjVfOEJpZzMyeDQwMTBtdWxfZGlnaXRzW0FfUk52TXMyX050TnRDczlwdjg0OFV6UXdRXzRjb3JlM251bTZiaWdudW1OdEI1XzhCaWczMng0MDhtdWxfcG93Mlw+X1JOdk1zYV9OdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10TnRCNV85Rm9ybWF0dGVyMTJwYWRfaW50ZWdyYWxdNV9STnZOdE50Q3M5cHY4NDhVelF3UV80Y29yZTNzdHI1Y291bnQxNGRvX2NvdW50X2NoYXJzXk5fUk52TnZNc2FfTnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdE50QjdfOUZvcm1hdHRlcjEycGFkX2ludGVncmFsMTJ3cml0ZV9wcmVmaXhfR19STnZNc2FfTnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdE50QjVfOUZvcm1hdHRlcjIxd3JpdGVfZm9ybWF0dGVkX3BhcnRzYDRfUk52TXNhX050Q3M5cHY4NDhVelF3UV80Y29yZTNmbXROdEI1XzlGb3JtYXR0ZXIzcGFkYTpfUk52TXNhX050Q3M5cHY4NDhVelF3UV80Y29yZTNmbXROdEI1XzlGb3JtYXR0ZXI5d3JpdGVfc3RyYjRfUk52TXNmX050TnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10M251bTNpbXB5NF9fZm10Yz9fUk52WHM4X050TnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10M251bTNpbXBtTnRCOV83RGlzcGxheTNmbXRkL19STnZOdENzOXB2ODQ4VXpRd1FfNGNvcmU2cmVzdWx0MTN1bndyYXBfZmFpbGVkZTxfUk52WHMxZ19OdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10UkROdEI2XzVEZWJ1Z0VMX0J4XzNmbXRCOF9mN19STnZOdENzOXB2ODQ4VXpRd1FfNGNvcmU5cGFuaWNraW5nMThwYW5pY19ub3Vud2luZF9mbXRnQV9STnZYczhfTnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdE50QjVfOUFyZ3VtZW50c050QjVfN0Rpc3BsYXkzZm10aDhfUk52TnROdENzOXB2ODQ4VXpRd1FfNGNvcmU1c2xpY2U2bWVtY2hyMTRtZW1jaHJfYWxpZ25lZGlLX1JOdk50TnRDczlwdjg0OFV6UXdRXzRjb3JlOXBhbmlja2luZzExcGFuaWNfY29uc3QyM3BhbmljX2NvbnN0X2Rpdl9ieV96ZXJval5fUk52TnZOdE50TnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzbnVtN2ZsdDJkZWM4c3RyYXRlZ3k1Z3Jpc3UxNmZvcm1hdF9leGFjdF9vcHQxNHBvc3NpYmx5X3JvdW5ka0VfUk52TnROdE50TnRDczlwdjg0OFV6UXdRXzRjb3JlM251bTdmbHQyZGVjOHN0cmF0ZWd5NmRyYWdvbjltdWxfcG93MTBsP19STnZYczlfTnROdE50Q3M5cHY4NDhVelF3UV80Y29yZTNmbXQzbnVtM2ltcGxOdEI5XzdEaXNwbGF5M2ZtdG0/X1JOdlhzZV9OdE50TnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdDNudW0zaW1weE50QjlfN0Rpc3BsYXkzZm10bjZfUk52WHMxZ19OdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10UnlOdEI2XzVEZWJ1ZzNmbXRCOF9vOV9STnZYczZfTnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10NWZsb2F0ZE50QjdfNURlYnVnM2ZtdHBWX1JOdlhzX050TnRDczlwdjg0OFV6UXdRXzRjb3JlNXBhbmljMTBwYW5pY19pbmZvTnRCNF85UGFuaWNJbmZvTnROdEI4XzNmbXQ3RGlzcGxheTNmbXRxM19STnZYc2lfTnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdGVOdEI1XzdEaXNwbGF5M2ZtdHIIX19tdWx0aTNzBm1lbWNtcAe2Bw0AD19fc3RhY2tfcG9pbnRlcgEfR09ULmRhdGEuaW50ZXJuYWwuX19tZW1vcnlfYmFzZQJLR09ULmRhdGEuaW50ZXJuYWwuX1pOMTN3ZWRmbG93X2d1ZXN0OGJpbmRpbmdzOV9SRVRfQVJFQTE3aDczOTUzNGZjMTYxMTk0OGJFAx1HT1QuZGF0YS5pbnRlcm5hbC5fX2hlYXBfYmFzZQQeR09ULmRhdGEuaW50ZXJuYWwuX190YWJsZV9iYXNlBVFHT1QuZnVuYy5pbnRlcm5hbC5fUk52WHNlX050TnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10M251bTNpbXB4TnRCOV83RGlzcGxheTNmbXQGdUdPVC5mdW5jLmludGVybmFsLl9aTjcwXyRMVCR3ZWRmbG93X2d1ZXN0Li50eXBlcy4uVGltZXN0YW1wJHUyMCRhcyR1MjAkY29yZS4uZm10Li5EaXNwbGF5JEdUJDNmbXQxN2gxODFjYmY2YWE3Y2MyZDI3RQdwR09ULmZ1bmMuaW50ZXJuYWwuX1pONjVfJExUJHdlZGZsb3dfZ3Vlc3QuLnR5cGVzLi5EYXRlJHUyMCRhcyR1MjAkY29yZS4uZm10Li5EaXNwbGF5JEdUJDNmbXQxN2g5MmNlYWNjM2M1MzQ3MmNmRQhiR09ULmRhdGEuaW50ZXJuYWwuX1JOdk50TnROdENzOXB2ODQ4VXpRd1FfNGNvcmU3dW5pY29kZTEydW5pY29kZV9kYXRhMTF3aGl0ZV9zcGFjZTE0V0hJVEVTUEFDRV9NQVAJUUdPVC5mdW5jLmludGVybmFsLl9STnZYc2lfTnROdE50Q3M5cHY4NDhVelF3UV80Y29yZTNmbXQzbnVtM2ltcGpOdEI5XzdEaXNwbGF5M2ZtdApTR09ULmZ1bmMuaW50ZXJuYWwuX1JOdlhzOF9OdENzOXB2ODQ4VXpRd1FfNGNvcmUzZm10TnRCNV85QXJndW1lbnRzTnRCNV83RGlzcGxheTNmbXQLWkdPVC5kYXRhLmludGVybmFsLl9STnZOdE50TnROdENzOXB2ODQ4VXpRd1FfNGNvcmUzbnVtN2ZsdDJkZWM4c3RyYXRlZ3k1Z3Jpc3UxMkNBQ0hFRF9QT1cxMAxRR09ULmZ1bmMuaW50ZXJuYWwuX1JOdlhzOF9OdE50TnRDczlwdjg0OFV6UXdRXzRjb3JlM2ZtdDNudW0zaW1wbU50QjlfN0Rpc3BsYXkzZm10CRECAAcucm9kYXRhAQUuZGF0YQDmAQlwcm9kdWNlcnMCCGxhbmd1YWdlAgRSdXN0AANDMTEADHByb2Nlc3NlZC1ieQQFcnVzdGMdMS45NS4wICg1OTgwNzYxNmUgMjAyNi0wNC0xNCkFY2xhbmdfMjEuMS40LXdhc2ktc2RrIChodHRwczovL2dpdGh1Yi5jb20vbGx2bS9sbHZtLXByb2plY3QgMjIyZmMxMWYyYjhmMjVmNmEwZjQ5NzYyNzJlZjFiYjdiZjQ5NTIxZCkNd2l0LWNvbXBvbmVudAcwLjI1OC4zEHdpdC1iaW5kZ2VuLXJ1c3QGMC42MS4xAKQBD3RhcmdldF9mZWF0dXJlcwkrC2J1bGstbWVtb3J5Kw9idWxrLW1lbW9yeS1vcHQrFmNhbGwtaW5kaXJlY3Qtb3ZlcmxvbmcrDmV4dGVuZGVkLWNvbnN0KwptdWx0aXZhbHVlKw9tdXRhYmxlLWdsb2JhbHMrE25vbnRyYXBwaW5nLWZwdG9pbnQrD3JlZmVyZW5jZS10eXBlcysIc2lnbi1leHQGDQEBAAAIcGFuaWNrZWQIBQEBAAAAAicCAQEIcGFuaWNrZWQAAAAAARN3ZWQ6Zmxvdy9ob3N0QDAuMS4wEgAGDAEAAgEBBm1lbW9yeQcFAUAAAAUGNgMAAAEBCGRlc2NyaWJlAAABAQxjYWJpX3JlYWxsb2MAAAEBEmNhYmlfcG9zdF9kZXNjcmliZQgLAQAAAQMDAAAFAwoLDgEACGRlc2NyaWJlAQEABw4BQAEHcGF5bG9hZAcACQYbAgAAAQEDcnVuAAABAQ1jYWJpX3Bvc3RfcnVuCA0BAAAEBAMABAIABQULCwkBAANydW4BAwAA3QMOY29tcG9uZW50LW5hbWUBTQAABgAIcGFuaWNrZWQBCGRlc2NyaWJlAgxjYWJpX3JlYWxsb2MDEmNhYmlfcG9zdF9kZXNjcmliZQQDcnVuBQ1jYWJpX3Bvc3RfcnVuAQsAAgEABm1lbW9yeQEJABEBAARtYWluAR4AEgIAE3dlZDpmbG93L2hvc3RAMC4xLjABBG1haW4BRAUDABN3ZWQ6Zmxvdy9ob3N0QDAuMS4wARV3ZWQ6Zmxvdy92YWx1ZXNAMC4xLjACFHdlZDpmbG93L3R5cGVzQDAuMS4wASoBBQAIcGFuaWNrZWQBCGRlc2NyaWJlAghkZXNjcmliZQMDcnVuBANydW4BjAEDCgAWdHktd2VkOmZsb3cvaG9zdEAwLjEuMAEYdHktd2VkOmZsb3cvdmFsdWVzQDAuMS4wAgV2YWx1ZQMXdHktd2VkOmZsb3cvdHlwZXNAMC4xLjAECG1hbmlmZXN0BQhtYW5pZmVzdAYHcGF5bG9hZAcHcGF5bG9hZAgHb3V0Y29tZQkHb3V0Y29tZQFEBQMAE3dlZDpmbG93L2hvc3RAMC4xLjABFXdlZDpmbG93L3ZhbHVlc0AwLjEuMAIUd2VkOmZsb3cvdHlwZXNAMC4xLjAALwlwcm9kdWNlcnMBDHByb2Nlc3NlZC1ieQENd2l0LWNvbXBvbmVudAcwLjI0NS4x', 'base64'), '{"sdk": "rust 0.1.0", "name": "counters", "transitions": [{"fuel": null, "reads": [], "memory": null, "writes": [{"kind": "text", "name": "a1"}], "timeout": null, "condition": null, "transition": "tr_a1", "description": "Counts a1."}, {"fuel": null, "reads": [], "memory": null, "writes": [{"kind": "text", "name": "a2"}], "timeout": null, "condition": null, "transition": "tr_a2", "description": "Counts a2."}, {"fuel": null, "reads": [], "memory": null, "writes": [{"kind": "text", "name": "a3"}], "timeout": null, "condition": null, "transition": "tr_a3", "description": "Counts a3."}]}', '2026-11-24 08:00:24.230657+00', '2026-11-24 08:00:24.23353+00');

INSERT INTO wed.flow OVERRIDING SYSTEM VALUE VALUES
	(3, 2, 'rest', '', 'wf_4c263c6b57c24d6e', 'wf_4c263c6b57c24d6e_shape', 'wf_4c263c6b57c24d6e', 'c7fcac7ad39146ca9c3bf744b90289385b95046090f946d0818f05fe4a131d43', 11, '{}', 5, '2026-11-24 08:00:50.063746+00', false, false, NULL),
	(1, 1, 'counters', 'Three counters that fire themselves: twelve transitions in any order, never more', 'wf_cb605d367e08421f', 'wf_cb605d367e08421f_shape', 'wf_cb605d367e08421f', '16b29dfc8ceb4d3992adbd143787d12a245f9f6bd0484d7ea5faac0d234d8f50', 1, '{}', 4, '2026-11-24 08:00:23.426725+00', false, false, NULL),
	(2, 1, 'paper', '', 'wf_98db33d0ca6b4094', 'wf_98db33d0ca6b4094_shape', 'wf_98db33d0ca6b4094', '42d727f1196241a3ac1e539feb30913a3e6ff9d8423d4a29a35b5bb42b257102', 6, '{}', 6, '2026-11-24 08:00:49.580298+00', false, false, NULL);

INSERT INTO wed.flow_version VALUES
	(1, 3, '{"name": "counters", "final": "a1 = ''3'' and a2 = ''4'' and a3 = ''5''", "trigger": [{"name": "t1", "when": "a1::integer < 3", "timeout": "00:00:10", "transition": "tr_a1"}, {"name": "t2", "when": "a2::integer < 4", "timeout": "00:00:10", "transition": "tr_a2"}, {"name": "t3", "when": "a3::integer < 5", "timeout": "00:00:10", "transition": "tr_a3"}], "attribute": [{"name": "a1", "type": "text", "default": "0"}, {"name": "a2", "type": "text", "default": "0"}, {"name": "a3", "type": "text", "default": "0"}], "transition": {"tr_a1": {"component": "counters"}, "tr_a2": {"component": "counters"}, "tr_a3": {"component": "counters"}}, "description": "Three counters that fire themselves: twelve transitions in any order, never more"}', 'operator:postgres', '2026-11-24 08:00:23.755247+00');

INSERT INTO wed.function_source VALUES
	(true, 'a8f5ae4fb25d6efa4aaf005eaa8ebe3871528d522a926c15b58756538352ca87', '2026-11-24 08:00:23.377132+00');

INSERT INTO wed.instance VALUES
	(1, 1, 'F', '2026-11-24 08:00:24.335152+00', '2026-11-24 08:00:24.674173+00', NULL, false),
	(1, 2, 'F', '2026-11-24 08:00:24.370756+00', '2026-11-24 08:00:24.686085+00', NULL, false),
	(1, 3, 'R', '2026-11-24 08:00:49.482754+00', '2026-11-24 08:00:49.482754+00', NULL, false),
	(1, 4, 'R', '2026-11-24 08:00:49.529055+00', '2026-11-24 08:00:49.529055+00', NULL, false),
	(2, 1, 'R', '2026-11-24 08:00:49.9472+00', '2026-11-24 08:00:49.9472+00', NULL, false),
	(2, 2, 'R', '2026-11-24 08:00:49.9472+00', '2026-11-24 08:00:49.9472+00', NULL, false),
	(2, 3, 'R', '2026-11-24 08:00:49.9472+00', '2026-11-24 08:00:49.9472+00', NULL, false),
	(3, 1, 'R', '2026-11-24 08:00:50.319083+00', '2026-11-24 08:00:50.319083+00', NULL, false);

INSERT INTO wed.job VALUES
	(1, 1, 3, 2, 1, 1, 0, 0, 2, '2026-11-24 08:00:49.482754+00', '2026-11-24 08:00:49.496925+00', 0, '00:00:10', 1, NULL, 4, 'tr_a1', NULL, NULL, NULL, DEFAULT, NULL),
	(1, 1, 3, 3, 1, 1, 0, 0, 2, '2026-11-24 08:00:49.482754+00', '2026-11-24 08:00:49.496925+00', 0, '00:00:10', 1, NULL, 4, 'tr_a2', NULL, NULL, NULL, DEFAULT, NULL),
	(1, 1, 4, 2, 1, 1, 0, 0, 2, '2026-11-24 08:00:49.529055+00', '2026-11-24 08:00:49.529416+00', 0, '00:00:10', 1, NULL, 4, 'tr_a1', NULL, NULL, NULL, DEFAULT, NULL),
	(1, 1, 4, 3, 1, 1, 0, 0, 2, '2026-11-24 08:00:49.529055+00', '2026-11-24 08:00:49.529416+00', 0, '00:00:10', 1, NULL, 4, 'tr_a2', NULL, NULL, NULL, DEFAULT, NULL),
	(2, 1, 2, 7, 1, 1, 0, 0, 1, '2026-11-24 08:00:49.9472+00', '2026-11-24 08:00:49.950266+00', 0, '3 days 18:00:00', NULL, NULL, 6, 'tr_a2', NULL, NULL, NULL, DEFAULT, NULL),
	(2, 1, 2, 8, 1, 1, 0, 0, 1, '2026-11-24 08:00:49.9472+00', '2026-11-24 08:00:49.950266+00', 0, '00:00:30', NULL, NULL, 6, 'tr_a3', NULL, NULL, NULL, DEFAULT, NULL),
	(2, 1, 3, 7, 1, 1, 0, 0, 1, '2026-11-24 08:00:49.9472+00', '2026-11-24 08:00:49.950266+00', 0, '3 days 18:00:00', NULL, NULL, 6, 'tr_a2', NULL, NULL, NULL, DEFAULT, NULL),
	(2, 1, 1, 8, 1, 2, 0, 0, 0, '2026-11-24 08:00:49.9472+00', '2026-11-24 08:00:49.950266+00', 0, '00:00:30', NULL, NULL, 6, 'tr_a3', NULL, NULL, NULL, DEFAULT, NULL),
	(3, 2, 1, 12, 1, 1, 0, 0, 0, '2026-11-24 08:00:50.319083+00', '2026-11-24 08:00:50.321874+00', 0, '00:01:00', NULL, NULL, 4, 'step', NULL, NULL, NULL, DEFAULT, NULL),
	(1, 1, 4, 4, 1, 1, 0, 0, 2, '2026-11-24 08:01:05.48276+00', '2026-11-24 08:00:49.529416+00', 0, '00:00:10', 1, NULL, 4, 'tr_a3', 'a lock on the table of its flow', NULL, NULL, DEFAULT, NULL),
	(1, 1, 3, 4, 1, 1, 0, 0, 2, 'infinity', '2026-11-24 08:00:49.496925+00', 0, '00:00:10', 1, NULL, 4, 'tr_a3', 'the pending transitions of its instance', NULL, NULL, DEFAULT, NULL),
	(2, 1, 3, 8, 1, 1, 0, 0, 1, 'infinity', '2026-11-24 08:00:49.950266+00', 0, '00:00:30', NULL, NULL, 6, 'tr_a3', 'the pending transitions of its instance', NULL, NULL, DEFAULT, NULL);

INSERT INTO wed.quota VALUES
	(1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2, 200, 100000, 500000, 500, 100, NULL, NULL, 10737418240, 10737418240, 20);

INSERT INTO wed.retention VALUES
	(true, NULL);

INSERT INTO wed.tenant OVERRIDING SYSTEM VALUE VALUES
	(1, 'default', '2026-11-24 08:00:22.866356+00', NULL, '', 366),
	(2, 'acme', '2026-11-24 08:00:50.016656+00', '2026-11-24 08:00:50.406153+00', '', 366);

INSERT INTO wed.trace_20261124 VALUES
	(1, 1, 1, 'R', NULL, '{tr_a1,tr_a2,tr_a3}', '{"a1" : "0", "a2" : "0", "a3" : "0"}', '2026-11-24 08:00:24.350489+00', NULL, 1, NULL, NULL, NULL, NULL, NULL, '45770', 'wf_cb605d367e08421f', NULL),
	(1, 2, 1, 'R', NULL, '{tr_a1,tr_a2,tr_a3}', '{"a1" : "0", "a2" : "0", "a3" : "0"}', '2026-11-24 08:00:24.371137+00', NULL, 1, NULL, NULL, NULL, NULL, NULL, '45772', 'wf_cb605d367e08421f', NULL),
	(1, 1, 2, 'R', 'tr_a1', '{tr_a1}', '{"a1" : "1", "a2" : "0", "a3" : "0"}', '2026-11-24 08:00:24.524465+00', 2, 1, 1033, 77, 196608, 1, 1, '45781', 'host:1', NULL),
	(1, 2, 2, 'R', 'tr_a1', '{tr_a1}', '{"a1" : "1", "a2" : "0", "a3" : "0"}', '2026-11-24 08:00:24.556396+00', 2, 1, 1033, 41, 196608, 1, 1, '45782', 'host:1', NULL),
	(1, 1, 3, 'R', 'tr_a2', '{tr_a2}', '{"a1" : "1", "a2" : "1", "a3" : "0"}', '2026-11-24 08:00:24.571712+00', 3, 1, 1043, 61, 196608, 1, 1, '45783', 'host:1', NULL),
	(1, 1, 4, 'R', 'tr_a3', '{tr_a3}', '{"a1" : "1", "a2" : "1", "a3" : "1"}', '2026-11-24 08:00:24.573122+00', 4, 1, 1056, 36, 196608, 1, 1, '45784', 'host:1', NULL),
	(1, 1, 5, 'R', 'tr_a1', '{tr_a1}', '{"a1" : "2", "a2" : "1", "a3" : "1"}', '2026-11-24 08:00:24.575271+00', 2, 1, 1033, 95, 196608, 1, 2, '45785', 'host:1', NULL),
	(1, 1, 6, 'R', 'tr_a2', '{tr_a2}', '{"a1" : "2", "a2" : "2", "a3" : "1"}', '2026-11-24 08:00:24.577955+00', 3, 1, 1043, 98, 196608, 1, 3, '45786', 'host:1', NULL),
	(1, 2, 3, 'R', 'tr_a2', '{tr_a2}', '{"a1" : "1", "a2" : "1", "a3" : "0"}', '2026-11-24 08:00:24.586175+00', 3, 1, 1043, 58, 196608, 1, 1, '45787', 'host:1', NULL),
	(1, 1, 7, 'R', 'tr_a3', '{tr_a3}', '{"a1" : "2", "a2" : "2", "a3" : "2"}', '2026-11-24 08:00:24.586175+00', 4, 1, 1056, 62, 196608, 1, 4, '45787', 'host:1', NULL),
	(1, 2, 4, 'R', 'tr_a3', '{tr_a3}', '{"a1" : "1", "a2" : "1", "a3" : "1"}', '2026-11-24 08:00:24.593356+00', 4, 1, 1056, 32, 196608, 1, 1, '45788', 'host:1', NULL),
	(1, 1, 8, 'R', 'tr_a1', '{}', '{"a1" : "3", "a2" : "2", "a3" : "2"}', '2026-11-24 08:00:24.593356+00', 2, 1, 1033, 70, 196608, 1, 5, '45788', 'host:1', NULL),
	(1, 2, 5, 'R', 'tr_a1', '{tr_a1}', '{"a1" : "2", "a2" : "1", "a3" : "1"}', '2026-11-24 08:00:24.59668+00', 2, 1, 1033, 40, 196608, 1, 2, '45789', 'host:1', NULL),
	(1, 1, 9, 'R', 'tr_a2', '{tr_a2}', '{"a1" : "3", "a2" : "3", "a3" : "2"}', '2026-11-24 08:00:24.59668+00', 3, 1, 1043, 60, 196608, 1, 6, '45789', 'host:1', NULL),
	(1, 2, 6, 'R', 'tr_a2', '{tr_a2}', '{"a1" : "2", "a2" : "2", "a3" : "1"}', '2026-11-24 08:00:24.602246+00', 3, 1, 1043, 88, 196608, 1, 3, '45790', 'host:1', NULL),
	(1, 1, 10, 'R', 'tr_a3', '{tr_a3}', '{"a1" : "3", "a2" : "3", "a3" : "3"}', '2026-11-24 08:00:24.602246+00', 4, 1, 1056, 10, 196608, 1, 7, '45790', 'host:1', NULL),
	(1, 2, 7, 'R', 'tr_a3', '{tr_a3}', '{"a1" : "2", "a2" : "2", "a3" : "2"}', '2026-11-24 08:00:24.615346+00', 4, 1, 1056, 67, 196608, 1, 4, '45791', 'host:1', NULL),
	(1, 1, 11, 'R', 'tr_a2', '{}', '{"a1" : "3", "a2" : "4", "a3" : "3"}', '2026-11-24 08:00:24.615346+00', 3, 1, 1043, 9, 196608, 1, 9, '45791', 'host:1', NULL),
	(1, 2, 8, 'R', 'tr_a1', '{}', '{"a1" : "3", "a2" : "2", "a3" : "2"}', '2026-11-24 08:00:24.670879+00', 2, 1, 1033, 67, 196608, 1, 5, '45792', 'host:1', NULL),
	(1, 1, 12, 'R', 'tr_a3', '{tr_a3}', '{"a1" : "3", "a2" : "4", "a3" : "4"}', '2026-11-24 08:00:24.670879+00', 4, 1, 1056, 17, 196608, 1, 10, '45792', 'host:1', NULL),
	(1, 2, 9, 'R', 'tr_a2', '{tr_a2}', '{"a1" : "3", "a2" : "3", "a3" : "2"}', '2026-11-24 08:00:24.672711+00', 3, 1, 1043, 85, 196608, 1, 6, '45793', 'host:1', NULL),
	(1, 1, 13, 'F', 'tr_a3', '{}', '{"a1" : "3", "a2" : "4", "a3" : "5"}', '2026-11-24 08:00:24.674173+00', 4, 1, 1056, 100, 196608, 1, 12, '45794', 'host:1', NULL),
	(1, 2, 10, 'R', 'tr_a3', '{tr_a3}', '{"a1" : "3", "a2" : "3", "a3" : "3"}', '2026-11-24 08:00:24.674173+00', 4, 1, 1056, 59, 196608, 1, 7, '45794', 'host:1', NULL),
	(1, 2, 11, 'R', 'tr_a2', '{}', '{"a1" : "3", "a2" : "4", "a3" : "3"}', '2026-11-24 08:00:24.679352+00', 3, 1, 1043, 79, 196608, 1, 9, '45795', 'host:1', NULL),
	(1, 2, 12, 'R', 'tr_a3', '{tr_a3}', '{"a1" : "3", "a2" : "4", "a3" : "4"}', '2026-11-24 08:00:24.68368+00', 4, 1, 1056, 49, 196608, 1, 10, '45796', 'host:1', NULL),
	(1, 2, 13, 'F', 'tr_a3', '{}', '{"a1" : "3", "a2" : "4", "a3" : "5"}', '2026-11-24 08:00:24.686085+00', 4, 1, 1056, 77, 196608, 1, 12, '45797', 'host:1', NULL),
	(1, 3, 1, 'R', NULL, '{tr_a1,tr_a2,tr_a3}', '{"a1" : "0", "a2" : "0", "a3" : "0"}', '2026-11-24 08:00:49.496925+00', NULL, 1, NULL, NULL, NULL, NULL, NULL, '45840', 'wf_cb605d367e08421f', NULL),
	(1, 4, 1, 'R', NULL, '{tr_a1,tr_a2,tr_a3}', '{"a1" : "0", "a2" : "0", "a3" : "0"}', '2026-11-24 08:00:49.529416+00', NULL, 1, NULL, NULL, NULL, NULL, NULL, '45842', 'wf_cb605d367e08421f', NULL),
	(2, 1, 1, 'R', NULL, '{tr_a2,tr_a3}', '{"a1" : "ready", "a2" : null, "a3" : null}', '2026-11-24 08:00:49.950266+00', NULL, 1, NULL, NULL, NULL, NULL, NULL, '45850', 'wf_98db33d0ca6b4094', NULL),
	(2, 2, 1, 'R', NULL, '{tr_a2,tr_a3}', '{"a1" : "ready", "a2" : null, "a3" : null}', '2026-11-24 08:00:49.950266+00', NULL, 1, NULL, NULL, NULL, NULL, NULL, '45850', 'wf_98db33d0ca6b4094', NULL),
	(2, 3, 1, 'R', NULL, '{tr_a2,tr_a3}', '{"a1" : "ready", "a2" : null, "a3" : null}', '2026-11-24 08:00:49.950266+00', NULL, 1, NULL, NULL, NULL, NULL, NULL, '45850', 'wf_98db33d0ca6b4094', NULL),
	(2, 1, 2, 'R', 'tr_a2', '{}', '{"a1" : "ready", "a2" : "done", "a3" : null}', '2026-11-24 08:00:49.9728+00', 7, 1, NULL, NULL, NULL, NULL, 1, '45852', 'wf_98db33d0ca6b4094', NULL),
	(3, 1, 1, 'R', NULL, '{step}', '{"n":0}', '2026-11-24 08:00:50.321874+00', NULL, 1, NULL, NULL, NULL, NULL, NULL, '45859', 'wf_4c263c6b57c24d6e', NULL);

INSERT INTO wed.trigger VALUES
	(1, 1, 1, '_EXCPT', '_EXCPT', false, true, NULL, '{}', false, 0, '1 day', DEFAULT, 3, '00:01:00', '00:00:00', 0, false, NULL, NULL, 0, false),
	(5, 1, 1, NULL, NULL, true, true, '((a1 = ''3''::text) AND (a2 = ''4''::text) AND (a3 = ''5''::text))', '{a1,a2,a3}', false, 0, '00:01:00', DEFAULT, 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, 0, false),
	(2, 1, 1, 't1', 'tr_a1', false, true, '((a1)::integer < 3)', '{a1}', true, 0, '00:00:10', DEFAULT, 3, '00:00:01', '00:00:00', 0, true, NULL, 1, 0, false),
	(3, 1, 1, 't2', 'tr_a2', false, true, '((a2)::integer < 4)', '{a2}', true, 0, '00:00:10', DEFAULT, 3, '00:00:01', '00:00:00', 0, true, NULL, 1, 0, false),
	(4, 1, 1, 't3', 'tr_a3', false, true, '((a3)::integer < 5)', '{a3}', true, 0, '00:00:10', DEFAULT, 3, '00:00:01', '00:00:00', 0, true, NULL, 1, 0, false),
	(6, 2, 1, '_EXCPT', '_EXCPT', false, true, NULL, '{}', false, 0, '1 day', DEFAULT, 3, '00:01:00', '00:00:00', 0, false, NULL, NULL, 0, false),
	(7, 2, 1, 't1', 'tr_a2', false, true, '((a1 = ''ready''::text) AND (a2 IS NULL))', '{a1,a2}', false, 0, '3 days 18:00:00', DEFAULT, 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, 0, false),
	(8, 2, 1, 't2', 'tr_a3', false, true, '((a1 = ''ready''::text) AND (a3 IS NULL))', '{a1,a3}', false, 0, '00:00:30', DEFAULT, 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, 0, false),
	(9, 2, 1, 'tf', 'tr_final', false, true, '((a1 = ''ready''::text) AND (a2 IS NOT NULL) AND (a3 IS NOT NULL))', '{a1,a2,a3}', false, 0, '00:00:10', DEFAULT, 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, 0, false),
	(10, 2, 1, NULL, NULL, true, true, '(a1 <> ''ready''::text)', '{a1}', false, 0, '00:01:00', DEFAULT, 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, 0, false),
	(11, 3, 2, '_EXCPT', '_EXCPT', false, true, NULL, '{}', false, 0, '1 day', DEFAULT, 3, '00:01:00', '00:00:00', 0, false, NULL, NULL, 0, false),
	(12, 3, 2, 't', 'step', false, true, '(n < 3)', '{n}', false, 0, '00:01:00', DEFAULT, 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, 0, false);

INSERT INTO wed.usage VALUES
	(1, 0, 0, 0, '-infinity', '2026-11-24 08:00:00+00', 25102, 0, false, 32768, 32768, '2026-11-24 08:00:26.469173+00'),
	(2, 0, 0, 0, '-infinity', '-infinity', 0, 0, false, 0, 0, '-infinity');

INSERT INTO wed.weighing VALUES
	(true, '2026-11-24 08:00:26.456983+00');

INSERT INTO wf_4c263c6b57c24d6e.wed_attr VALUES
	('n', '0', 'integer', false);

INSERT INTO wf_4c263c6b57c24d6e.wed_flow VALUES
	(1, 0);

INSERT INTO wf_4c263c6b57c24d6e.wed_trig VALUES
	(12, 't', true, 'step', NULL, 'n < 3', false, '00:01:00', 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, NULL, NULL, NULL, false, NULL);

INSERT INTO wf_98db33d0ca6b4094.wed_attr VALUES
	('a1', 'ready', 'text', false),
	('a2', NULL, 'text', false),
	('a3', NULL, 'text', false);

INSERT INTO wf_98db33d0ca6b4094.wed_flow VALUES
	(2, 'ready', NULL, NULL),
	(3, 'ready', NULL, NULL),
	(1, 'ready', 'done', NULL);

INSERT INTO wf_98db33d0ca6b4094.wed_trig VALUES
	(7, 't1', true, 'tr_a2', 'c1', 'a1 = ''ready'' and (a2 is null)', false, '3 days 18:00:00', 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, NULL, NULL, NULL, false, NULL),
	(8, 't2', true, 'tr_a3', 'c2', 'a1 = ''ready'' and (a3 is null)', false, '00:00:30', 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, NULL, NULL, NULL, false, NULL),
	(9, 'tf', true, 'tr_final', 'cf', 'a1 = ''ready'' and (a2 is not null) and (a3 is not null)', false, '00:00:10', 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, NULL, NULL, NULL, false, NULL),
	(10, NULL, true, NULL, NULL, 'a1 <> ''ready''', true, '00:01:00', 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, NULL, NULL, NULL, false, NULL);

INSERT INTO wf_cb605d367e08421f.wed_attr VALUES
	('a1', '0', 'text', false),
	('a2', '0', 'text', false),
	('a3', '0', 'text', false);

INSERT INTO wf_cb605d367e08421f.wed_flow VALUES
	(1, '3', '4', '5'),
	(2, '3', '4', '5'),
	(3, '0', '0', '0'),
	(4, '0', '0', '0');

INSERT INTO wf_cb605d367e08421f.wed_trig VALUES
	(2, 't1', true, 'tr_a1', NULL, 'a1::integer < 3', false, '00:00:10', 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, NULL, NULL, NULL, false, NULL),
	(3, 't2', true, 'tr_a2', NULL, 'a2::integer < 4', false, '00:00:10', 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, NULL, NULL, NULL, false, NULL),
	(4, 't3', true, 'tr_a3', NULL, 'a3::integer < 5', false, '00:00:10', 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, NULL, NULL, NULL, false, NULL),
	(5, NULL, true, NULL, NULL, 'a1 = ''3'' and a2 = ''4'' and a3 = ''5''', true, '00:01:00', 3, '00:00:01', '00:00:00', 0, true, NULL, NULL, NULL, NULL, NULL, false, NULL);

SELECT pg_catalog.setval('wed.attempt_attempt_id_seq', 1, false);

SELECT pg_catalog.setval('wed.audit_audit_id_seq', 6, true);

SELECT pg_catalog.setval('wed.component_component_id_seq', 1, true);

SELECT pg_catalog.setval('wed.fence', 300, true);

SELECT pg_catalog.setval('wed.flow_flow_id_seq', 3, true);

SELECT pg_catalog.setval('wed.host_host_id_seq', 1, true);

SELECT pg_catalog.setval('wed.log_log_id_seq', 1, false);

SELECT pg_catalog.setval('wed.pause_pause_id_seq', 1, false);

SELECT pg_catalog.setval('wed.person_person_id_seq', 1, false);

SELECT pg_catalog.setval('wed.precedence_precedence_id_seq', 1, false);

SELECT pg_catalog.setval('wed.request_request_id_seq', 1, false);

SELECT pg_catalog.setval('wed.role_of_people_role_id_seq', 1, false);

SELECT pg_catalog.setval('wed.schedule_schedule_id_seq', 1, false);

SELECT pg_catalog.setval('wed.started_1', 1, false);

SELECT pg_catalog.setval('wed.started_2', 1, true);

SELECT pg_catalog.setval('wed.tenant_tenant_id_seq', 2, true);

SELECT pg_catalog.setval('wed.tgid_seq', 12, true);

SELECT pg_catalog.setval('wed.token_token_id_seq', 1, false);

SELECT pg_catalog.setval('wed.user_user_id_seq', 1, false);

SELECT pg_catalog.setval('wed.work_calendar_calendar_id_seq', 1, false);

SELECT pg_catalog.setval('wed.work_event_event_id_seq', 1, false);

SELECT pg_catalog.setval('wed.work_item_item_id_seq', 1, false);

SELECT pg_catalog.setval('wed.work_message_message_id_seq', 1, false);

SELECT pg_catalog.setval('wed.work_note_note_id_seq', 1, false);

SELECT pg_catalog.setval('wf_4c263c6b57c24d6e.wed_flow_wid_seq', 1, true);

SELECT pg_catalog.setval('wf_98db33d0ca6b4094.wed_flow_wid_seq', 3, true);

SELECT pg_catalog.setval('wf_cb605d367e08421f.wed_flow_wid_seq', 4, true);

ALTER TABLE ONLY public._sqlx_migrations
    ADD CONSTRAINT _sqlx_migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY wed.allowed_function
    ADD CONSTRAINT allowed_function_pkey PRIMARY KEY (name);

ALTER TABLE ONLY wed.allowed_type
    ADD CONSTRAINT allowed_type_pkey PRIMARY KEY (name);

ALTER TABLE ONLY wed.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (attempt_id);

ALTER TABLE ONLY wed.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (audit_id);

ALTER TABLE ONLY wed.binding
    ADD CONSTRAINT binding_pkey PRIMARY KEY (flow_id, trname);

ALTER TABLE ONLY wed.component
    ADD CONSTRAINT component_pkey PRIMARY KEY (component_id);

ALTER TABLE ONLY wed.component
    ADD CONSTRAINT component_tenant_id_name_version_key UNIQUE (tenant_id, name, version);

ALTER TABLE ONLY wed.flow
    ADD CONSTRAINT flow_pkey PRIMARY KEY (flow_id);

ALTER TABLE ONLY wed.flow
    ADD CONSTRAINT flow_role_name_key UNIQUE (role_name);

ALTER TABLE ONLY wed.flow
    ADD CONSTRAINT flow_schema_name_key UNIQUE (schema_name);

ALTER TABLE ONLY wed.flow
    ADD CONSTRAINT flow_shape_schema_key UNIQUE (shape_schema);

ALTER TABLE ONLY wed.flow
    ADD CONSTRAINT flow_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY wed.flow_version
    ADD CONSTRAINT flow_version_pkey PRIMARY KEY (flow_id, version);

ALTER TABLE ONLY wed.free_number
    ADD CONSTRAINT free_number_pkey PRIMARY KEY (flow_id, attribute, number);

ALTER TABLE ONLY wed.function_source
    ADD CONSTRAINT function_source_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY wed.going_back
    ADD CONSTRAINT going_back_pkey PRIMARY KEY (flow_id, wid);

ALTER TABLE ONLY wed."grant"
    ADD CONSTRAINT grant_pkey PRIMARY KEY (flow_id, trname);

ALTER TABLE ONLY wed.host
    ADD CONSTRAINT host_pkey PRIMARY KEY (host_id);

ALTER TABLE ONLY wed.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (tenant_id, user_name, key);

ALTER TABLE ONLY wed.instance_name
    ADD CONSTRAINT instance_name_pkey PRIMARY KEY (flow_id, wid);

ALTER TABLE ONLY wed.instance
    ADD CONSTRAINT instance_pkey PRIMARY KEY (flow_id, wid);

ALTER TABLE ONLY wed.log
    ADD CONSTRAINT log_pkey PRIMARY KEY (log_id);

ALTER TABLE ONLY wed.membership
    ADD CONSTRAINT membership_pkey PRIMARY KEY (person_id, role_id);

ALTER TABLE ONLY wed.numbering
    ADD CONSTRAINT numbering_pkey PRIMARY KEY (flow_id, attribute);

ALTER TABLE ONLY wed.pause
    ADD CONSTRAINT pause_pkey PRIMARY KEY (pause_id);

ALTER TABLE ONLY wed.pause
    ADD CONSTRAINT pause_tenant_id_flow_id_tgid_wid_key UNIQUE NULLS NOT DISTINCT (tenant_id, flow_id, tgid, wid);

ALTER TABLE ONLY wed.person
    ADD CONSTRAINT person_pkey PRIMARY KEY (person_id);

ALTER TABLE ONLY wed.person
    ADD CONSTRAINT person_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY wed.precedence
    ADD CONSTRAINT precedence_pkey PRIMARY KEY (precedence_id);

ALTER TABLE ONLY wed.quota
    ADD CONSTRAINT quota_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY wed.recording
    ADD CONSTRAINT recording_pkey PRIMARY KEY (flow_id, wid, xid);

ALTER TABLE ONLY wed.request
    ADD CONSTRAINT request_pkey PRIMARY KEY (request_id);

ALTER TABLE ONLY wed.reservation
    ADD CONSTRAINT reservation_pkey PRIMARY KEY (request_id, key);

ALTER TABLE ONLY wed.residue
    ADD CONSTRAINT residue_pkey PRIMARY KEY (flow_id);

ALTER TABLE ONLY wed.resource_lock
    ADD CONSTRAINT resource_lock_pkey PRIMARY KEY (tenant_id, resource, key);

ALTER TABLE ONLY wed.resource
    ADD CONSTRAINT resource_pkey PRIMARY KEY (tenant_id, resource, key);

ALTER TABLE ONLY wed.retention
    ADD CONSTRAINT retention_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY wed.role_of_people
    ADD CONSTRAINT role_of_people_pkey PRIMARY KEY (role_id);

ALTER TABLE ONLY wed.schedule
    ADD CONSTRAINT schedule_flow_id_name_key UNIQUE (flow_id, name);

ALTER TABLE ONLY wed.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (schedule_id);

ALTER TABLE ONLY wed.secret
    ADD CONSTRAINT secret_pkey PRIMARY KEY (flow_id, name);

ALTER TABLE ONLY wed.setting
    ADD CONSTRAINT setting_pkey PRIMARY KEY (flow_id, key);

ALTER TABLE ONLY wed.task_done
    ADD CONSTRAINT task_done_pkey PRIMARY KEY (flow_id, wid, tgid);

ALTER TABLE ONLY wed.tenant
    ADD CONSTRAINT tenant_name_key UNIQUE (name);

ALTER TABLE ONLY wed.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY wed.token
    ADD CONSTRAINT token_hash_key UNIQUE (hash);

ALTER TABLE ONLY wed.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (token_id);

ALTER TABLE ONLY wed.token
    ADD CONSTRAINT token_tenant_id_prefix_key UNIQUE (tenant_id, prefix);

ALTER TABLE ONLY wed.trigger_constraint
    ADD CONSTRAINT trigger_constraint_pkey PRIMARY KEY (tgid);

ALTER TABLE ONLY wed.trigger
    ADD CONSTRAINT trigger_pkey PRIMARY KEY (tgid);

ALTER TABLE ONLY wed.trigger_policy
    ADD CONSTRAINT trigger_policy_pkey PRIMARY KEY (tgid);

ALTER TABLE ONLY wed.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY wed."user"
    ADD CONSTRAINT user_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY wed."user"
    ADD CONSTRAINT user_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY wed.weighing
    ADD CONSTRAINT weighing_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY wed.work_calendar
    ADD CONSTRAINT work_calendar_pkey PRIMARY KEY (calendar_id);

ALTER TABLE ONLY wed.work_calendar
    ADD CONSTRAINT work_calendar_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY wed.work_event
    ADD CONSTRAINT work_event_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY wed.work_instance
    ADD CONSTRAINT work_instance_pkey PRIMARY KEY (flow_id, wid);

ALTER TABLE ONLY wed.work_item
    ADD CONSTRAINT work_item_pkey PRIMARY KEY (item_id);

ALTER TABLE ONLY wed.work_message
    ADD CONSTRAINT work_message_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY wed.work_note
    ADD CONSTRAINT work_note_pkey PRIMARY KEY (note_id);

ALTER TABLE ONLY wed.work_offer
    ADD CONSTRAINT work_offer_pkey PRIMARY KEY (person_id, item_id);

ALTER TABLE ONLY wed.work_plan
    ADD CONSTRAINT work_plan_pkey PRIMARY KEY (flow_id);

ALTER TABLE ONLY wed.work_position
    ADD CONSTRAINT work_position_pkey PRIMARY KEY (person_id, item_id);

ALTER TABLE ONLY wed.work_report
    ADD CONSTRAINT work_report_pkey PRIMARY KEY (person_id, key);

ALTER TABLE ONLY wed.work_reservation
    ADD CONSTRAINT work_reservation_pkey PRIMARY KEY (flow_id, wid, tgid);

ALTER TABLE ONLY wed.work_task
    ADD CONSTRAINT work_task_pkey PRIMARY KEY (tgid);

ALTER TABLE ONLY wf_4c263c6b57c24d6e.wed_attr
    ADD CONSTRAINT wed_attr_pkey PRIMARY KEY (aname);

ALTER TABLE ONLY wf_4c263c6b57c24d6e.wed_flow
    ADD CONSTRAINT wed_flow_pkey PRIMARY KEY (wid);

ALTER TABLE ONLY wf_4c263c6b57c24d6e.wed_trig
    ADD CONSTRAINT wed_trig_pkey PRIMARY KEY (tgid);

ALTER TABLE ONLY wf_98db33d0ca6b4094.wed_attr
    ADD CONSTRAINT wed_attr_pkey PRIMARY KEY (aname);

ALTER TABLE ONLY wf_98db33d0ca6b4094.wed_flow
    ADD CONSTRAINT wed_flow_pkey PRIMARY KEY (wid);

ALTER TABLE ONLY wf_98db33d0ca6b4094.wed_trig
    ADD CONSTRAINT wed_trig_pkey PRIMARY KEY (tgid);

ALTER TABLE ONLY wf_cb605d367e08421f.wed_attr
    ADD CONSTRAINT wed_attr_pkey PRIMARY KEY (aname);

ALTER TABLE ONLY wf_cb605d367e08421f.wed_flow
    ADD CONSTRAINT wed_flow_pkey PRIMARY KEY (wid);

ALTER TABLE ONLY wf_cb605d367e08421f.wed_trig
    ADD CONSTRAINT wed_trig_pkey PRIMARY KEY (tgid);

CREATE INDEX attempt_instance ON wed.attempt USING btree (flow_id, wid);

CREATE INDEX audit_tenant ON wed.audit USING btree (tenant_id, audit_id);

CREATE INDEX flow_constrained ON wed.flow USING btree (flow_id) WHERE constrained;

CREATE INDEX idempotency_age ON wed.idempotency USING btree (created_at);

CREATE UNIQUE INDEX instance_name_number ON wed.instance_name USING btree (flow_id, number) WHERE (NOT released);

CREATE INDEX instance_unannounced ON wed.instance USING btree (flow_id, wid) WHERE ((status = 'E'::"char") AND ((announced_at IS NULL) OR (announced_at < changed)));

CREATE INDEX job_blocked ON wed.job USING btree (flow_id, wid) WHERE (blocked IS NOT NULL);

CREATE INDEX job_due ON wed.job USING btree (due) WHERE ((host_id IS NULL) AND (component_id IS NOT NULL) AND delayed);

CREATE INDEX job_host ON wed.job USING btree (host_id) WHERE (host_id IS NOT NULL);

CREATE INDEX job_immediate ON wed.job USING btree (tenant_id) WHERE ((host_id IS NULL) AND (component_id IS NOT NULL) AND (NOT delayed));

CREATE INDEX job_instance ON wed.job USING btree (flow_id, wid);

CREATE INDEX job_ready ON wed.job USING btree (tenant_id, priority DESC, due, flow_id) WHERE ((host_id IS NULL) AND (component_id IS NOT NULL));

CREATE INDEX log_instance ON wed.log USING btree (flow_id, wid);

CREATE INDEX log_time ON wed.log USING brin (tstmp);

CREATE INDEX membership_role ON wed.membership USING btree (role_id);

CREATE INDEX pause_flow ON wed.pause USING btree (flow_id) WHERE (flow_id IS NOT NULL);

CREATE INDEX person_contact ON wed.person USING btree (contact_at) WHERE active;

CREATE UNIQUE INDEX precedence_once ON wed.precedence USING btree (flow_id, COALESCE(wid, 0), tgid, after);

CREATE INDEX recording_time ON wed.recording USING brin (tstmp);

CREATE INDEX request_instance ON wed.request USING btree (flow_id, wid);

CREATE INDEX request_later ON wed.request USING btree (ready_at) WHERE (state = 'd'::"char");

CREATE INDEX request_open ON wed.request USING btree (xid) WHERE (state = ANY (ARRAY['n'::"char", 'f'::"char", 'c'::"char"]));

CREATE INDEX reservation_held ON wed.reservation USING btree (tenant_id, resource, key) WHERE held;

CREATE UNIQUE INDEX reservation_holder ON wed.reservation USING btree (tenant_id, resource, key) WHERE (held AND (amount IS NULL) AND (NOT beside));

CREATE INDEX reservation_queue ON wed.reservation USING btree (tenant_id, resource, key, priority DESC, request_id) WHERE (NOT held);

CREATE UNIQUE INDEX role_of_people_name ON wed.role_of_people USING btree (tenant_id, replace(name, '-'::text, '_'::text));

CREATE INDEX schedule_next ON wed.schedule USING btree (next_at) WHERE ((NOT paused) AND (next_at IS NOT NULL));

CREATE INDEX tenant_suspended ON wed.tenant USING btree (tenant_id) WHERE (suspended_at IS NOT NULL);

CREATE INDEX token_user ON wed.token USING btree (user_id, name);

CREATE INDEX trace_instance ON ONLY wed.trace USING btree (flow_id, wid, seq);

CREATE INDEX trace_20261124_flow_id_wid_seq_idx ON wed.trace_20261124 USING btree (flow_id, wid, seq);

CREATE INDEX trace_20261125_flow_id_wid_seq_idx ON wed.trace_20261125 USING btree (flow_id, wid, seq);

CREATE INDEX trace_20261126_flow_id_wid_seq_idx ON wed.trace_20261126 USING btree (flow_id, wid, seq);

CREATE INDEX trace_else_flow_id_wid_seq_idx ON wed.trace_else USING btree (flow_id, wid, seq);

CREATE INDEX trigger_constraint_flow ON wed.trigger_constraint USING btree (flow_id);

CREATE INDEX trigger_flow ON wed.trigger USING btree (flow_id);

CREATE INDEX trigger_policy_deadline ON wed.trigger_policy USING btree (flow_id) WHERE (deadline IS NOT NULL);

CREATE INDEX usage_resting ON wed.usage USING btree (tenant_id) WHERE resting;

CREATE INDEX work_event_instance ON wed.work_event USING btree (flow_id, wid);

CREATE INDEX work_event_item ON wed.work_event USING btree (item_id, event_id);

CREATE INDEX work_item_alarm ON wed.work_item USING btree (alarm_at) WHERE ((ended_at IS NULL) AND (alarm_at IS NOT NULL));

CREATE INDEX work_item_arrival ON wed.work_item USING btree (role_id, item_id) WHERE ((state = 'READY'::text) AND (policy = 1));

CREATE INDEX work_item_holder ON wed.work_item USING btree (holder) WHERE ((holder IS NOT NULL) AND (ended_at IS NULL));

CREATE INDEX work_item_instance ON wed.work_item USING btree (flow_id, wid);

CREATE INDEX work_item_offer ON wed.work_item USING btree (offered_at) WHERE ((state = 'READY'::text) AND ((policy <> 1) OR candidates));

CREATE UNIQUE INDEX work_item_open ON wed.work_item USING btree (flow_id, wid, tgid) WHERE (ended_at IS NULL);

CREATE INDEX work_item_role ON wed.work_item USING btree (role_id, priority DESC, item_id) WHERE ((state = 'READY'::text) AND (policy = 1));

CREATE INDEX work_message_person ON wed.work_message USING btree (person_id, message_id);

CREATE INDEX work_note_instance ON wed.work_note USING btree (flow_id, wid, note_id);

CREATE INDEX work_offer_item ON wed.work_offer USING btree (item_id);

CREATE INDEX work_position_item ON wed.work_position USING btree (item_id);

CREATE INDEX work_report_instance ON wed.work_report USING btree (flow_id, wid);

CREATE INDEX work_report_item ON wed.work_report USING btree (item_id);

CREATE INDEX work_task_flow ON wed.work_task USING btree (flow_id);

ALTER INDEX wed.trace_instance ATTACH PARTITION wed.trace_20261124_flow_id_wid_seq_idx;

ALTER INDEX wed.trace_instance ATTACH PARTITION wed.trace_20261125_flow_id_wid_seq_idx;

ALTER INDEX wed.trace_instance ATTACH PARTITION wed.trace_20261126_flow_id_wid_seq_idx;

ALTER INDEX wed.trace_instance ATTACH PARTITION wed.trace_else_flow_id_wid_seq_idx;

CREATE TRIGGER append_only AFTER DELETE OR UPDATE OR TRUNCATE ON wed.audit FOR EACH STATEMENT EXECUTE FUNCTION wed.keep_audit();

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE ON wed."grant" FOR EACH ROW EXECUTE FUNCTION wed.on_setting();

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE ON wed.secret FOR EACH ROW EXECUTE FUNCTION wed.on_setting();

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE ON wed.setting FOR EACH ROW EXECUTE FUNCTION wed.on_setting();

CREATE TRIGGER connections AFTER UPDATE ON wed.quota FOR EACH ROW WHEN ((old.connections IS DISTINCT FROM new.connections)) EXECUTE FUNCTION wed.on_connections();

CREATE CONSTRAINT TRIGGER hand_over AFTER INSERT OR UPDATE ON wed.request DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.leads AND (new.state = ANY (ARRAY['n'::"char", 'f'::"char", 'c'::"char"])))) EXECUTE FUNCTION wed.on_request();

CREATE TRIGGER people_blocked AFTER UPDATE OF blocked ON wed.job FOR EACH ROW WHEN (((new.component_id IS NULL) AND ((old.blocked IS NULL) <> (new.blocked IS NULL)))) EXECUTE FUNCTION wed.on_people_job();

CREATE TRIGGER people_delete AFTER DELETE ON wed.job FOR EACH ROW WHEN (((old.component_id IS NULL) AND (old.trname <> '_EXCPT'::text))) EXECUTE FUNCTION wed.on_people_job();

CREATE TRIGGER people_end AFTER UPDATE OF status ON wed.instance FOR EACH ROW WHEN ((new.people AND (new.status = 'F'::"char") AND (old.status <> 'F'::"char"))) EXECUTE FUNCTION wed.on_people_instance();

CREATE TRIGGER people_insert AFTER INSERT ON wed.job FOR EACH ROW WHEN (((new.component_id IS NULL) AND (new.blocked IS NULL))) EXECUTE FUNCTION wed.on_people_job();

CREATE TRIGGER quota BEFORE INSERT ON wed.component FOR EACH ROW EXECUTE FUNCTION wed.on_thing();

CREATE TRIGGER quota BEFORE INSERT ON wed.flow FOR EACH ROW EXECUTE FUNCTION wed.on_thing();

CREATE TRIGGER quota AFTER INSERT ON wed.instance REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION wed.on_start();

CREATE TRIGGER quota AFTER INSERT OR DELETE ON wed.tenant FOR EACH ROW EXECUTE FUNCTION wed.on_tenant();

CREATE TRIGGER attribute AFTER INSERT OR DELETE OR UPDATE ON wf_4c263c6b57c24d6e.wed_attr FOR EACH ROW EXECUTE FUNCTION wed.on_attribute('3');

CREATE TRIGGER before_trigger BEFORE INSERT OR UPDATE ON wf_4c263c6b57c24d6e.wed_trig FOR EACH ROW EXECUTE FUNCTION wed.before_trigger('3');

CREATE TRIGGER gate_delete BEFORE DELETE ON wf_4c263c6b57c24d6e.wed_flow FOR EACH ROW EXECUTE FUNCTION wed.refuse_delete();

CREATE TRIGGER gate_insert AFTER INSERT ON wf_4c263c6b57c24d6e.wed_flow REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION wf_4c263c6b57c24d6e_shape.gate_insert();

CREATE TRIGGER gate_truncate BEFORE TRUNCATE ON wf_4c263c6b57c24d6e.wed_flow FOR EACH STATEMENT EXECUTE FUNCTION wed.refuse_truncate();

CREATE TRIGGER gate_update AFTER UPDATE ON wf_4c263c6b57c24d6e.wed_flow REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (wed.is_by_hand()) EXECUTE FUNCTION wf_4c263c6b57c24d6e_shape.gate_update();

CREATE TRIGGER resource INSTEAD OF INSERT OR DELETE OR UPDATE ON wf_4c263c6b57c24d6e.wed_resource FOR EACH ROW EXECUTE FUNCTION wed.on_resource('3');

CREATE TRIGGER trigger AFTER INSERT OR DELETE OR UPDATE ON wf_4c263c6b57c24d6e.wed_trig FOR EACH ROW EXECUTE FUNCTION wed.on_trigger('3');

CREATE TRIGGER zz_compile AFTER INSERT OR DELETE OR UPDATE ON wf_4c263c6b57c24d6e.wed_attr FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition('3');

CREATE TRIGGER zz_compile AFTER INSERT OR DELETE OR UPDATE ON wf_4c263c6b57c24d6e.wed_trig FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition('3');

CREATE TRIGGER attribute AFTER INSERT OR DELETE OR UPDATE ON wf_98db33d0ca6b4094.wed_attr FOR EACH ROW EXECUTE FUNCTION wed.on_attribute('2');

CREATE TRIGGER before_trigger BEFORE INSERT OR UPDATE ON wf_98db33d0ca6b4094.wed_trig FOR EACH ROW EXECUTE FUNCTION wed.before_trigger('2');

CREATE TRIGGER gate_delete BEFORE DELETE ON wf_98db33d0ca6b4094.wed_flow FOR EACH ROW EXECUTE FUNCTION wed.refuse_delete();

CREATE TRIGGER gate_insert AFTER INSERT ON wf_98db33d0ca6b4094.wed_flow REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION wf_98db33d0ca6b4094_shape.gate_insert();

CREATE TRIGGER gate_truncate BEFORE TRUNCATE ON wf_98db33d0ca6b4094.wed_flow FOR EACH STATEMENT EXECUTE FUNCTION wed.refuse_truncate();

CREATE TRIGGER gate_update AFTER UPDATE ON wf_98db33d0ca6b4094.wed_flow REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (wed.is_by_hand()) EXECUTE FUNCTION wf_98db33d0ca6b4094_shape.gate_update();

CREATE TRIGGER resource INSTEAD OF INSERT OR DELETE OR UPDATE ON wf_98db33d0ca6b4094.wed_resource FOR EACH ROW EXECUTE FUNCTION wed.on_resource('2');

CREATE TRIGGER trigger AFTER INSERT OR DELETE OR UPDATE ON wf_98db33d0ca6b4094.wed_trig FOR EACH ROW EXECUTE FUNCTION wed.on_trigger('2');

CREATE TRIGGER zz_compile AFTER INSERT OR DELETE OR UPDATE ON wf_98db33d0ca6b4094.wed_attr FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition('2');

CREATE TRIGGER zz_compile AFTER INSERT OR DELETE OR UPDATE ON wf_98db33d0ca6b4094.wed_trig FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition('2');

CREATE TRIGGER attribute AFTER INSERT OR DELETE OR UPDATE ON wf_cb605d367e08421f.wed_attr FOR EACH ROW EXECUTE FUNCTION wed.on_attribute('1');

CREATE TRIGGER before_trigger BEFORE INSERT OR UPDATE ON wf_cb605d367e08421f.wed_trig FOR EACH ROW EXECUTE FUNCTION wed.before_trigger('1');

CREATE TRIGGER gate_delete BEFORE DELETE ON wf_cb605d367e08421f.wed_flow FOR EACH ROW EXECUTE FUNCTION wed.refuse_delete();

CREATE TRIGGER gate_insert AFTER INSERT ON wf_cb605d367e08421f.wed_flow REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION wf_cb605d367e08421f_shape.gate_insert();

CREATE TRIGGER gate_truncate BEFORE TRUNCATE ON wf_cb605d367e08421f.wed_flow FOR EACH STATEMENT EXECUTE FUNCTION wed.refuse_truncate();

CREATE TRIGGER gate_update AFTER UPDATE ON wf_cb605d367e08421f.wed_flow REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (wed.is_by_hand()) EXECUTE FUNCTION wf_cb605d367e08421f_shape.gate_update();

CREATE TRIGGER resource INSTEAD OF INSERT OR DELETE OR UPDATE ON wf_cb605d367e08421f.wed_resource FOR EACH ROW EXECUTE FUNCTION wed.on_resource('1');

CREATE TRIGGER trigger AFTER INSERT OR DELETE OR UPDATE ON wf_cb605d367e08421f.wed_trig FOR EACH ROW EXECUTE FUNCTION wed.on_trigger('1');

CREATE TRIGGER zz_compile AFTER INSERT OR DELETE OR UPDATE ON wf_cb605d367e08421f.wed_attr FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition('1');

CREATE TRIGGER zz_compile AFTER INSERT OR DELETE OR UPDATE ON wf_cb605d367e08421f.wed_trig FOR EACH STATEMENT EXECUTE FUNCTION wed.after_definition('1');

ALTER TABLE ONLY wed.binding
    ADD CONSTRAINT binding_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.component
    ADD CONSTRAINT component_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.flow
    ADD CONSTRAINT flow_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.flow_version
    ADD CONSTRAINT flow_version_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.free_number
    ADD CONSTRAINT free_number_flow_id_attribute_fkey FOREIGN KEY (flow_id, attribute) REFERENCES wed.numbering(flow_id, attribute) ON DELETE CASCADE;

ALTER TABLE ONLY wed."grant"
    ADD CONSTRAINT grant_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.idempotency
    ADD CONSTRAINT idempotency_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.membership
    ADD CONSTRAINT membership_person_id_fkey FOREIGN KEY (person_id) REFERENCES wed.person(person_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.membership
    ADD CONSTRAINT membership_role_id_fkey FOREIGN KEY (role_id) REFERENCES wed.role_of_people(role_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.numbering
    ADD CONSTRAINT numbering_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.pause
    ADD CONSTRAINT pause_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.pause
    ADD CONSTRAINT pause_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.pause
    ADD CONSTRAINT pause_tgid_fkey FOREIGN KEY (tgid) REFERENCES wed.trigger(tgid) ON DELETE CASCADE;

ALTER TABLE ONLY wed.person
    ADD CONSTRAINT person_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.precedence
    ADD CONSTRAINT precedence_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.precedence
    ADD CONSTRAINT precedence_tgid_fkey FOREIGN KEY (tgid) REFERENCES wed.trigger(tgid) ON DELETE CASCADE;

ALTER TABLE ONLY wed.quota
    ADD CONSTRAINT quota_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.request
    ADD CONSTRAINT request_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.reservation
    ADD CONSTRAINT reservation_request_id_fkey FOREIGN KEY (request_id) REFERENCES wed.request(request_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.resource
    ADD CONSTRAINT resource_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.role_of_people
    ADD CONSTRAINT role_of_people_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.schedule
    ADD CONSTRAINT schedule_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.secret
    ADD CONSTRAINT secret_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.setting
    ADD CONSTRAINT setting_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.token
    ADD CONSTRAINT token_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.token
    ADD CONSTRAINT token_user_id_fkey FOREIGN KEY (user_id) REFERENCES wed."user"(user_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.trigger
    ADD CONSTRAINT trigger_component_id_fkey FOREIGN KEY (component_id) REFERENCES wed.component(component_id);

ALTER TABLE ONLY wed.trigger_constraint
    ADD CONSTRAINT trigger_constraint_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.trigger_constraint
    ADD CONSTRAINT trigger_constraint_tgid_fkey FOREIGN KEY (tgid) REFERENCES wed.trigger(tgid) ON DELETE CASCADE;

ALTER TABLE ONLY wed.trigger
    ADD CONSTRAINT trigger_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.trigger_policy
    ADD CONSTRAINT trigger_policy_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.trigger_policy
    ADD CONSTRAINT trigger_policy_tgid_fkey FOREIGN KEY (tgid) REFERENCES wed.trigger(tgid) ON DELETE CASCADE;

ALTER TABLE ONLY wed.usage
    ADD CONSTRAINT usage_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed."user"
    ADD CONSTRAINT user_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_calendar
    ADD CONSTRAINT work_calendar_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES wed.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_instance
    ADD CONSTRAINT work_instance_in_charge_fkey FOREIGN KEY (in_charge) REFERENCES wed.person(person_id) ON DELETE SET NULL;

ALTER TABLE ONLY wed.work_message
    ADD CONSTRAINT work_message_person_id_fkey FOREIGN KEY (person_id) REFERENCES wed.person(person_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_offer
    ADD CONSTRAINT work_offer_item_id_fkey FOREIGN KEY (item_id) REFERENCES wed.work_item(item_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_offer
    ADD CONSTRAINT work_offer_person_id_fkey FOREIGN KEY (person_id) REFERENCES wed.person(person_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_plan
    ADD CONSTRAINT work_plan_creator_role_fkey FOREIGN KEY (creator_role) REFERENCES wed.role_of_people(role_id) ON DELETE SET NULL;

ALTER TABLE ONLY wed.work_plan
    ADD CONSTRAINT work_plan_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_position
    ADD CONSTRAINT work_position_item_id_fkey FOREIGN KEY (item_id) REFERENCES wed.work_item(item_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_position
    ADD CONSTRAINT work_position_person_id_fkey FOREIGN KEY (person_id) REFERENCES wed.person(person_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_report
    ADD CONSTRAINT work_report_person_id_fkey FOREIGN KEY (person_id) REFERENCES wed.person(person_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_reservation
    ADD CONSTRAINT work_reservation_person_id_fkey FOREIGN KEY (person_id) REFERENCES wed.person(person_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_reservation
    ADD CONSTRAINT work_reservation_tgid_fkey FOREIGN KEY (tgid) REFERENCES wed.trigger(tgid) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_task
    ADD CONSTRAINT work_task_calendar_id_fkey FOREIGN KEY (calendar_id) REFERENCES wed.work_calendar(calendar_id) ON DELETE SET NULL;

ALTER TABLE ONLY wed.work_task
    ADD CONSTRAINT work_task_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES wed.flow(flow_id) ON DELETE CASCADE;

ALTER TABLE ONLY wed.work_task
    ADD CONSTRAINT work_task_role_id_fkey FOREIGN KEY (role_id) REFERENCES wed.role_of_people(role_id) ON DELETE SET NULL;

ALTER TABLE ONLY wed.work_task
    ADD CONSTRAINT work_task_tgid_fkey FOREIGN KEY (tgid) REFERENCES wed.trigger(tgid) ON DELETE CASCADE;

REVOKE USAGE ON SCHEMA public FROM PUBLIC;

GRANT USAGE ON SCHEMA wed TO wed_predicate;

GRANT USAGE ON SCHEMA wed_bounded TO PUBLIC;

GRANT USAGE ON SCHEMA wf_4c263c6b57c24d6e TO wf_4c263c6b57c24d6e;

GRANT USAGE ON SCHEMA wf_4c263c6b57c24d6e_shape TO wed_predicate;

GRANT USAGE ON SCHEMA wf_98db33d0ca6b4094 TO wf_98db33d0ca6b4094;

GRANT USAGE ON SCHEMA wf_98db33d0ca6b4094_shape TO wed_predicate;

GRANT USAGE ON SCHEMA wf_cb605d367e08421f TO wf_cb605d367e08421f;

GRANT USAGE ON SCHEMA wf_cb605d367e08421f_shape TO wed_predicate;

REVOKE ALL ON FUNCTION wed.activate_component(_tenant_id integer, _name text, _version integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.add_order(_flow_id integer, _trigger text, _after text, _wid integer, _actor text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.add_work_note(_tenant text, _name text, _item_id bigint, _text text, _file text, _bytes bytea) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.add_working_time(_from timestamp with time zone, _span interval, _calendar_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.advance_back() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.after_definition() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.announce_exceptions(_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.answers_for(_person_id integer, _flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.apply_report(_item wed.work_item, _person wed.person, _success boolean, _values jsonb, _reason text, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.as_it_stands(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.ask(_flow wed.flow, _wids integer[], _ready timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.ask_again(_flow_id integer, _wids integer[], _tgids integer[], _ready timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.attempts_of(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.attribute_type(_atype text, OUT sql_type text, OUT labels text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.before_trigger() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.binding_faults(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.bound_attribute(_schema text, _name text, _sql_type text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.bound_component(_flow_id integer, _trname text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.bound_rows(_schema text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.break_circles() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.came_compressed(_schema text, _row text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.cancel_instance(_flow_id integer, _wid integer, _actor text, _reason text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.check_attribute_name(_name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.check_expression(_shape_schema text, _tgid integer, _text text, OUT expression text, OUT reads text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.check_format(_format text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.check_fragment(_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.check_order(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.check_path(_path text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.check_pattern(_pattern text, _similar boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.check_predicate(_shape_schema text, _tgid integer, _text text, OUT predicate text, OUT reads text[], OUT timely boolean, OUT weight integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.check_tree(_tree text, _text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.check_work(_tree text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.check_writes(_wids integer[], _allowed jsonb[], _old jsonb[], _new jsonb[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.checked_values(_item wed.work_item, _task wed.work_task, _values jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.claim(_host_id integer, _limit integer, _most integer, _without integer[], _busy integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.claim_beside(_host_id integer, _now timestamp with time zone, _taken tid[], _limit integer, _most integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.claim_work(_tenant text, _name text, _item_id bigint, _to text, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.collect_components(_tenant_id integer, _keep integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.compensation_trigger(_flow_id integer, _compensation text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.compile(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.compile_keys(_flow wed.flow) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.concurrency_left(_tenant_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.connect_person(_tenant text, _name text, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.constant_text(_fields text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.constrain(_rows wed.evaluated[], _tgids integer[], _committed boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.consume(_requests bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.contact_person(_tenant text, _name text, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.count_overdue() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.create_flow(_tenant text, _name text, _description text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.create_person(_tenant text, _name text, _roles text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.create_token(_tenant_id integer, _user text, _name text, _prefix text, _hash bytea, _scopes text[], _days integer, _live integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.data_attributes(_plan jsonb, _names jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.decide_late(_tenant text, _name text, _item_id bigint, _continue boolean, _extend interval, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.declared(_flow_id integer, _kind text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.delay_jobs(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.delegate_work(_tenant text, _name text, _item_id bigint, _to text, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.disconnect_person(_tenant text, _name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.drop_flow(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.drop_order(_flow_id integer, _trigger text, _after text, _wid integer, _actor text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.drop_person(_tenant text, _name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.drop_tenant(_tenant_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.end_late(_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.end_overdue() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.enter_host(_name text, _lease interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.escalate_work(_item wed.work_item, _to text, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.fail_batch(_host_id integer, _items jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.fail_task(_flow_id integer, _wid integer, _tgid integer, _token bigint, _note text, _host_id integer, _fuel bigint, _us bigint, _memory bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.first_in_queue(_key wed.resource_key) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.first_of_all(_keys wed.resource_key[], _covered bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.forget_audit(_actor text, _older interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.format_uses(_format text, _n integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.free(_flow wed.flow, _wids integer[], _tgids integer[], _committed boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.free_abandoned() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.fuel_used(_usage wed.usage) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.gate_insert(_flow_id integer, _rows wed.evaluated[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.gate_update(_rows wed.evaluated[], _tgids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.gather(_rows wed.evaluated[], _tgids integer[], _tokens bigint[], _trw text, _forced text, _fuel bigint[], _us bigint[], _memory bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.give_up_attempts(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.go_back(_flow_id integer, _wid integer, _to_seq integer, _actor text, _reason text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.grant_keys(_keys wed.resource_key[], _covered bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.guarded(_sql text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.hand_over(_item wed.work_item, _to integer, _by text, _action text, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.hand_over_requests(_requests bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.held(_host_id integer, _taken tid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.hold_database_grants() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.hosts_with_jobs() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.in_charge(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.in_the_way(_request wed.request) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.insert_values(_schema text, _values jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.install_constraints(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.installation() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.is_administrator(_person_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.is_beside_old() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.is_held(_flow_id integer, _wid integer, _tgid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.is_in_order(_flow_id integer, _wid integer, _tgid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.is_met(_terms jsonb, _done text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.is_offered(_item wed.work_item, _person wed.person, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.is_paused(_due timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.is_zone(_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.join_terms(_operator text, _a jsonb, _b jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.keep_audit() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.keep_beside(_writer text, _flow_id integer, _wid integer, _own tid, _seq integer, _version integer, _satisfied bigint[], _beside integer, _waiting boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.keep_host(_host_id integer, _lease interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.keep_numbers() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.keep_paused(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.keep_pauses() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.keep_records(_host_id integer, _records jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.keep_reservations() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.keys_expression(_of wed.trigger_constraint) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.late_workers() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.lease_granted(_host_id integer, _rows wed.evaluated[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.leave_host(_host_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.let_connect(_role text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.lint(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.lint_conditions(_flow_id integer, _states wed.evaluated[], _whole boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.lint_constraints(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.lint_states(_flow_id integer, OUT states wed.evaluated[], OUT whole boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.lint_texts(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.lint_values(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.lint_writes(_flow_id integer, _states wed.evaluated[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.lock_keys(_keys wed.resource_key[], _now boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.lock_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.make_due(_flow_id integer, _wids integer[], _tgids integer[], _delayed boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.make_numbers(_flow_id integer, _attribute text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.make_role(_tenant_id integer, _name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.mark_constrained(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.matching_exceptions(_flow_id integer, _transition text, _message text, _since timestamp with time zone, _limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.measure(_tenant_id integer, _started bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.measure_usage() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.move_to_partition(_day date) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.move_work(_tenant text, _name text, _item_id bigint, _before bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.name_instance(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.name_instances(_flow_id integer, _wids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.names_done(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.next_due(OUT waits boolean, OUT next_ms bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.next_number(_flow_id integer, _attribute text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.note(_actor text, _tenant text, _action text, _target text, _detail jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.note_flow(_actor text, _flow_id integer, _action text, _part text, _detail jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.number_default(_flow wed.flow, _attribute text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.offer_item(_item_id bigint, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.on_attribute() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.on_connections() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.on_people_instance() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.on_people_job() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.on_request() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.on_resource() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.on_setting() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.on_start() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.on_tenant() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.on_thing() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.on_trigger() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.open_requests() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.open_work_item(_job wed.job) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.operated(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.order_by_attribute(_flow_id integer, _attribute text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.order_by_result(_flow_id integer, _wid integer, _said jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.order_cycle(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.order_of(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.parse_order(_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.pass_as_it_stands(_flow_id integer, _wid integer, _tgid integer, _trw text, _forced text, _note text, _host_id integer, _fuel bigint, _us bigint, _memory bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.path_cost(_path text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.person_of(_tenant text, _name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.place(_name text, _text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.plain_number(_digits text, _rest text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.plan_task(_flow wed.flow, _plan jsonb, _task jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.plan_work(_flow_id integer, _plan jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.problems() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.put_off(_host_id integer, _tokens bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.put_on_shape(_shape_schema text, _tgid integer, _predicate text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.queue_requests(_flow wed.flow, _jobs tid[], _wids integer[], _tgids integer[], _keys jsonb[], _ready timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.quotas(_tenant_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.reasoned(_actor text, _reason text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.reassign_work(_tenant text, _name text, _from text, _to text, _limit integer, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.record_work(_item wed.work_item, _person text, _action text, _detail jsonb, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.refuse_capacity(_key text, _capacity numeric, _minimum numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.refuse_claim(_person wed.person, _item_id bigint, _to text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.refuse_constrained(_flow wed.flow, _attribute text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.refuse_delete() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.refuse_holder(_person wed.person, _item_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.refuse_quota(_limit text, _used bigint, _allowed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.refuse_truncate() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.refuse_update(_code text, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.refuse_without_reason(_reason text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.refuse_write(_wid integer, _transition text, _attribute text, _allowed text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.refused_report(_item wed.work_item, _person wed.person, _values jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.release(_host_id integer, _tokens bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.release_work(_tenant text, _name text, _item_id bigint, _states text[], _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.rematch(_flow_id integer, _preview boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.remove_messages(_tenant text, _name text, _messages bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.remove_residue(_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.report_work(_tenant text, _name text, _item_id bigint, _success boolean, _values jsonb, _key text, _reason text, _claim integer, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.reserve_work(_tenant text, _name text, _item_id bigint, _task text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.resolve_bindings(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.resources_of(_flow_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.resting() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.retry_exception(_flow_id integer, _wid integer, _actor text, _reason text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.retry_instance(_flow_id integer, _wid integer, _actor text, _reason text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.revoke_role(_tenant text, _name text, _role text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.ring_alarm(_item wed.work_item, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.role_named(_tenant_id integer, _name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.roll_trace() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.see_work(_person wed.person, _item_id bigint, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.select_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.send_message(_people integer[], _kind text, _sender text, _text text, _item_id bigint, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.set_alarm(_item_id bigint, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.set_calendar(_tenant text, _name text, _zone text, _weekdays integer[], _opens time without time zone, _closes time without time zone, _holidays date[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.set_constraint(_flow wed.flow, _tgid integer, _reserves text, _quantity text, _resource text, _holds text, _consumes boolean, _after text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.set_notification(_flow_id integer, _wid integer, _policy integer, _count integer, _renotify interval, _warnings integer[], _transfer integer, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.set_numbering(_flow_id integer, _attribute text, _gapless boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.set_pause(_tenant_id integer, _flow_id integer, _trigger text, _wid integer, _pause boolean, _actor text, _reason text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.set_policy(_flow_id integer, _tgid integer, _compensation text, _deadline interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.set_resource(_flow_id integer, _resource text, _key text, _capacity numeric, _minimum numeric, _actor text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.set_state(_flow_id integer, _wid integer, _values jsonb, _actor text, _reason text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.settle(_rows wed.evaluated[], _tgids integer[], _tokens bigint[], _host_id integer, _trw text, _forced text, _note text, _fuel bigint[], _us bigint[], _memory bigint[], _lease boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.short_detail(_detail jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.skip_if_stale(_flow_id integer, _wid integer, _tgid integer, _now boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.skip_job(_flow_id integer, _wid integer, _transition text, _actor text, _reason text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.skip_stale(_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.start_process(_tenant text, _flow text, _creator text, _in_charge text, _values jsonb, _policy integer, _count integer, _warnings integer[], _transfer integer, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.start_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.state_as_text(_shape text, _only text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.steps_to_undo(_flow_id integer, _wid integer, _to_seq integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.stuck_requests() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.suspend_tenant(_tenant_id integer, _suspend boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.sweep_work(_now timestamp with time zone, _limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.take_job(_flow_id integer, _wid integer, _tgid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.take_off_shape(_shape_schema text, _tgid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.take_order(_flow wed.flow, _wids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.take_over_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.tell_fuel(_tenants integer[], _fuel bigint[], OUT resting integer[], OUT limited integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.tell_hosts() FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.tell_people(_tenant_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.tell_running(_item wed.work_item, _attribute text, _person text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.tenants_by_probe(_now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.tenants_with_work(_now timestamp with time zone, _without integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.undo_next(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.unlock_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.unselect_work(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.waiting_keys(_flow_id integer, _wid integer, _tgid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.weigh_usage(_after interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.work_data(_tenant text, _name text, _item_id bigint, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.work_document(_item wed.work_item) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.work_form(_task wed.work_task, _outputs text[], _types jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.work_history(_tenant text, _name text, _item_id bigint, _limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.work_messages(_tenant text, _name text, _limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.work_outputs(_item wed.work_item) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.work_place(_flow_id integer, _wid integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.worklist(_tenant text, _name text, _order text, _limit integer, _now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.write_states(_host_id integer, _shapes text[], _sets text[], _counts integer[], _widths integer[], _assigned text[], _literals integer[], _lit text[], _wids integer[], _tgids integer[], _careful boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.write_values(_flow_id integer, _wid integer, _values jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.writer(_flow_id integer, _wids integer[], OUT tgids integer[], OUT allowed jsonb[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.written_list(_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.written_number(_tokens text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wed.written_set(_token text) FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e.pg_try_advisory_xact_lock(integer, integer) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_4c263c6b57c24d6e.pg_try_advisory_xact_lock(integer, integer) TO wf_4c263c6b57c24d6e;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_after(trigger text, after text, wid integer) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_after(trigger text, after text, wid integer) TO wf_4c263c6b57c24d6e;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_drop_after(trigger text, after text, wid integer) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_drop_after(trigger text, after text, wid integer) TO wf_4c263c6b57c24d6e;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_next_number(attribute text) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_next_number(attribute text) TO wf_4c263c6b57c24d6e;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_number(attribute text, gapless boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_number(attribute text, gapless boolean) TO wf_4c263c6b57c24d6e;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_order_by(attribute text) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_order_by(attribute text) TO wf_4c263c6b57c24d6e;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_rematch(preview boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_4c263c6b57c24d6e.wed_rematch(preview boolean) TO wf_4c263c6b57c24d6e;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e_shape.apply_wf_4c263c6b57c24d6e_shape(_wids integer[], _tgids integer[], _assigned text[], _set text, _literals integer, _lit text[], _careful boolean, _held boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e_shape.current_wf_4c263c6b57c24d6e_shape(_wids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e_shape.evaluate_wf_4c263c6b57c24d6e_shape(_rows wf_4c263c6b57c24d6e_shape.wed_flow[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e_shape.gate_insert() FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e_shape.gate_update() FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_4c263c6b57c24d6e_shape.match_wf_4c263c6b57c24d6e_shape(_rows wf_4c263c6b57c24d6e_shape.wed_flow[], _kept integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_4c263c6b57c24d6e_shape.match_wf_4c263c6b57c24d6e_shape(_rows wf_4c263c6b57c24d6e_shape.wed_flow[], _kept integer[]) TO CURRENT_USER;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094.pg_try_advisory_xact_lock(integer, integer) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_98db33d0ca6b4094.pg_try_advisory_xact_lock(integer, integer) TO wf_98db33d0ca6b4094;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094.wed_after(trigger text, after text, wid integer) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_98db33d0ca6b4094.wed_after(trigger text, after text, wid integer) TO wf_98db33d0ca6b4094;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094.wed_drop_after(trigger text, after text, wid integer) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_98db33d0ca6b4094.wed_drop_after(trigger text, after text, wid integer) TO wf_98db33d0ca6b4094;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094.wed_next_number(attribute text) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_98db33d0ca6b4094.wed_next_number(attribute text) TO wf_98db33d0ca6b4094;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094.wed_number(attribute text, gapless boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_98db33d0ca6b4094.wed_number(attribute text, gapless boolean) TO wf_98db33d0ca6b4094;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094.wed_order_by(attribute text) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_98db33d0ca6b4094.wed_order_by(attribute text) TO wf_98db33d0ca6b4094;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094.wed_rematch(preview boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_98db33d0ca6b4094.wed_rematch(preview boolean) TO wf_98db33d0ca6b4094;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094_shape.apply_wf_98db33d0ca6b4094_shape(_wids integer[], _tgids integer[], _assigned text[], _set text, _literals integer, _lit text[], _careful boolean, _held boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094_shape.current_wf_98db33d0ca6b4094_shape(_wids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094_shape.evaluate_wf_98db33d0ca6b4094_shape(_rows wf_98db33d0ca6b4094_shape.wed_flow[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094_shape.gate_insert() FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094_shape.gate_update() FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_98db33d0ca6b4094_shape.match_wf_98db33d0ca6b4094_shape(_rows wf_98db33d0ca6b4094_shape.wed_flow[], _kept integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_98db33d0ca6b4094_shape.match_wf_98db33d0ca6b4094_shape(_rows wf_98db33d0ca6b4094_shape.wed_flow[], _kept integer[]) TO CURRENT_USER;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f.pg_try_advisory_xact_lock(integer, integer) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_cb605d367e08421f.pg_try_advisory_xact_lock(integer, integer) TO wf_cb605d367e08421f;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f.wed_after(trigger text, after text, wid integer) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_cb605d367e08421f.wed_after(trigger text, after text, wid integer) TO wf_cb605d367e08421f;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f.wed_drop_after(trigger text, after text, wid integer) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_cb605d367e08421f.wed_drop_after(trigger text, after text, wid integer) TO wf_cb605d367e08421f;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f.wed_next_number(attribute text) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_cb605d367e08421f.wed_next_number(attribute text) TO wf_cb605d367e08421f;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f.wed_number(attribute text, gapless boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_cb605d367e08421f.wed_number(attribute text, gapless boolean) TO wf_cb605d367e08421f;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f.wed_order_by(attribute text) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_cb605d367e08421f.wed_order_by(attribute text) TO wf_cb605d367e08421f;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f.wed_rematch(preview boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_cb605d367e08421f.wed_rematch(preview boolean) TO wf_cb605d367e08421f;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f_shape.apply_wf_cb605d367e08421f_shape(_wids integer[], _tgids integer[], _assigned text[], _set text, _literals integer, _lit text[], _careful boolean, _held boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f_shape.current_wf_cb605d367e08421f_shape(_wids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f_shape.evaluate_wf_cb605d367e08421f_shape(_rows wf_cb605d367e08421f_shape.wed_flow[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f_shape.gate_insert() FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f_shape.gate_update() FROM PUBLIC;

REVOKE ALL ON FUNCTION wf_cb605d367e08421f_shape.match_wf_cb605d367e08421f_shape(_rows wf_cb605d367e08421f_shape.wed_flow[], _kept integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION wf_cb605d367e08421f_shape.match_wf_cb605d367e08421f_shape(_rows wf_cb605d367e08421f_shape.wed_flow[], _kept integer[]) TO CURRENT_USER;

GRANT SELECT ON TABLE wf_4c263c6b57c24d6e.job_pool TO wf_4c263c6b57c24d6e;

GRANT SELECT ON TABLE wf_4c263c6b57c24d6e.wed_attempt TO wf_4c263c6b57c24d6e;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wf_4c263c6b57c24d6e.wed_attr TO wf_4c263c6b57c24d6e;

GRANT SELECT,INSERT,DELETE,TRUNCATE,UPDATE ON TABLE wf_4c263c6b57c24d6e.wed_flow TO wf_4c263c6b57c24d6e;

GRANT SELECT ON TABLE wf_4c263c6b57c24d6e.wed_instance TO wf_4c263c6b57c24d6e;

GRANT SELECT ON TABLE wf_4c263c6b57c24d6e.wed_order TO wf_4c263c6b57c24d6e;

GRANT SELECT ON TABLE wf_4c263c6b57c24d6e.wed_reservation TO wf_4c263c6b57c24d6e;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wf_4c263c6b57c24d6e.wed_resource TO wf_4c263c6b57c24d6e;

GRANT SELECT ON TABLE wf_4c263c6b57c24d6e.wed_trace TO wf_4c263c6b57c24d6e;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wf_4c263c6b57c24d6e.wed_trig TO wf_4c263c6b57c24d6e;

GRANT SELECT ON TABLE wf_98db33d0ca6b4094.job_pool TO wf_98db33d0ca6b4094;

GRANT SELECT ON TABLE wf_98db33d0ca6b4094.wed_attempt TO wf_98db33d0ca6b4094;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wf_98db33d0ca6b4094.wed_attr TO wf_98db33d0ca6b4094;

GRANT SELECT,INSERT,DELETE,TRUNCATE,UPDATE ON TABLE wf_98db33d0ca6b4094.wed_flow TO wf_98db33d0ca6b4094;

GRANT SELECT ON TABLE wf_98db33d0ca6b4094.wed_instance TO wf_98db33d0ca6b4094;

GRANT SELECT ON TABLE wf_98db33d0ca6b4094.wed_order TO wf_98db33d0ca6b4094;

GRANT SELECT ON TABLE wf_98db33d0ca6b4094.wed_reservation TO wf_98db33d0ca6b4094;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wf_98db33d0ca6b4094.wed_resource TO wf_98db33d0ca6b4094;

GRANT SELECT ON TABLE wf_98db33d0ca6b4094.wed_trace TO wf_98db33d0ca6b4094;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wf_98db33d0ca6b4094.wed_trig TO wf_98db33d0ca6b4094;

GRANT SELECT ON TABLE wf_cb605d367e08421f.job_pool TO wf_cb605d367e08421f;

GRANT SELECT ON TABLE wf_cb605d367e08421f.wed_attempt TO wf_cb605d367e08421f;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wf_cb605d367e08421f.wed_attr TO wf_cb605d367e08421f;

GRANT SELECT,INSERT,DELETE,TRUNCATE,UPDATE ON TABLE wf_cb605d367e08421f.wed_flow TO wf_cb605d367e08421f;

GRANT SELECT ON TABLE wf_cb605d367e08421f.wed_instance TO wf_cb605d367e08421f;

GRANT SELECT ON TABLE wf_cb605d367e08421f.wed_order TO wf_cb605d367e08421f;

GRANT SELECT ON TABLE wf_cb605d367e08421f.wed_reservation TO wf_cb605d367e08421f;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wf_cb605d367e08421f.wed_resource TO wf_cb605d367e08421f;

GRANT SELECT ON TABLE wf_cb605d367e08421f.wed_trace TO wf_cb605d367e08421f;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wf_cb605d367e08421f.wed_trig TO wf_cb605d367e08421f;
