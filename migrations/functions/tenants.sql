-- Tenants: suspension, sessions, tokens, removal.

-- Suspends a tenant, or resumes it: its flows' roles may not log in, nothing of it is started or changed
-- (wed.is_suspended), and hosts claim none of its jobs. It waits for nothing that the tenant holds; to be committed
-- before its sessions are ended (wed.end_sessions), who could otherwise come back, and before its flows are compiled,
-- by which hosts give back what its running transitions fire.
CREATE OR REPLACE FUNCTION wed.suspend_tenant(_tenant_id integer, _suspend boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _role text;
BEGIN
  IF NOT _suspend THEN PERFORM wed.return_tenant(_tenant_id); END IF;
  UPDATE wed.tenant SET suspended_at = CASE WHEN _suspend THEN coalesce(suspended_at, now()) END
  WHERE tenant_id = _tenant_id;
  FOR _role IN SELECT role_name FROM wed.flow WHERE tenant_id = _tenant_id ORDER BY flow_id LOOP
    EXECUTE format('ALTER ROLE %I %s', _role, CASE WHEN _suspend THEN 'NOLOGIN' ELSE 'LOGIN' END);
  END LOOP;
  IF NOT _suspend THEN PERFORM pg_notify('wed_jobs', ''); END IF;
END $$;

-- Ends the sessions of the roles of a tenant's flows; returns how many there were.
CREATE OR REPLACE FUNCTION wed.end_sessions(_tenant_id integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _session record;
  _ended bigint := 0;
BEGIN
  FOR _session IN SELECT a.pid FROM pg_stat_activity a JOIN wed.flow f ON f.role_name = a.usename
    WHERE f.tenant_id = _tenant_id LOOP
    PERFORM pg_terminate_backend(_session.pid, 1000);
    _ended := _ended + 1;
  END LOOP;
  RETURN _ended;
END $$;

-- Ends sessions of tenants whose flows' roles have too many together, the newest first: more than their quota allows
-- one role, to which Postgres itself holds each, and more than their share of those that the server takes. Returns how
-- many it ended.
CREATE OR REPLACE FUNCTION wed.end_surplus_sessions(_share float8 DEFAULT 0.5) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _session record;
  _ended bigint := 0;
BEGIN
  FOR _session IN
    SELECT s.pid FROM (
      SELECT a.pid, q.connections, row_number() OVER (PARTITION BY f.tenant_id ORDER BY a.backend_start) AS number
      FROM pg_stat_activity a JOIN wed.flow f ON f.role_name = a.usename JOIN wed.quota q USING (tenant_id)) s
    WHERE s.number > greatest(s.connections, _share * current_setting('max_connections')::integer)
  LOOP
    PERFORM pg_terminate_backend(_session.pid);
    _ended := _ended + 1;
  END LOOP;
  RETURN _ended;
END $$;

-- Ends sessions of flows' roles whose transaction is open for longer than their tenant may (quota
-- `transaction_seconds`), or than _most_s, and writes that down: an old transaction keeps old versions of all tenants'
-- rows. A session may set its own limits otherwise, and cannot set this one. Returns how many it ended.
CREATE OR REPLACE FUNCTION wed.end_old_transactions(_most_s bigint DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _session record;
  _ended bigint := 0;
BEGIN
  FOR _session IN
    SELECT a.pid, f.flow_id, q.transaction_seconds AS allowed,
      extract(epoch FROM clock_timestamp() - a.xact_start)::bigint AS seconds
    FROM pg_stat_activity a JOIN wed.flow f ON f.role_name = a.usename JOIN wed.quota q USING (tenant_id)
    WHERE extract(epoch FROM clock_timestamp() - a.xact_start) > least(q.transaction_seconds, _most_s)
  LOOP
    CONTINUE WHEN NOT pg_terminate_backend(_session.pid);
    PERFORM wed.note_flow('wedflow', _session.flow_id, 'session.end', NULL, jsonb_build_object(
      'session', _session.pid, 'transaction_seconds', _session.seconds, 'allowed', _session.allowed));
    _ended := _ended + 1;
  END LOOP;
  RETURN _ended;
END $$;

-- Empties the server's queue of notifications where it is filled to a part (_from) and more: once it is full, no start
-- and no event commits. It ends behind the slowest session that listens, which Postgres names to nobody, and a session
-- that nothing wakes moves on only when it listens anew. So hosts' listening sessions are ended, which come back within
-- a second, and sessions of flows' roles with an open transaction; from _all on every session of a flow's role. Asked
-- for its usage, Postgres frees what nobody needs. Returns how many sessions of flows it ended.
CREATE OR REPLACE FUNCTION wed.empty_notifications(
  _from double precision DEFAULT 0.1, _all double precision DEFAULT 0.5) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _usage CONSTANT double precision := pg_notification_queue_usage();
  _session record;
  _ended bigint := 0;
BEGIN
  IF _usage < _from THEN RETURN 0; END IF;
  PERFORM pg_terminate_backend(a.pid) FROM pg_stat_activity a
  WHERE a.datname = current_database() AND a.application_name = 'wedflow-listen' AND a.usename = current_user;
  FOR _session IN
    SELECT a.pid, f.flow_id FROM pg_stat_activity a JOIN wed.flow f ON f.role_name = a.usename
    WHERE _usage >= _all OR a.xact_start < clock_timestamp() - interval '1 second'
  LOOP
    CONTINUE WHEN NOT pg_terminate_backend(_session.pid);
    PERFORM wed.note_flow('wedflow', _session.flow_id, 'session.end', NULL, jsonb_build_object(
      'session', _session.pid, 'notifications', round((_usage * 100)::numeric)));
    _ended := _ended + 1;
  END LOOP;
  RETURN _ended;
END $$;

-- Makes a token. At most two of one name are live: the present one, and the one it is being replaced by.
CREATE OR REPLACE FUNCTION wed.create_token(
  _tenant_id integer, _user text, _name text, _prefix text, _hash bytea, _scopes text[], _days integer,
  _live integer, _flows text[] DEFAULT '{}') RETURNS timestamptz
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _user_id integer;
  _most integer;
  _expires timestamptz := clock_timestamp() + _days * interval '1 day';
BEGIN
  -- The lock serialises two makers of one name.
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
  INSERT INTO wed.token (tenant_id, user_id, name, prefix, hash, scopes, flows, expires_at)
  VALUES (_tenant_id, _user_id, _name, _prefix, _hash, _scopes, _flows, _expires);
  RETURN _expires;
END $$;

-- Removes a suspended tenant with everything of it; the audit log keeps what was done.
CREATE OR REPLACE FUNCTION wed.drop_tenant(_tenant_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow_id integer;
BEGIN
  FOR _flow_id IN SELECT flow_id FROM wed.flow WHERE tenant_id = _tenant_id ORDER BY flow_id LOOP
    PERFORM wed.drop_flow(_flow_id);
  END LOOP;
  DELETE FROM wed.tenant WHERE tenant_id = _tenant_id;
END $$;
