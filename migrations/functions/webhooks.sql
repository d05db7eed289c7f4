-- Announcements through an outbox (decision 0041).

-- Chore `exceptions`: instances that became exceptions are announced: a message for each of their webhooks goes into
-- the outbox, and the channel wed_exception is notified with numbers only. Two hosts announce each once.

-- Exceptions that nobody was told of: of each flow the 50 that have waited longest.
CREATE OR REPLACE FUNCTION wed.due_exceptions()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE flow(flow_id) AS (
    SELECT min(i.flow_id) FROM wed.instance i
    WHERE i.status = 'E' AND (i.announced_at IS NULL OR i.announced_at < i.changed)
    UNION ALL
    SELECT (SELECT min(i.flow_id) FROM wed.instance i
            WHERE i.status = 'E' AND (i.announced_at IS NULL OR i.announced_at < i.changed)
              AND i.flow_id > flow.flow_id)
    FROM flow WHERE flow.flow_id IS NOT NULL)
  SELECT f.tenant_id, f.flow_id, i.wid, 0, i.changed FROM flow JOIN wed.flow f USING (flow_id)
  CROSS JOIN LATERAL (
    SELECT i.wid, i.changed FROM wed.instance i
    WHERE i.flow_id = f.flow_id AND i.status = 'E' AND (i.announced_at IS NULL OR i.announced_at < i.changed)
      AND NOT EXISTS (SELECT FROM wed.postponed p WHERE p.kind = 'exceptions' AND p.flow_id = f.flow_id
        AND p.thing = i.wid AND p.tgid = 0 AND p.tenant_id = f.tenant_id AND p.until > clock_timestamp())
    ORDER BY i.wid LIMIT 50) i
$$;

-- Announces one. Returns what a host says of it: tenant, flow, wid, message.
CREATE OR REPLACE FUNCTION wed.do_exceptions(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _changed timestamptz;
  _said jsonb;
BEGIN
  PERFORM FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE wed.instance SET announced_at = clock_timestamp()
  WHERE flow_id = _flow_id AND wid = _wid AND status = 'E' AND (announced_at IS NULL OR announced_at < changed)
  RETURNING changed INTO _changed;
  IF NOT FOUND THEN RETURN 'false'; END IF;
  SELECT jsonb_build_object('tenant', t.name, 'flow', f.name, 'wid', _wid, 'seq', r.seq, 'transition', g.trname,
    'outcome', 'exception', 'message', r.note)
  INTO STRICT _said
  FROM wed.flow f JOIN wed.tenant t USING (tenant_id)
  LEFT JOIN LATERAL (SELECT r.seq, r.note, r.tgid FROM wed.trace r WHERE r.flow_id = _flow_id AND r.wid = _wid
                       AND r.status = 'E' ORDER BY r.seq DESC LIMIT 1) r ON true
  LEFT JOIN wed.trigger g ON g.tgid = r.tgid WHERE f.flow_id = _flow_id;
  INSERT INTO wed.outbox (webhook_id, tenant_id, body)
  SELECT w.webhook_id, _tenant_id, jsonb_build_object('type', 'instance.exception', 'timestamp', wed.rfc3339(_changed),
    'data', _said)
  FROM wed.webhook w WHERE w.tenant_id = _tenant_id AND (w.flow_id IS NULL OR w.flow_id = _flow_id)
    AND 'instance.exception' = ANY (w.events) AND w.ended_at IS NULL AND NOT wed.has_backlog(w.webhook_id);
  PERFORM pg_notify('wed_exception', '');
  RETURN _said;
END $$;

-- Tells webhooks what a commit did to instances, in its transaction: started, final, attributes changed. A message
-- names the instance and the attributes, and holds none of their values.
CREATE OR REPLACE FUNCTION wed.tell_changes(_decisions wed.decision[], _now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM wed.webhook WHERE events && '{instance.started,instance.final,instance.changed}'
                 AND ended_at IS NULL) THEN
    RETURN;
  END IF;
  INSERT INTO wed.outbox (webhook_id, tenant_id, body)
  SELECT w.webhook_id, w.tenant_id, jsonb_build_object('type', e.type, 'timestamp', wed.rfc3339(_now), 'data',
    jsonb_strip_nulls(jsonb_build_object('tenant', t.name, 'flow', f.name, 'wid', i.wid,
      'seq', (d.outcome).seq, 'transition', d.trw, 'attributes', e.attributes, 'outcome',
      CASE e.type WHEN 'instance.final' THEN CASE d.trw WHEN '_CANCEL' THEN 'cancelled' ELSE 'final' END END)))
  FROM unnest(_decisions) d CROSS JOIN LATERAL (SELECT (d.instance).*) i
  JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id)
  JOIN wed.webhook w ON w.tenant_id = f.tenant_id AND (w.flow_id IS NULL OR w.flow_id = f.flow_id)
    AND w.events && '{instance.started,instance.final,instance.changed}' AND w.ended_at IS NULL
  CROSS JOIN LATERAL wed.events_of(d, w) e
  WHERE NOT wed.has_backlog(w.webhook_id);
END $$;

-- Returns the events of one decision that a webhook hears of.
CREATE OR REPLACE FUNCTION wed.events_of(_decision wed.decision, _webhook wed.webhook)
RETURNS TABLE (type text, attributes jsonb)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _changed jsonb;
BEGIN
  IF (_decision).outcome.seq = 1 AND 'instance.started' = ANY ((_webhook).events) THEN
    RETURN QUERY SELECT 'instance.started', NULL::jsonb;
  END IF;
  IF (_decision).outcome.seq > 1 AND 'instance.changed' = ANY ((_webhook).events) THEN
    _changed := wed.changed_attributes((_decision).instance, (_decision).outcome.seq, (_webhook).attributes);
    IF _changed IS NOT NULL THEN RETURN QUERY SELECT 'instance.changed', _changed; END IF;
  END IF;
  IF (_decision).outcome.becomes = 'F' AND 'instance.final' = ANY ((_webhook).events) THEN
    RETURN QUERY SELECT 'instance.final', NULL::jsonb;
  END IF;
END $$;

-- Returns the attributes, of those named or of all, whose value differs from the state before; null for none.
CREATE OR REPLACE FUNCTION wed.changed_attributes(_row wed.evaluated, _seq integer, _named text[]) RETURNS jsonb
LANGUAGE sql STABLE AS $$
  SELECT jsonb_agg(n.key ORDER BY n.key)
  FROM (SELECT state::jsonb AS state FROM wed.trace
        WHERE flow_id = _row.flow_id AND wid = _row.wid AND seq < _seq
        ORDER BY seq DESC LIMIT 1) before,
    jsonb_each(_row.state::jsonb) n
  WHERE n.value IS DISTINCT FROM before.state -> n.key AND (_named = '{}' OR n.key = ANY (_named))
$$;

-- Returns whether ten thousand messages of a webhook wait: one that takes nothing for long hears of no more.
CREATE OR REPLACE FUNCTION wed.has_backlog(_webhook_id integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM wed.outbox WHERE webhook_id = _webhook_id OFFSET 9999)
$$;

-- Tells webhooks of at most _limit jobs that are pending for longer than they say, each once. Waits for nobody.
CREATE OR REPLACE FUNCTION wed.announce_waiting(_limit integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _count bigint;
BEGIN
  DELETE FROM wed.waiting_told d WHERE NOT EXISTS (SELECT FROM wed.job j
    WHERE (j.flow_id, j.wid, j.tgid) = (d.flow_id, d.wid, d.tgid));
  WITH waiting AS MATERIALIZED (
    SELECT w.webhook_id, w.tenant_id, j.flow_id, j.wid, j.tgid, j.trname, j.fired_at
    FROM wed.webhook w CROSS JOIN LATERAL (
      SELECT j.* FROM wed.job j
      WHERE j.tenant_id = w.tenant_id AND (w.flow_id IS NULL OR j.flow_id = w.flow_id)
        AND j.fired_at < clock_timestamp() - w.waits_over AND NOT (j.is_wait AND j.due > clock_timestamp())
        AND NOT EXISTS (SELECT FROM wed.waiting_told d
          WHERE (d.webhook_id, d.flow_id, d.wid, d.tgid) = (w.webhook_id, j.flow_id, j.wid, j.tgid))
      LIMIT _limit) j
    WHERE 'job.waiting' = ANY (w.events) AND w.ended_at IS NULL AND NOT wed.has_backlog(w.webhook_id)
  ), told AS (
    INSERT INTO wed.waiting_told SELECT webhook_id, flow_id, wid, tgid FROM waiting ON CONFLICT DO NOTHING
    RETURNING webhook_id, flow_id, wid, tgid)
  INSERT INTO wed.outbox (webhook_id, tenant_id, body)
  SELECT w.webhook_id, w.tenant_id, jsonb_build_object('type', 'job.waiting', 'timestamp',
    wed.rfc3339(clock_timestamp()), 'data', jsonb_strip_nulls(jsonb_build_object('tenant', t.name, 'flow', f.name,
      'wid', w.wid, 'transition', w.trname, 'since', wed.rfc3339(w.fired_at),
      'reason', wed.waiting_reason(w.flow_id, w.wid, w.tgid))))
  FROM told JOIN waiting w USING (webhook_id, flow_id, wid, tgid) JOIN wed.flow f USING (flow_id)
  JOIN wed.tenant t ON t.tenant_id = w.tenant_id;
  GET DIAGNOSTICS _count = ROW_COUNT;
  RETURN _count;
END $$;

-- Makes a webhook that sends a tenant's events, of one flow or (null) of all, to a URL, or changes the one of this URL.
-- Answers its name and, only for a new webhook, the secret that signs its messages (Standard Webhooks).
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

-- Removes the webhook of a URL with its undelivered messages.
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

-- Takes due messages of the outbox for a host, so that with those under way (_busy: the webhook of each) at most 4 per
-- webhook and 32 per tenant are. Webhooks come in random order.
CREATE OR REPLACE FUNCTION wed.take_messages(_busy integer[], _limit integer)
RETURNS TABLE (message_id bigint, webhook_id integer, tenant text, webhook text, url text,
  secrets text[], name text, body text, attempt integer)
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH share AS MATERIALIZED (
    SELECT w.webhook_id, w.tenant_id, random() AS turn, b.under_way
    FROM wed.webhook w
    CROSS JOIN LATERAL (SELECT count(*) AS under_way FROM unnest(_busy) u WHERE u = w.webhook_id) b
    WHERE w.tenant_id <> ALL (wed.moving_tenants())
  ), room AS (
    SELECT s.webhook_id, s.turn, s.room, sum(s.room) OVER (ORDER BY s.turn) AS all_rooms
    FROM (SELECT s.webhook_id, s.turn, least(4 - s.under_way, 32 - sum(s.under_way) OVER (PARTITION BY s.tenant_id)
            - 4 * (row_number() OVER (PARTITION BY s.tenant_id ORDER BY s.turn) - 1))::integer AS room
          FROM share s
          WHERE EXISTS (SELECT FROM wed.outbox o WHERE o.webhook_id = s.webhook_id AND o.due <= clock_timestamp()
              AND o.dead_at IS NULL)
            OR s.under_way > 0) s
    WHERE s.room > 0)
  SELECT m.* FROM room r CROSS JOIN LATERAL wed.take_messages_of(r.webhook_id, r.room) m
  WHERE r.all_rooms <= _limit
$$;

-- Takes messages of a webhook, those due longest. Each is due again after a pause that doubles from 2 s to an hour: who
-- delivers one deletes it, and who dies meanwhile leaves it to others. After 24 attempts (about 15 hours) a message
-- is a dead letter (wed.message_failed).
CREATE OR REPLACE FUNCTION wed.take_messages_of(_webhook_id integer, _most integer)
RETURNS TABLE (message_id bigint, webhook_id integer, tenant text, webhook text, url text,
  secrets text[], name text, body text, attempt integer)
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH due AS MATERIALIZED (
    SELECT o.message_id FROM wed.outbox o
    WHERE o.webhook_id = _webhook_id AND o.due <= clock_timestamp() AND o.dead_at IS NULL
    ORDER BY o.due LIMIT _most FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE wed.outbox o SET attempt = o.attempt + 1,
      due = clock_timestamp() + least(2 ^ (o.attempt + 1), 3600) * (0.9 + 0.2 * random()) * interval '1 second' +
        interval '15 seconds'
    FROM due WHERE o.message_id = due.message_id
    RETURNING o.message_id, o.webhook_id, o.tenant_id, o.name, o.body, o.attempt)
  SELECT k.message_id, k.webhook_id, t.name, w.name, w.url,
    array_remove(ARRAY[w.secret, CASE WHEN w.old_until > clock_timestamp() THEN w.old_secret END], NULL), k.name,
    k.body::text, k.attempt
  FROM taken k JOIN wed.webhook w USING (webhook_id) JOIN wed.tenant t ON t.tenant_id = k.tenant_id
  ORDER BY k.message_id
$$;

-- Records why a message of the outbox was not delivered. It is due again after a pause that grows with its attempts,
-- and a dead letter after 24. A receiver that is gone for good (410) ends its webhook: all its messages are dead
-- letters.
CREATE OR REPLACE FUNCTION wed.message_failed(_message_id bigint, _error text, _is_gone boolean) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  UPDATE wed.outbox SET last_error = left(_error, 1000), due = clock_timestamp() + least(2 ^ attempt,
    3600) * (0.9 + 0.2 * random()) * interval '1 second',
    dead_at = CASE WHEN attempt >= 24 THEN clock_timestamp() END
  WHERE message_id = _message_id;
  UPDATE wed.webhook w SET ended_at = clock_timestamp()
  FROM wed.outbox o WHERE _is_gone AND o.message_id = _message_id AND w.webhook_id = o.webhook_id;
  UPDATE wed.outbox o SET dead_at = clock_timestamp()
  FROM wed.outbox one WHERE _is_gone AND one.message_id = _message_id AND o.webhook_id = one.webhook_id
    AND o.dead_at IS NULL
$$;
