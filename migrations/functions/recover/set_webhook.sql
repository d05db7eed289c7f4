-- Tells a URL of a tenant's events, of one flow or (null) of all. Answers the webhook's name, and the secret that signs
-- its messages (Standard Webhooks) when the webhook is new: it is told once.
CREATE OR REPLACE FUNCTION wed.set_webhook(_tenant_id integer, _flow_id integer, _url text, _events text[],
  _attributes text[], _waits_over interval, _actor text, OUT name text, OUT secret text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _is_new boolean;
BEGIN
  PERFORM wed.refuse_webhook(_tenant_id, _flow_id, _url, _events);
  INSERT INTO wed.webhook AS w (tenant_id, flow_id, url, secret, actor, events, attributes, waits_over)
  VALUES (_tenant_id, _flow_id, _url, wed.webhook_secret(), _actor, coalesce(_events, '{instance.exception}'),
    coalesce(_attributes, '{}'), coalesce(_waits_over, '1 hour'))
  ON CONFLICT (tenant_id, flow_id, url) DO UPDATE SET actor = excluded.actor, ended_at = NULL,
    events = coalesce(_events, w.events), attributes = coalesce(_attributes, w.attributes),
    waits_over = coalesce(_waits_over, w.waits_over)
  RETURNING w.name, w.secret, w.xmax = 0 INTO name, secret, _is_new;
  IF NOT _is_new THEN secret := NULL; END IF;
  PERFORM wed.note_webhook(_actor, name, 'webhook.set', jsonb_build_object('events', _events));
END $$;

-- Refuses a webhook that cannot be told of anything.
CREATE OR REPLACE FUNCTION wed.refuse_webhook(_tenant_id integer, _flow_id integer, _url text, _events text[])
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _known text[] := '{instance.started,instance.final,instance.changed,instance.exception,job.waiting}';
BEGIN
  IF _url !~ '^https?://[^[:space:]@]+$' OR octet_length(_url) > 2048 THEN
    RAISE EXCEPTION 'the URL "%" is none that messages can be posted to', left(_url, 200) USING ERRCODE = '22023',
      HINT = 'It begins with http:// or https://, has no blanks and no user name, and at most 2048 bytes.';
  ELSIF NOT _events <@ _known OR cardinality(_events) NOT BETWEEN 1 AND 10 THEN
    RAISE EXCEPTION 'these are no events of a webhook: %', left(array_to_string(_events, ', '), 200)
      USING ERRCODE = '22023', HINT = 'Choose from ' || array_to_string(_known, ', ') || '.';
  ELSIF (SELECT count(*) FROM wed.webhook w WHERE w.tenant_id = _tenant_id
         AND (w.url, w.flow_id) IS DISTINCT FROM (_url, _flow_id)) >= 50 THEN
    RAISE EXCEPTION 'the tenant has 50 webhooks already' USING ERRCODE = 'WF047', HINT = 'Remove one first.';
  END IF;
END $$;

-- Tells a URL nothing more; what was not delivered is dropped.
CREATE OR REPLACE FUNCTION wed.remove_webhook(_tenant_id integer, _flow_id integer, _url text, _actor text)
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _name text := (SELECT name FROM wed.webhook WHERE tenant_id = _tenant_id
    AND flow_id IS NOT DISTINCT FROM _flow_id AND url = _url);
BEGIN
  IF _name IS NULL THEN PERFORM wed.no_webhook(_url); END IF;
  PERFORM wed.note_webhook(_actor, _name, 'webhook.remove', '{}');
  DELETE FROM wed.webhook WHERE name = _name;
END $$;

-- Replaces the secret of a webhook and answers the new one. Messages are signed with both until the old one ends.
CREATE OR REPLACE FUNCTION wed.rotate_webhook(_tenant_id integer, _name text, _overlap interval, _actor text)
RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _secret text;
BEGIN
  IF _overlap NOT BETWEEN '0 seconds' AND '30 days' THEN
    RAISE EXCEPTION 'the old secret stays valid for 30 days at most' USING ERRCODE = '22023',
      HINT = 'Give the time in which the receiver takes the new secret over.';
  END IF;
  UPDATE wed.webhook SET old_secret = secret, old_until = clock_timestamp() + _overlap, secret = wed.webhook_secret()
  WHERE tenant_id = _tenant_id AND name = _name RETURNING secret INTO _secret;
  IF NOT FOUND THEN PERFORM wed.no_webhook(_name); END IF;
  PERFORM wed.note_webhook(_actor, _name, 'webhook.rotate', jsonb_build_object('overlap', _overlap));
  RETURN _secret;
END $$;

-- Sends a webhook a message of the type webhook.test; answers the message's name.
CREATE OR REPLACE FUNCTION wed.test_webhook(_tenant_id integer, _name text, _actor text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _message text;
BEGIN
  INSERT INTO wed.outbox (webhook_id, tenant_id, body)
  SELECT w.webhook_id, w.tenant_id, jsonb_build_object('type', 'webhook.test', 'timestamp',
    wed.rfc3339(clock_timestamp()), 'data', jsonb_build_object('tenant', t.name))
  FROM wed.webhook w JOIN wed.tenant t USING (tenant_id) WHERE w.tenant_id = _tenant_id AND w.name = _name
  RETURNING name INTO _message;
  IF NOT FOUND THEN PERFORM wed.no_webhook(_name); END IF;
  PERFORM wed.note_webhook(_actor, _name, 'webhook.test', '{}');
  RETURN _message;
END $$;

-- Sends messages of a webhook again whose delivery was given up: one, or all of them. Answers how many.
CREATE OR REPLACE FUNCTION wed.redeliver(_tenant_id integer, _name text, _message text, _actor text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _id integer := (SELECT webhook_id FROM wed.webhook WHERE tenant_id = _tenant_id AND name = _name);
  _count bigint;
BEGIN
  IF _id IS NULL THEN PERFORM wed.no_webhook(_name); END IF;
  UPDATE wed.webhook SET ended_at = NULL WHERE webhook_id = _id AND ended_at IS NOT NULL;
  UPDATE wed.outbox SET dead_at = NULL, attempt = 0, due = clock_timestamp()
  WHERE webhook_id = _id AND CASE WHEN _message IS NULL THEN dead_at IS NOT NULL ELSE name = _message END;
  GET DIAGNOSTICS _count = ROW_COUNT;
  IF _count = 0 AND _message IS NOT NULL THEN
    RAISE EXCEPTION 'there is no message "%"', left(_message, 80) USING ERRCODE = 'WF040',
      HINT = 'A message that was delivered is kept no longer.';
  END IF;
  PERFORM wed.note_webhook(_actor, _name, 'webhook.redeliver', jsonb_build_object('messages', _count));
  RETURN _count;
END $$;

-- Makes a secret of 32 random bytes.
CREATE OR REPLACE FUNCTION wed.webhook_secret() RETURNS text
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'whsec_' || encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64')
$$;

-- Hides of a URL what may be a secret: all behind its host and port.
CREATE OR REPLACE FUNCTION wed.masked_url(_url text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT regexp_replace(_url, '^(https?://[^/?#]+).+$', '\1/…')
$$;

-- Puts on record what was done to a webhook.
CREATE OR REPLACE FUNCTION wed.note_webhook(_actor text, _name text, _action text, _detail jsonb) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT wed.note(_actor, t.name, _action, _name, jsonb_build_object('url', wed.masked_url(w.url), 'flow', f.name)
    || jsonb_strip_nulls(_detail))
  FROM wed.webhook w JOIN wed.tenant t USING (tenant_id) LEFT JOIN wed.flow f ON f.flow_id = w.flow_id
  WHERE w.name = _name
$$;

CREATE OR REPLACE FUNCTION wed.no_webhook(_name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'there is no webhook %', left(_name, 200) USING ERRCODE = 'WF040',
    HINT = '`wed webhook list` shows the webhooks there are.';
END $$;
