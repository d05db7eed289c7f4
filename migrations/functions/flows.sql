-- Flows: their schemas and roles, what each has of functions and views, and their end.

-- Makes an empty flow: its role, its schemas, its tables, its part of the gate.
CREATE OR REPLACE FUNCTION wed.create_flow(_tenant text, _name text, _description text DEFAULT '') RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _schema text := 'wf_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16);
  _flow wed.flow;
  _template text;
BEGIN
  INSERT INTO wed.flow (tenant_id, name, description, schema_name, shape_schema, role_name, role_password, excpt_tgid)
  SELECT tenant_id, _name, coalesce(_description, ''), _schema, _schema || '_shape', _schema,
         replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), wed.next_tgid()
  FROM wed.tenant WHERE name = _tenant RETURNING * INTO _flow;
  IF _flow.flow_id IS NULL THEN
    RAISE EXCEPTION 'there is no tenant "%"', _tenant USING ERRCODE = 'WF015', HINT = 'Create the tenant first.';
  END IF;
  -- The trigger of _EXCPT is the server's: no condition fires it, the gate does.
  INSERT INTO wed.trigger (tgid, flow_id, tenant_id, tgname, trname, cfinal, enabled, timeout, attempts, backoff, delay,
    priority, recheck)
  VALUES (_flow.excpt_tgid, _flow.flow_id, _flow.tenant_id, '_EXCPT', '_EXCPT', false, true, '1 day', 3, '1 minute',
    '0', 0, false);
  PERFORM wed.create_role(_flow);
  FOREACH _template IN ARRAY ARRAY['schemas', 'wed_attr', 'wed_trig', 'wed_flow'] LOOP
    EXECUTE wed.fill_template(_template, wed.flow_names(_flow));
  END LOOP;
  PERFORM wed.bound_rows(_flow.schema_name);
  PERFORM wed.install_flow(_flow.flow_id);
  EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _flow.shape_schema);
  RETURN _flow.flow_id;
END $$;

-- Makes a flow's role. Its settings are defaults, which a session may change: what it cannot change are its connections
-- and its jobs' timeouts. A worker is idle in its transaction while it works, so that is as long as work may take.
CREATE OR REPLACE FUNCTION wed.create_role(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _setting record;
BEGIN
  EXECUTE
    format('CREATE ROLE %I LOGIN PASSWORD %L NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION CONNECTION '
    'LIMIT %s',
    _flow.role_name, _flow.role_password,
    coalesce((SELECT connections FROM wed.quota WHERE tenant_id = _flow.tenant_id), -1));
  FOR _setting IN SELECT * FROM (VALUES ('statement_timeout', quote_literal('5min')),
      ('idle_in_transaction_session_timeout', quote_literal('1h')),
      -- The gate's statements are short; compiling one takes a second where the server's estimate is high.
      ('jit', quote_literal('off')),
      ('search_path', quote_ident(_flow.schema_name) || ', pg_catalog')) v(name, value) LOOP
    EXECUTE format('ALTER ROLE %I IN DATABASE %I SET %s = %s', _flow.role_name, current_database(), _setting.name,
      _setting.value);
  END LOOP;
  EXECUTE format('GRANT %I TO %I', _flow.role_name, current_user);
  PERFORM wed.let_connect(_flow.role_name);
  PERFORM wed.bound_files(_flow.role_name);
END $$;

-- Bounds the temporary files of each session of a flow's role, or of all flows' (null): where the owner may, as a
-- superuser or by GRANT SET ON PARAMETER temp_file_limit. A session cannot change it. Returns whether the owner may.
CREATE OR REPLACE FUNCTION wed.bound_files(_role text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _limit CONSTANT text := '1GB';
  _one text;
BEGIN
  IF NOT has_parameter_privilege('temp_file_limit', 'SET') THEN RETURN false; END IF;
  FOR _one IN SELECT role_name FROM wed.flow WHERE role_name = _role OR _role IS NULL ORDER BY flow_id LOOP
    EXECUTE format('ALTER ROLE %I IN DATABASE %I SET temp_file_limit = %L', _one, current_database(), _limit);
  END LOOP;
  RETURN true;
END $$;

-- Lets a flow's role connect, where not everybody may. All such grants are in one row of pg_database, which two
-- transactions must not change at once: one waits for the other.
CREATE OR REPLACE FUNCTION wed.let_connect(_role text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF has_database_privilege(_role, current_database(), 'CONNECT') THEN RETURN; END IF;
  PERFORM wed.hold_database_grants();
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), _role);
END $$;

-- Holds the row of the database's grants until the transaction ends: Postgres refuses a second transaction that changes
-- it ("tuple concurrently updated") instead of letting it wait.
CREATE OR REPLACE FUNCTION wed.hold_database_grants() RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT pg_advisory_xact_lock(hashtextextended('wed.hold_database_grants', 0))
$$;

-- Removes a flow with everything of it. What it leaves in the tables that all flows share is nobody's from
-- then on, and is removed by remove_residue in steps: of a flow of millions of instances that takes minutes.
CREATE OR REPLACE FUNCTION wed.drop_flow(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id FOR UPDATE;
  -- A session of its role that reads would be waited for.
  PERFORM pg_terminate_backend(a.pid, 1000) FROM pg_stat_activity a
  WHERE a.usename = _flow.role_name AND a.datname = current_database() AND a.pid <> pg_backend_pid();
  EXECUTE format('DROP SCHEMA %I CASCADE', _flow.schema_name);
  EXECUTE format('DROP SCHEMA %I CASCADE', _flow.shape_schema);
  DELETE FROM wed.job WHERE flow_id = _flow_id;
  UPDATE wed.child SET state = 'ended' WHERE child_flow_id = _flow_id AND state = 'running';
  DELETE FROM wed.stale WHERE flow_id = _flow_id;
  DELETE FROM wed.changed_condition WHERE flow_id = _flow_id;
  DELETE FROM wed.clock_changed WHERE flow_id = _flow_id;
  UPDATE wed.request SET state = 'f', leads = true, xid = pg_current_xact_id() WHERE flow_id = _flow_id;
  DELETE FROM wed.resource WHERE tenant_id = _flow.tenant_id AND resource = '#' || _flow_id;
  DELETE FROM wed.task_done WHERE flow_id = _flow_id;
  DELETE FROM wed.flow WHERE flow_id = _flow_id;
  INSERT INTO wed.residue VALUES (_flow_id, _flow.tenant_id, _flow.name);
  -- A role that was let connect by a grant of its own (let_connect) loses it, last of all: others wait for that.
  IF EXISTS (SELECT FROM pg_database d, aclexplode(d.datacl) a
             WHERE d.datname = current_database() AND a.grantee = to_regrole(quote_ident(_flow.role_name))) THEN
    PERFORM wed.hold_database_grants();
  END IF;
  EXECUTE format('DROP OWNED BY %I', _flow.role_name);
  EXECUTE format('DROP ROLE %I', _flow.role_name);
END $$;

-- Returns the names of a flow, as templates want them.
CREATE OR REPLACE FUNCTION wed.flow_names(_flow wed.flow) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('flow_id', _flow.flow_id, 'tenant_id', _flow.tenant_id,
    'schema', quote_ident(_flow.schema_name), 'shape', quote_ident(_flow.shape_schema),
    'role', quote_ident(_flow.role_name))
$$;

-- Makes, or makes anew after an update of the server, what a flow has of functions, views and triggers of its own. Only
-- roles that are named may call them.
CREATE OR REPLACE FUNCTION wed.install_flow(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
  _flow wed.flow;
  _names jsonb;
  _template text;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  _names := wed.flow_names(_flow);
  FOREACH _template IN ARRAY ARRAY['views', 'evaluate', 'current', 'functions'] LOOP
    EXECUTE wed.fill_template(_template, _names);
  END LOOP;
  PERFORM wed.own_views(_flow);
  PERFORM wed.pin_settings(format('%1$I.current_%1$s(integer[])', _flow.shape_schema)::regprocedure, true);
  PERFORM wed.pin_settings(format('%I.pg_try_advisory_xact_lock(integer, integer)', _flow.schema_name)::regprocedure,
    true);
  PERFORM wed.pin_settings(format('%I.wed_rematch(boolean, integer)', _flow.schema_name)::regprocedure, true);
  PERFORM wed.install_constraints(_flow_id);
  PERFORM wed.install_operations(_flow_id);
  PERFORM wed.install_versions(_flow_id);
  PERFORM wed.pin_settings(format('%I.wed_roll_back(integer, boolean)', _flow.schema_name)::regprocedure, true);
  PERFORM wed.compile(_flow_id);
  EXECUTE wed.fill_template('gate_triggers', _names);
  PERFORM wed.own_functions(_flow);
END $$;

-- Makes all flows' own functions anew, after an update of the server. A flow that is not allowed any more keeps those
-- that it has, and is named: one flow stops no update. What a session at work is in the way of is tried again with all.
CREATE OR REPLACE FUNCTION wed.install_flows() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  FOR _flow IN SELECT * FROM wed.flow ORDER BY flow_id LOOP
    BEGIN
      PERFORM wed.drop_apply(_flow);
      PERFORM wed.install_flow(_flow.flow_id);
    EXCEPTION
    WHEN deadlock_detected OR lock_not_available OR query_canceled OR serialization_failure THEN RAISE;
    WHEN OTHERS THEN
      RAISE WARNING 'flow % of tenant % could not be brought up to date: %', _flow.name, _flow.tenant_id, SQLERRM;
    END;
  END LOOP;
END $$;

-- Returns a template's text with its {{placeholders}} filled in, each once: a value is never looked through for others.
-- Identifiers and literals come quoted. {{quote}} is the tag of a body between dollars, which no value can end, since
-- nobody can guess it.
CREATE OR REPLACE FUNCTION wed.fill_template(_name text, _values jsonb) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _parts text[] := regexp_split_to_array((SELECT text FROM wed.template WHERE name = _name), '\{\{|\}\}');
  _missing text;
BEGIN
  _values := _values || jsonb_build_object('quote', 'q' || replace(gen_random_uuid()::text, '-', ''));
  SELECT p INTO _missing FROM unnest(_parts) WITH ORDINALITY u(p, at) WHERE at % 2 = 0 AND NOT _values ? p LIMIT 1;
  IF FOUND OR _parts IS NULL THEN
    RAISE EXCEPTION 'the template % has no value for %', _name, _missing;
  END IF;
  RETURN (SELECT string_agg(CASE WHEN at % 2 = 0 THEN _values ->> p ELSE p END, '' ORDER BY at)
          FROM unnest(_parts) WITH ORDINALITY u(p, at));
END $$;

-- Gives a flow's conditions to the role without rights that they are evaluated as, and takes all its functions from
-- everybody else.
CREATE OR REPLACE FUNCTION wed.own_functions(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _match text := format('%1$I.match_%1$s(%1$I.wed_flow[], integer[])', _flow.shape_schema);
BEGIN
  IF (SELECT proowner <> 'wed_predicate'::regrole FROM pg_proc WHERE oid = _match::regprocedure) THEN
    EXECUTE format('GRANT CREATE ON SCHEMA %I TO wed_predicate', _flow.shape_schema);
    EXECUTE format('ALTER FUNCTION %s OWNER TO wed_predicate', _match);
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _flow.shape_schema);
  END IF;
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I, %I FROM PUBLIC', _flow.schema_name, _flow.shape_schema);
  EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %I TO %I', _flow.schema_name, _flow.role_name);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', _match, current_user);
END $$;

-- Gives a flow's views to the role that may only read what is below them, and lets the flow's role use them. Again for
-- a flow whose views it has: nothing.
CREATE OR REPLACE FUNCTION wed.own_views(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _view record;
BEGIN
  FOR _view IN
    SELECT n.nspname AS schema, c.relname AS name, c.relowner <> 'wed_reader'::regrole AS is_new
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN (_flow.schema_name, _flow.shape_schema) AND c.relkind = 'v'
  LOOP
    IF _view.is_new THEN
      EXECUTE format('GRANT CREATE ON SCHEMA %I TO wed_reader', _view.schema);
      EXECUTE format('ALTER VIEW %I.%I OWNER TO wed_reader', _view.schema, _view.name);
      EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_reader', _view.schema);
    END IF;
    IF _view.schema = _flow.schema_name THEN
      EXECUTE format('GRANT SELECT ON %I.%I TO %I', _view.schema, _view.name, _flow.role_name);
    END IF;
  END LOOP;
  EXECUTE format('GRANT INSERT, UPDATE, DELETE ON %I.wed_resource TO %I', _flow.schema_name, _flow.role_name);
END $$;

-- Returns a number for a trigger. All flows share the numbers; when they are used up those of removed triggers are
-- given again.
CREATE OR REPLACE FUNCTION wed.next_tgid() RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  _tgid integer;
BEGIN
  LOOP
    _tgid := nextval('wed.tgid_seq');
    EXIT WHEN NOT EXISTS (SELECT FROM wed.trigger WHERE tgid = _tgid);
  END LOOP;
  RETURN _tgid;
END $$;

-- Returns whether the jobs of all these results' instances know which conditions held by the flow's present version.
CREATE OR REPLACE FUNCTION wed.are_of_version(_flow_id integer, _version integer, _results wed.result[]) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT bool_and(j.version = _version) FROM unnest(_results) r
          CROSS JOIN LATERAL (SELECT version FROM wed.job WHERE flow_id = _flow_id AND wid = r.wid OFFSET 0) j) IS TRUE;
END $$;
