-- People: their roles, connections, messages, who is in charge.

-- Makes a person of a tenant, with roles, which are made when they are missing. A known person gets the roles.
CREATE OR REPLACE FUNCTION wed.create_person(_tenant text, _name text, _roles text[] DEFAULT '{}') RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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

-- Removes a person; what the person held is offered again. Messages, and reports that were kept, go too.
CREATE OR REPLACE FUNCTION wed.drop_person(_tenant text, _name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  UPDATE wed.work_item SET state = 'READY', holder = NULL, claim = claim + 1, held_since = NULL
  WHERE holder = _person.person_id AND ended_at IS NULL;
  DELETE FROM wed.person WHERE person_id = _person.person_id;
  PERFORM wed.tell_people(_person.tenant_id);
END $$;

-- Returns the person of a name within a tenant; refused when there is none. Another tenant's person is as good as
-- missing.
CREATE OR REPLACE FUNCTION wed.person_of(_tenant text, _name text) RETURNS wed.person
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person;
BEGIN
  SELECT p.* INTO _person FROM wed.person p JOIN wed.tenant t USING (tenant_id) WHERE t.name = _tenant
    AND p.name = _name;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no person "%"', left(_name, 80) USING ERRCODE = 'WF080',
      HINT = 'Add the person: `wed work people --add NAME`.';
  END IF;
  RETURN _person;
END $$;

-- Returns the number of a role; Office-boy and Office_boy are one. Null when there is none.
CREATE OR REPLACE FUNCTION wed.role_named(_tenant_id integer, _name text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT role_id FROM wed.role_of_people WHERE tenant_id = _tenant_id AND replace(name, '-', '_') = replace(_name,
    '-', '_')
$$;

-- Takes a role from a person. False when the person had it not.
CREATE OR REPLACE FUNCTION wed.revoke_role(_tenant text, _name text, _role text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  DELETE FROM wed.membership WHERE person_id = _person.person_id AND role_id = wed.role_named(_person.tenant_id, _role);
  RETURN FOUND;
END $$;

-- Returns whether a person has the role administrator, which sees and moves every item of the tenant.
CREATE OR REPLACE FUNCTION wed.is_administrator(_person_id integer) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM wed.membership m JOIN wed.role_of_people r USING (role_id)
                 WHERE m.person_id = _person_id AND r.name = 'administrator')
$$;

-- Returns who answers for an instance: the person in charge; without one, the administrators, at most 100.
CREATE OR REPLACE FUNCTION wed.in_charge(_flow_id integer, _wid integer) RETURNS integer[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(
    (SELECT ARRAY[i.in_charge] FROM wed.work_instance i WHERE i.flow_id = _flow_id AND i.wid = _wid
      AND i.in_charge IS NOT NULL),
    ARRAY(SELECT m.person_id FROM wed.flow f JOIN wed.role_of_people r USING (tenant_id) JOIN wed.membership m
      USING (role_id)
          WHERE f.flow_id = _flow_id AND r.name = 'administrator' ORDER BY 1 LIMIT 100))
$$;

-- Returns whether a person is in charge of an item's instance, or an administrator.
CREATE OR REPLACE FUNCTION wed.answers_for(_person_id integer, _flow_id integer, _wid integer) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _person_id = ANY (wed.in_charge(_flow_id, _wid)) OR wed.is_administrator(_person_id)
$$;

-- Returns the person and records a sign of life, which makes an inactive one active: at most every 10 seconds, and not
-- where nothing can be written.
CREATE OR REPLACE FUNCTION wed.contact_person(_tenant text, _name text, _now timestamptz DEFAULT clock_timestamp())
RETURNS wed.person LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  IF NOT current_setting('transaction_read_only')::boolean AND (NOT _person.active OR _person.contact_at IS NULL
     OR _person.contact_at < _now - interval '10 seconds') THEN
    PERFORM wed.connect_person(_tenant, _name, _now);
    RETURN wed.person_of(_tenant, _name);
  END IF;
  RETURN _person;
END $$;

-- Marks a person active from _now on, and delivers the messages that were stored meanwhile. Returns how many.
CREATE OR REPLACE FUNCTION wed.connect_person(_tenant text, _name text, _now timestamptz DEFAULT clock_timestamp())
RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _delivered bigint;
BEGIN
  UPDATE wed.person SET active = true, connected_at = CASE WHEN active THEN connected_at ELSE _now END,
    contact_at = _now
  WHERE person_id = _person.person_id;
  UPDATE wed.work_message SET delivered_at = _now WHERE person_id = _person.person_id AND delivered_at IS NULL;
  GET DIAGNOSTICS _delivered = ROW_COUNT;
  PERFORM wed.tell_people(_person.tenant_id);
  RETURN _delivered;
END $$;

-- Marks a person inactive: nothing new is offered, messages are stored. What the person holds stays held.
CREATE OR REPLACE FUNCTION wed.disconnect_person(_tenant text, _name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  UPDATE wed.person SET active = false WHERE person_id = _person.person_id;
END $$;

-- Sends people a message: delivered at once to who is active, else stored for the next connection. Of a person at most
-- 1000 are kept, the newest.
CREATE OR REPLACE FUNCTION wed.send_message(
  _people integer[], _kind text, _sender text, _text text, _item_id bigint, _now timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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

-- Returns a person's messages that were delivered, newest first, at most 1000.
CREATE OR REPLACE FUNCTION wed.work_messages(_tenant text, _name text, _limit integer DEFAULT 100) RETURNS SETOF jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('message', m.message_id, 'kind', m.kind, 'sender', m.sender, 'text', m.text, 'item',
    m.item_id,
    'at', wed.rfc3339(m.at), 'delivered_at', wed.rfc3339(m.delivered_at))
  FROM wed.work_message m, wed.person_of(_tenant, _name) p
  WHERE m.person_id = p.person_id AND m.delivered_at IS NOT NULL ORDER BY m.message_id DESC LIMIT
    least(greatest(_limit, 1), 1000)
$$;

-- Removes a person's delivered messages: those of the numbers, or all. Returns how many.
CREATE OR REPLACE FUNCTION wed.remove_messages(_tenant text, _name text, _messages bigint[] DEFAULT NULL) RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH gone AS (
    DELETE FROM wed.work_message m USING wed.person_of(_tenant, _name) p
    WHERE m.person_id = p.person_id AND m.delivered_at IS NOT NULL AND (_messages IS NULL
      OR m.message_id = ANY (_messages))
    RETURNING 1)
  SELECT count(*) FROM gone
$$;

-- Tells watchers that worklists of a tenant may have changed. A hint: it carries the tenant's number only.
CREATE OR REPLACE FUNCTION wed.tell_people(_tenant_id integer) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT pg_notify('wed_work', _tenant_id::text) $$;
