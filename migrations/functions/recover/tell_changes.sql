-- Tells webhooks what a commit did to instances, in its transaction: started, final, attributes changed. A message
-- names the instance and the attributes, and holds none of their values.
CREATE OR REPLACE FUNCTION wed.tell_changes(_passing wed.passing[], _now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM wed.webhook WHERE events && '{instance.started,instance.final,instance.changed}'
                 AND ended_at IS NULL) THEN
    RETURN;
  END IF;
  INSERT INTO wed.outbox (webhook_id, tenant_id, body)
  SELECT w.webhook_id, w.tenant_id, jsonb_build_object('type', e.type, 'timestamp', wed.rfc3339(_now), 'data',
    jsonb_strip_nulls(jsonb_build_object('tenant', t.name, 'flow', f.name, 'wid', p.wid, 'seq', p.seq,
      'transition', p.trw, 'attributes', e.attributes)))
  FROM unnest(_passing) p JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id)
  JOIN wed.webhook w ON w.tenant_id = f.tenant_id AND (w.flow_id IS NULL OR w.flow_id = f.flow_id)
    AND w.events && '{instance.started,instance.final,instance.changed}' AND w.ended_at IS NULL
  CROSS JOIN LATERAL wed.events_of(p, w) e
  WHERE NOT wed.has_backlog(w.webhook_id);
END $$;

-- Returns the events of one passing that a webhook hears of.
CREATE OR REPLACE FUNCTION wed.events_of(_passing wed.passing, _webhook wed.webhook)
RETURNS TABLE (type text, attributes jsonb)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _changed jsonb;
BEGIN
  IF (_passing).seq = 1 AND 'instance.started' = ANY ((_webhook).events) THEN
    RETURN QUERY SELECT 'instance.started', NULL::jsonb;
  END IF;
  IF (_passing).seq > 1 AND 'instance.changed' = ANY ((_webhook).events) THEN
    _changed := wed.changed_attributes(_passing, (_webhook).attributes);
    IF _changed IS NOT NULL THEN RETURN QUERY SELECT 'instance.changed', _changed; END IF;
  END IF;
  IF (_passing).becomes = 'F' AND 'instance.final' = ANY ((_webhook).events) THEN
    RETURN QUERY SELECT 'instance.final', NULL::jsonb;
  END IF;
END $$;

-- Returns the attributes, of those named or of all, whose value differs from the state before; null for none.
CREATE OR REPLACE FUNCTION wed.changed_attributes(_passing wed.passing, _named text[]) RETURNS jsonb
LANGUAGE sql STABLE AS $$
  SELECT jsonb_agg(n.key ORDER BY n.key)
  FROM (SELECT state::jsonb AS state FROM wed.trace
        WHERE flow_id = (_passing).flow_id AND wid = (_passing).wid AND seq < (_passing).seq
        ORDER BY seq DESC LIMIT 1) before,
    jsonb_each((_passing).state::jsonb) n
  WHERE n.value IS DISTINCT FROM before.state -> n.key AND (_named = '{}' OR n.key = ANY (_named))
$$;

-- Whether ten thousand messages of a webhook wait: one that takes nothing for long hears of no more.
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
        AND j.fired_at < clock_timestamp() - w.waits_over
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
