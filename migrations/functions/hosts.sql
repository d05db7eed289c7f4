-- Hosts: entering, leases, leaving, the number of the interface that a program must know.

-- Returns the number of the interface between hosts and database: raised when a call, its arguments or their meaning
-- change so that a program that knows another one cannot work with this schema. Programs of wed 0.1.0 know the first.
CREATE OR REPLACE FUNCTION wed.interface_version() RETURNS integer
LANGUAGE sql IMMUTABLE AS 'SELECT 2';

-- Registers a host and returns its number. Its leases hold while its row does not expire. _http lists the places that
-- its operator allows.
CREATE OR REPLACE FUNCTION wed.register_host(
  _name text, _lease interval, _version text DEFAULT NULL, _interface integer DEFAULT wed.interface_version(),
  _http text[] DEFAULT '{}') RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _host_id integer;
BEGIN
  PERFORM wed.refuse_other_interface(_interface);
  INSERT INTO wed.host (name, expires_at, beside_old, version, interface, http)
  VALUES (_name, clock_timestamp() + _lease, wed.is_beside_old(), _version, _interface, _http) RETURNING host_id INTO _host_id;
  RETURN _host_id;
END $$;

-- Refuses hosts whose program knows another interface than this schema has.
CREATE OR REPLACE FUNCTION wed.refuse_other_interface(_interface integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF _interface <> wed.interface_version() THEN
    RAISE EXCEPTION 'the database has been migrated by another version of wed (interface %, this program knows %)',
        wed.interface_version(), _interface USING ERRCODE = 'WF019',
      HINT = CASE WHEN _interface < wed.interface_version() THEN 'Stop this program and start the newer one.'
                  ELSE 'Run `wed migrate` of this version.' END;
  END IF;
END $$;

-- Prolongs a host's leases, and notes the session that does so (wed.host_runs). False: they were lost, and the host
-- must register anew.
CREATE OR REPLACE FUNCTION wed.renew_lease(
  _host_id integer, _lease interval, _interface integer DEFAULT wed.interface_version()) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed.refuse_other_interface(_interface);
  UPDATE wed.host SET expires_at = clock_timestamp() + _lease, beside_old = wed.is_beside_old(),
    session_pid = pg_backend_pid()
  WHERE host_id = _host_id;
  RETURN FOUND;
END $$;

-- Gives back every job of a host that leaves, and removes it. Its row first: what it claims just now is given back too.
CREATE OR REPLACE FUNCTION wed.leave_host(_host_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM wed.host WHERE host_id = _host_id FOR UPDATE;
  UPDATE wed.job SET host_id = NULL, token = 0, attempt = attempt - 1, put_off = NULL
  WHERE host_id = _host_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  DELETE FROM wed.host WHERE host_id = _host_id;
END $$;

-- Returns whether a host runs, for reports to people: its leases hold, and the session that renews them is connected.
-- The session of a killed host ends at once; that of a host whose connection is silent lasts, so its leases decide.
-- Which host a job belongs to is decided by leases alone.
CREATE OR REPLACE FUNCTION wed.host_runs(_host wed.host) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _host.expires_at > clock_timestamp()
    AND (_host.session_pid IS NULL OR EXISTS (SELECT FROM pg_stat_get_activity(_host.session_pid)))
$$;

-- Tells hosts of work that another has left. On its own and not waiting for the disk, because transactions that
-- notify commit one after another.
CREATE OR REPLACE FUNCTION wed.tell_hosts() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM pg_notify('wed_jobs', '');
END $$;

-- A program of wed 0.1.0 calls this to register a host and to prolong its leases: refused, since the database is
-- newer.
CREATE OR REPLACE FUNCTION wed.enter_host(_name text, _lease interval) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed.refuse_other_interface(1);
END $$;

CREATE OR REPLACE FUNCTION wed.keep_host(_host_id integer, _lease interval) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed.refuse_other_interface(1);
END $$;

-- Refuses a program of wed 0.1.0, which calls wed.settle(wed.write_states(...)) to commit a batch, and to record
-- failures: its leases are lost, whatever they were. It drops the results, and the jobs are done by others.
CREATE OR REPLACE FUNCTION wed.write_states(
  _host_id integer, _shapes text[], _sets text[], _counts integer[], _widths integer[], _assigned text[],
  _literals integer[], _lit text[], _wids integer[], _tgids integer[], _careful boolean) RETURNS wed.evaluated[]
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016',
    HINT = 'The database has been migrated; use the newer wed.';
END $$;

CREATE OR REPLACE FUNCTION wed.settle(
  _rows wed.evaluated[], _tgids integer[], _tokens bigint[], _host_id integer DEFAULT NULL,
  _trw text DEFAULT NULL, _forced text DEFAULT NULL, _note text DEFAULT NULL,
  _fuel bigint[] DEFAULT NULL, _us bigint[] DEFAULT NULL, _memory bigint[] DEFAULT NULL, _lease boolean DEFAULT true)
RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016',
    HINT = 'The database has been migrated; use the newer wed.';
END $$;

CREATE OR REPLACE FUNCTION wed.fail_batch(_host_id integer, _items jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016',
    HINT = 'The database has been migrated; use the newer wed.';
END $$;
