-- Queues the requests of some jobs, with the keys that each needs. One that holds the same already needs nothing
-- more. An instance for whose keys others wait is served first (wed.holds_up). Answers which were queued, by their
-- places in the arrays.
CREATE OR REPLACE FUNCTION wed.queue_requests(
  _flow wed.flow, _jobs tid[], _wids integer[], _tgids integer[], _keys jsonb[], _ready timestamptz) RETURNS integer[]
LANGUAGE plpgsql AS $$
DECLARE
  _asked integer[];
BEGIN
  WITH k AS MATERIALIZED (
    SELECT u.job, u.wid, u.tgid, u.keys, u.at::integer AS at, c.holds, c.consumes, coalesce(c.resource, '#' ||
        _flow.flow_id) AS resource, t.priority,
           -- A pause makes the delay longer by its own shift, and keeps the job when it is due.
           coalesce(_ready, now() + CASE WHEN t.delay >= '8000 years' THEN t.delay - interval '8000 years'
               ELSE t.delay END) AS ready_at,
           nextval('wed.request_request_id_seq') AS request_id,
           wed.holds_up(_flow.flow_id, u.wid) AS holds_up
    FROM ROWS FROM (unnest(_jobs), unnest(_wids), unnest(_tgids), unnest(_keys)) WITH ORDINALITY u(job, wid, tgid,
        keys, at)
    JOIN wed.trigger_constraint c ON c.tgid = u.tgid AND c.keys IS NOT NULL JOIN wed.trigger t ON t.tgid = u.tgid
    WHERE u.keys <> '{}' AND NOT EXISTS (
      SELECT FROM wed.request r WHERE r.flow_id = _flow.flow_id AND r.wid = u.wid AND r.tgid = u.tgid AND r.state = 'h'
        AND u.keys = (SELECT jsonb_object_agg(v.key, v.amount) FROM wed.reservation v
            WHERE v.request_id = r.request_id))
  ), asked AS (
    INSERT INTO wed.request (request_id, tenant_id, flow_id, wid, tgid, state, holds, consumes, leads, ready_at)
    OVERRIDING SYSTEM VALUE
    SELECT k.request_id, _flow.tenant_id, _flow.flow_id, k.wid, k.tgid, CASE WHEN k.ready_at > now() THEN 'd'
        ELSE 'n' END, k.holds,
           k.consumes, row_number() OVER (PARTITION BY k.ready_at > now()) = 1, k.ready_at FROM k
  ), named AS (
    INSERT INTO wed.reservation (request_id, tenant_id, resource, key, amount, priority, held)
    SELECT k.request_id, _flow.tenant_id, k.resource, e.key, (e.value #>> '{}')::numeric,
           CASE WHEN k.holds_up THEN 2147483647 ELSE k.priority END, CASE WHEN k.ready_at <= now() THEN false END
    FROM k CROSS JOIN LATERAL jsonb_each(k.keys) e
  ), waits AS (
    UPDATE wed.job j SET blocked = 'r' FROM k WHERE j.ctid = k.job)
  SELECT array_agg(k.at) INTO _asked FROM k;
  RETURN _asked;
END $$;

-- Tells of an instance whether another request waits for a key that it holds. Its own requests come before those of
-- equal standing then: behind a request that waits for it, both would wait for ever. An instance that holds what nobody
-- wants queues like all others.
CREATE OR REPLACE FUNCTION wed.holds_up(_flow_id integer, _wid integer) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM wed.request r JOIN wed.reservation v USING (request_id)
    JOIN wed.reservation n ON n.tenant_id = v.tenant_id AND n.resource = v.resource AND n.key = v.key AND NOT n.held
    WHERE r.flow_id = _flow_id AND r.wid = _wid AND r.state = 'h' AND v.held);
END $$;
