-- Announces instances that became exceptions: answers at most _limit that nobody was told of, puts a message for each
-- webhook of theirs into the outbox, and notifies the channel wed_exception with numbers only. Two hosts announce
-- each once.
CREATE OR REPLACE FUNCTION wed.announce_exceptions(_limit integer)
RETURNS TABLE (tenant text, flow text, flow_id integer, wid integer, message text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    WITH new AS MATERIALIZED (
      SELECT i.flow_id, i.wid FROM wed.instance i
      WHERE i.status = 'E' AND (i.announced_at IS NULL OR i.announced_at < i.changed)
      ORDER BY i.flow_id, i.wid LIMIT _limit FOR UPDATE SKIP LOCKED
    ), told AS MATERIALIZED (
      UPDATE wed.instance i SET announced_at = clock_timestamp() FROM new
      WHERE i.flow_id = new.flow_id AND i.wid = new.wid RETURNING i.flow_id, i.wid, i.changed
    ), said AS MATERIALIZED (
      SELECT t.tenant_id, t.name AS tenant, f.name AS flow, told.flow_id, told.wid, told.changed, r.seq, r.note,
        g.trname
      FROM told JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id)
      LEFT JOIN LATERAL (SELECT r.seq, r.note, r.tgid FROM wed.trace r
                         WHERE r.flow_id = told.flow_id AND r.wid = told.wid
                           AND r.status = 'E' ORDER BY r.seq DESC LIMIT 1) r ON true
      LEFT JOIN wed.trigger g ON g.tgid = r.tgid
    ), written AS (
      INSERT INTO wed.outbox (webhook_id, tenant_id, body)
      SELECT w.webhook_id, s.tenant_id, jsonb_build_object('type', 'instance.exception',
        'timestamp', wed.rfc3339(s.changed), 'data', jsonb_build_object(
               'tenant', s.tenant, 'flow', s.flow, 'wid', s.wid, 'seq', s.seq, 'transition', s.trname, 'message',
                 s.note))
      FROM said s JOIN wed.webhook w ON w.tenant_id = s.tenant_id AND (w.flow_id IS NULL OR w.flow_id = s.flow_id)
        AND 'instance.exception' = ANY (w.events) AND w.ended_at IS NULL
      -- One that takes nothing for long hears of the first ten thousand.
      WHERE NOT wed.has_backlog(w.webhook_id))
    SELECT s.tenant, s.flow, s.flow_id, s.wid, s.note FROM said s;
  IF FOUND THEN PERFORM pg_notify('wed_exception', ''); END IF;
END $$;
