-- Inbound hooks: who may post events to a flow, and what becomes of an event.

-- Makes a hook of a flow, or changes the one of that name; without a secret it keeps its own. Returns its address.
CREATE OR REPLACE FUNCTION wed.set_hook(
  _flow_id integer, _actor text, _name text, _scheme text, _secret text, _acts text, _key text, _attributes jsonb)
RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of_flow_max CONSTANT integer := 50;
  _address text;
  _unknown text;
  _closed text := CASE WHEN _acts <> 'start' THEN wed.closed_attribute(_flow_id, _attributes) END;
BEGIN
  SELECT min(k) INTO _unknown FROM jsonb_object_keys(_attributes) k
  WHERE k NOT IN (SELECT aname FROM wed.attribute WHERE flow_id = _flow_id);
  IF _name !~ '^[a-z0-9][a-z0-9_-]{0,62}$' THEN
    RAISE EXCEPTION 'the hook name "%" is not allowed', left(_name, 80) USING ERRCODE = '23514',
      HINT = 'Use small letters, digits, - and _, at most 63, beginning with a letter or digit.';
  ELSIF _unknown IS NOT NULL THEN
    RAISE EXCEPTION 'the flow has no attribute "%"', left(_unknown, 80) USING ERRCODE = '42703',
      HINT = 'Name attributes of the flow, each with the JSON pointer to its value.';
  ELSIF _acts <> 'start' AND _key IS NULL THEN
    RAISE EXCEPTION 'a hook that sets attributes needs the pointer to the key of the instance' USING ERRCODE = '22023',
      HINT = 'Name it in `key`, for example /data/order.';
  ELSIF _closed IS NOT NULL THEN
    RAISE EXCEPTION 'attribute "%" is not open, and the hook would set it in an instance that runs', _closed
      USING ERRCODE = 'WF003',
      HINT = 'Declare it open in the flow, leave it out, or let the hook start instances only (`acts: start`).';
  END IF;
  UPDATE wed.hook SET scheme = _scheme, secret = coalesce(_secret, secret), acts = _acts, key = _key,
    old_secret = CASE WHEN _secret IS NULL THEN old_secret END,
    old_until = CASE WHEN _secret IS NULL THEN old_until END,
    attributes = _attributes, actor = _actor
  WHERE flow_id = _flow_id AND name = _name RETURNING address INTO _address;
  IF _address IS NULL THEN
    IF (SELECT count(*) FROM wed.hook WHERE flow_id = _flow_id) >= _of_flow_max THEN
      RAISE EXCEPTION 'the flow has % hooks, and no flow may have more', _of_flow_max USING ERRCODE = 'WF020',
        DETAIL = json_build_object('limit', 'hooks of a flow', 'used', _of_flow_max, 'allowed', _of_flow_max)::text,
        HINT = 'Remove one, or let one hook take what several do.';
    END IF;
    INSERT INTO wed.hook (flow_id, name, scheme, secret, acts, key, attributes, actor)
    VALUES (_flow_id, _name, _scheme, _secret, _acts, _key, _attributes, _actor) RETURNING address INTO _address;
  END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'hook.set', _name, jsonb_build_object('scheme', _scheme, 'acts', _acts));
  RETURN _address;
END $$;

-- Returns the first of a hook's attributes that no event may set; null where all are open.
CREATE OR REPLACE FUNCTION wed.closed_attribute(_flow_id integer, _attributes jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT min(k) FROM jsonb_object_keys(_attributes) k JOIN wed.attribute a ON a.flow_id = _flow_id AND a.aname = k
  WHERE k <> ALL (SELECT unnest(open_attributes) FROM wed.flow WHERE flow_id = _flow_id)
$$;

-- Replaces the secret of a hook; messages that are signed with the old one are taken until the overlap ends. Returns
-- the address, none where there is no such hook.
CREATE OR REPLACE FUNCTION wed.rotate_hook(_flow_id integer, _actor text, _name text, _secret text, _overlap interval)
RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _address text;
BEGIN
  IF _overlap NOT BETWEEN '0 seconds' AND '30 days' THEN
    RAISE EXCEPTION 'the old secret stays valid for 30 days at most' USING ERRCODE = '22023',
      HINT = 'Give the time in which the sender takes the new secret over.';
  END IF;
  UPDATE wed.hook SET old_secret = secret, old_until = clock_timestamp() + _overlap, secret = _secret, actor = _actor
  WHERE flow_id = _flow_id AND name = _name RETURNING address INTO _address;
  IF FOUND THEN
    PERFORM wed.note_flow(_actor, _flow_id, 'hook.rotate', _name, jsonb_build_object('overlap', _overlap));
  END IF;
  RETURN _address;
END $$;

-- Removes a hook; false where there is none.
CREATE OR REPLACE FUNCTION wed.remove_hook(_flow_id integer, _actor text, _name text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM wed.hook WHERE flow_id = _flow_id AND name = _name;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'hook.remove', _name, '{}');
  RETURN true;
END $$;

-- Does what a hook's event is to do: sets attributes of the instance under its key, or starts one. Answers null where
-- another event started one under the same key meanwhile; as the last try that is an error.
CREATE OR REPLACE FUNCTION wed.let_act(_hook wed.hook, _values jsonb, _key text, _actor text, _last boolean)
RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _wid integer := wed.find_key(_hook.flow_id, _key, true);
BEGIN
  IF _wid IS NOT NULL AND _hook.acts <> 'start' THEN
    IF _values = '{}' THEN RETURN jsonb_build_object('wid', _wid, 'did', 'nothing'); END IF;
    PERFORM wed.send_event(_hook.flow_id, _wid, _values, _actor, NULL);
    RETURN jsonb_build_object('wid', _wid, 'did', 'set');
  ELSIF _hook.acts = 'set' THEN
    RAISE EXCEPTION 'no instance runs under the key "%"', left(_key, 80) USING ERRCODE = 'WF040',
      HINT = 'Start it first, or let the hook start it (`acts: both`).';
  END IF;
  PERFORM set_config('wed.instance_key', coalesce(_key, ''), true);
  RETURN jsonb_build_object('wid', wed.start_once(_hook.flow_id, _values, _actor, NULL), 'did', 'started');
EXCEPTION WHEN unique_violation OR SQLSTATE 'WF027' THEN
  IF _last THEN RAISE; END IF;
  RETURN NULL;
END $$;

-- Lets an event that a hook received start an instance, or set open attributes of the one that runs under its key; once
-- for its number within a day, in one transaction with it. Answers the instance and what was done.
CREATE OR REPLACE FUNCTION wed.take_event(_hook_id integer, _event_id text, _values jsonb, _key text) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _hook wed.hook;
  _tenant_id integer;
  _actor text;
  _answer jsonb;
BEGIN
  SELECT * INTO _hook FROM wed.hook WHERE hook_id = _hook_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the hook was removed' USING ERRCODE = 'WF040', HINT = 'Make it anew.';
  END IF;
  SELECT tenant_id, format('hook:%s/%s', name, _hook.name) INTO _tenant_id, _actor
  FROM wed.flow WHERE flow_id = _hook.flow_id;
  _answer := wed.claim_key(_tenant_id, _actor, _event_id, to_jsonb(_hook_id));
  IF _answer IS NOT NULL THEN RETURN _answer || '{"repeated": true}'; END IF;
  PERFORM set_config('wed.actor', _actor, true);
  FOR _try IN 1..3 LOOP
    _answer := wed.let_act(_hook, _values, _key, _actor, _try = 3);
    EXIT WHEN _answer IS NOT NULL;
  END LOOP;
  _answer := _answer || '{"repeated": false}';
  PERFORM wed.keep_answer(_tenant_id, _actor, _event_id, _answer);
  RETURN _answer;
END $$;
