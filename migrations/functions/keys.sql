-- Starts and events that happen once for a key.

-- Starts an instance with these values; with a key once within a day, in one transaction with the key. Answers its
-- number.
CREATE OR REPLACE FUNCTION wed.start_once(_flow_id integer, _values jsonb, _actor text, _key text) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _flow wed.flow;
  _before jsonb;
  _columns text;
  _wid integer;
  _is_noted boolean;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  IF _key IS NOT NULL THEN
    _before := wed.claim_key(_flow.tenant_id, _actor, _key, jsonb_build_array('start', _flow_id, _values));
    IF _before IS NOT NULL THEN RETURN (_before ->> 'wid')::integer; END IF;
  END IF;
  PERFORM wed.refuse_values(_flow, _values);
  _is_noted := wed.check_start(_flow_id, _values);
  SELECT string_agg(quote_ident(k), ', ') INTO _columns FROM jsonb_object_keys(_values) k;
  EXECUTE CASE WHEN _columns IS NULL THEN format('INSERT INTO %I.wed_flow DEFAULT VALUES RETURNING wid',
    _flow.schema_name)
    ELSE
      format('INSERT INTO %1$I.wed_flow (%2$s) SELECT %2$s FROM jsonb_populate_record(NULL::%1$I.wed_flow, $1) '
      'RETURNING wid',
                _flow.schema_name, _columns) END INTO _wid USING _values;
  IF _is_noted THEN PERFORM wed.note_starter(_flow_id, _wid, _actor); END IF;
  IF _key IS NOT NULL THEN
    PERFORM wed.keep_answer(_flow.tenant_id, _actor, _key, jsonb_build_object('wid', _wid));
  END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.start', _wid::text, 'null');
  RETURN _wid;
END $$;

-- Refuses a start that sets an attribute which the flow's definition does not let starts set. Returns true if a task of
-- people is not for who starts the instance: then that is noted (wed.note_starter).
CREATE OR REPLACE FUNCTION wed.check_start(_flow_id integer, _values jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _wrong text;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  SELECT min(k) INTO _wrong FROM jsonb_object_keys(_values) k WHERE k <> ALL (_flow.start_attributes);
  IF _wrong IS NOT NULL THEN
    RAISE EXCEPTION 'a start of flow "%" may not set attribute "%"', _flow.name, left(_wrong, 80)
      USING ERRCODE = 'WF048', HINT = CASE _flow.start_attributes WHEN '{}' THEN 'Each instance of it begins with the '
        'defaults: leave the attribute out, or list it in `start` of the definition.'
        ELSE format('It may set: %s. Leave the attribute out, or add it to `start` of the definition.',
          array_to_string(_flow.start_attributes, ', ')) END;
  END IF;
  RETURN EXISTS (SELECT FROM wed.work_task WHERE flow_id = _flow_id AND not_by = '_START');
END $$;

-- Says which attributes a start of a flow may set, by the list of a definition; null: all.
CREATE OR REPLACE FUNCTION wed.set_start(_flow wed.flow, _start jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _names text[] := CASE WHEN jsonb_typeof(_start) = 'array' THEN ARRAY(
    SELECT n FROM jsonb_array_elements_text(_start) WITH ORDINALITY l(n, at) GROUP BY n ORDER BY min(at)) END;
  _unknown text;
BEGIN
  EXECUTE format('SELECT min(n) FROM unnest($1) n WHERE n NOT IN (SELECT aname FROM %I.wed_attr)', _flow.schema_name)
    INTO _unknown USING _names;
  IF _unknown IS NOT NULL THEN
    RAISE EXCEPTION '`start` names "%", which is no attribute of flow "%"', left(_unknown, 80), _flow.name
      USING ERRCODE = 'WF013', HINT = 'List attributes of the flow, or leave `start` out: then a start may set all.';
  END IF;
  UPDATE wed.flow SET start_attributes = _names
  WHERE flow_id = _flow.flow_id AND start_attributes IS DISTINCT FROM _names;
END $$;

-- Sets open attributes of a running instance: an event, which passes the gate and is traced as _EVENT with who sent it.
-- With a key once within a day, in one transaction with the key: false when it was sent before.
CREATE OR REPLACE FUNCTION wed.send_event(_flow_id integer, _wid integer, _values jsonb, _actor text,
  _key text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _flow wed.flow;
  _columns text;
  _closed text;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  IF _key IS NOT NULL AND wed.claim_key(_flow.tenant_id, _actor, _key, jsonb_build_array('event', _flow_id, _wid,
    _values)) IS NOT NULL THEN
    RETURN false;
  END IF;
  PERFORM wed.refuse_values(_flow, _values);
  SELECT string_agg(format('%I = n.%1$I', k), ', '), min(k) FILTER (WHERE k <> ALL (_flow.open_attributes))
  INTO _columns, _closed FROM jsonb_object_keys(_values) k;
  IF _columns IS NULL THEN
    RAISE EXCEPTION 'no attribute is given' USING ERRCODE = '42703',
      HINT = 'Name open attributes of the flow with their new values.';
  ELSIF _closed IS NOT NULL THEN
    RAISE EXCEPTION 'attribute "%" is not open: an event may not set it', _closed USING ERRCODE = 'WF003',
      HINT = 'Declare it open (wed_attr.open, or `open = true` in flow.toml), or let a transition set it.';
  END IF;
  PERFORM wed.operated(_flow_id, _wid);
  PERFORM set_config('wed.actor', _actor, true);
  EXECUTE format('UPDATE %1$I.wed_flow w SET %2$s FROM %1$I.wed_flow o CROSS JOIN LATERAL jsonb_populate_record(o.*, $1) n
                  WHERE o.wid = $2 AND w.wid = o.wid', _flow.schema_name, _columns) USING _values, _wid;
  UPDATE wed.trace SET note = coalesce(note, _actor)
  WHERE flow_id = _flow_id AND wid = _wid AND trw = '_EVENT' AND tstmp >= now() AND xid = pg_current_xact_id();
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.event', _wid::text,
                        jsonb_build_object('attributes', ARRAY(SELECT jsonb_object_keys(_values) ORDER BY 1)));
  RETURN true;
END $$;

-- Returns what two equal requests have in common: the same for any order of members and any way to write a number.
CREATE OR REPLACE FUNCTION wed.fingerprint(_asked jsonb) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
  SELECT int8send(jsonb_hash_extended(_asked, 1)) || int8send(jsonb_hash_extended(_asked, 2))
$$;

-- Claims a key in the transaction of what is to be done once: null, or the answer that was given under it before.
-- Another transaction with the key is waited for; a key that was used for something else is refused. Keys of a user are
-- one set, whichever token is used.
CREATE OR REPLACE FUNCTION wed.claim_key(_tenant_id integer, _actor text, _key text, _asked jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _user text := wed.owner_of_keys(_actor);
  _before wed.idempotency;
BEGIN
  IF octet_length(_key) NOT BETWEEN 1 AND 255 THEN
    RAISE EXCEPTION 'the key has % bytes, and 1 to 255 are allowed', octet_length(_key) USING ERRCODE = '22023',
      HINT = 'Leave the key out, or choose one for each thing that is to be done once, best a random UUID.';
  END IF;
  INSERT INTO wed.idempotency (tenant_id, user_name, key, fingerprint)
  VALUES (_tenant_id, _user, _key, wed.fingerprint(_asked)) ON CONFLICT DO NOTHING;
  IF FOUND THEN RETURN NULL; END IF;
  SELECT * INTO STRICT _before FROM wed.idempotency WHERE tenant_id = _tenant_id AND user_name = _user AND key = _key;
  IF _before.fingerprint <> wed.fingerprint(_asked) THEN
    RAISE EXCEPTION 'the key "%" was used for something else', left(_key, 80) USING ERRCODE = 'WF046',
      HINT = 'Use a new key for each thing that is to be done once, best a random UUID.';
  END IF;
  RETURN coalesce(_before.answer, '{}');
END $$;

-- Keeps the answer of what was done under a key.
CREATE OR REPLACE FUNCTION wed.keep_answer(_tenant_id integer, _actor text, _key text, _answer jsonb) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  UPDATE wed.idempotency SET answer = _answer
  WHERE tenant_id = _tenant_id AND user_name = wed.owner_of_keys(_actor) AND key = _key
$$;

-- Returns whose keys an actor uses: a token's user, or the actor itself.
CREATE OR REPLACE FUNCTION wed.owner_of_keys(_actor text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT regexp_replace(_actor, '^token:([^/]*)/.*$', '\1')
$$;
