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
    'message', r.note)
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
