-- The last part of the gate, for every way into it, in one statement: the finished job out, fired jobs
-- in, trace appended, exception or final decided. In a host's commit the finished job's row becomes the
-- first fired one's, leased to the same host, unless it wants others to have a turn (_lease false). Returns
-- the jobs that were leased.
CREATE OR REPLACE FUNCTION wed.settle(
  _rows wed.evaluated[], _tgids integer[], _tokens bigint[], _host_id integer DEFAULT NULL,
  _trw text DEFAULT NULL, _forced text DEFAULT NULL, _note text DEFAULT NULL,
  _fuel bigint[] DEFAULT NULL, _us bigint[] DEFAULT NULL, _memory bigint[] DEFAULT NULL, _lease boolean DEFAULT true)
RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _writer text := CASE WHEN _host_id IS NULL THEN session_user::text ELSE 'host:' || _host_id END;
  _ending integer := coalesce(cardinality(array_remove(_tgids, NULL)), 0);
BEGIN
  RETURN QUERY
    WITH p AS MATERIALIZED (
      -- First what the parts below choose by: what stands behind columns of varying length costs more to look at.
      SELECT k.turns, NOT k.turns OR cardinality(p.fire) > 1 OR p.becomes <> coalesce(p.was, 'R') AS more,
             p.*, t.tgname AS next_tgname, t.trname AS next_trname, t.timeout AS next_timeout,
             t.timeout_ms AS next_timeout_ms, t.priority AS next_priority, t.component_id AS next_component, t.constrained AS next_constrained,
             CASE WHEN k.turns THEN nextval('wed.fence') END AS token
      FROM wed.gather(_rows, _tgids, _tokens, _trw, _forced, _fuel, _us, _memory) p
      -- One look for each, however few triggers there were when the plan was made.
      LEFT JOIN LATERAL (
        SELECT tgname, trname, timeout, timeout_ms, priority, component_id, delay, constrained FROM wed.trigger
        WHERE tgid = p.fire[1] OFFSET 0) t ON true
      CROSS JOIN LATERAL (
        SELECT (_lease AND _host_id IS NOT NULL AND p.own IS NOT NULL AND t.component_id IS NOT NULL
                AND t.delay = '0' AND (NOT t.constrained OR _trw IS NULL)) IS TRUE AS turns) k
    ), rest AS MATERIALIZED (
      -- Most just go on: those of which there is more to do are chosen once. (An instance that goes on is no new exception.)
      SELECT p.*, cardinality(p.fire) > p.turns::integer AS forks, p.own IS NOT NULL AND NOT p.turns AS ends,
             p.becomes = 'E' AND NOT p.excpt AS excepts, p.becomes <> coalesce(p.was, 'R') AS changes,
             p.others + cardinality(p.fire) + (p.becomes = 'E' AND NOT p.excpt)::integer - 1 AS beside
      FROM p WHERE p.more
    ), turned AS (
      UPDATE wed.job j SET tgid = p.tgid, trname = p.next_trname, timeout = p.next_timeout, seq = p.seq,
        last_seq = p.seq, priority = p.next_priority, fired_at = _now, attempt = 1,
        component_id = p.next_component, token = p.token, version = p.version,
        satisfied = p.satisfied, beside = p.beside, payload = NULL
      -- Only what it needs: a row that an update is joined to is made into one value, should the other be updated meanwhile.
      FROM (SELECT q.own, q.fire[1] AS tgid, q.next_trname, q.next_timeout, q.seq, q.next_priority, q.next_component,
                   q.token, q.version, q.satisfied, q.others + cardinality(q.fire) - 1 AS beside FROM p q WHERE q.turns OFFSET 0) p
      WHERE j.ctid = p.own RETURNING 1
    ), ended AS (
      DELETE FROM wed.job j USING rest p WHERE p.ends AND j.ctid = p.own RETURNING 1
    ), fired AS (
      INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at, attempt,
                           component_id, host_id, token, version, satisfied, beside, blocked)
      SELECT p.flow_id, t.tenant_id, p.wid, t.tgid, t.trname, t.timeout, p.seq, p.seq, t.priority,
             CASE WHEN t.constrained AND NOT l.leased THEN 'infinity' ELSE now() + t.delay END, _now,
             l.leased::integer, t.component_id, CASE WHEN l.leased THEN _host_id END,
             CASE WHEN l.leased THEN nextval('wed.fence') ELSE 0 END, p.version, p.satisfied, p.beside,
             CASE WHEN t.constrained AND NOT l.leased THEN 'a'::"char" END
      FROM rest p
      CROSS JOIN LATERAL unnest(CASE WHEN p.turns THEN p.fire[2:] ELSE p.fire END) f(tgid)
      JOIN wed.trigger t ON t.tgid = f.tgid
      CROSS JOIN LATERAL (SELECT _lease AND _host_id IS NOT NULL AND t.component_id IS NOT NULL AND t.delay = '0'
                                 AND (NOT t.constrained OR _trw IS NULL) AS leased) l
      -- Most rows fire nothing beside: they are left out before the list is taken apart.
      WHERE p.forks
      -- Wake the others: external workers by the papers' channel, one notification a job; hosts by one for
      -- the whole transaction (Postgres drops equal ones). Notifications carry numbers only. A transaction that
      -- notifies keeps all others that do waiting while it commits, so a host that leaves jobs to others tells
      -- them afterwards (tell_hosts).
      RETURNING flow_id, wid, tgid, trname, token, component_id, host_id, CASE
        WHEN blocked IS NOT NULL THEN NULL
        WHEN component_id IS NULL THEN pg_notify(trname, format('{"wid":%s,"tgid":%s}', wid, tgid))
        WHEN host_id IS NULL AND (_lease OR due > now()) THEN pg_notify('wed_jobs', '') END
    ), excepted AS (
      -- An exception is served like a transition: by whoever is bound to _EXCPT.
      INSERT INTO wed.job (flow_id, tenant_id, wid, tgid, trname, timeout, seq, last_seq, priority, due, fired_at,
                           component_id, version, satisfied, beside)
      SELECT p.flow_id, t.tenant_id, p.wid, t.tgid, t.trname, t.timeout, p.seq, p.seq, t.priority, now(), _now,
             t.component_id, p.version, p.satisfied, p.beside
      FROM rest p JOIN wed.flow f ON f.flow_id = p.flow_id JOIN wed.trigger t ON t.tgid = f.excpt_tgid
      WHERE p.excepts
      RETURNING CASE WHEN component_id IS NULL THEN pg_notify(trname, format('{"wid":%s,"tgid":%s}', wid, tgid))
                     ELSE pg_notify('wed_jobs', '') END
    ), changed AS (
      UPDATE wed.instance i SET status = p.becomes, changed = _now
      FROM rest p WHERE p.changes AND i.flow_id = p.flow_id AND i.wid = p.wid
    ), traced AS (
      INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, tgid, attempt, fuel, elapsed_us,
                             memory_bytes, component_id, from_seq, writer, note)
      SELECT p.flow_id, p.wid, p.seq, p.becomes, p.trw,
             CASE WHEN cardinality(p.fire) = 1 THEN ARRAY[p.next_trname]
                  ELSE ARRAY(SELECT t.trname FROM unnest(p.fire) WITH ORDINALITY f(tgid, at)
                             JOIN wed.trigger t ON t.tgid = f.tgid ORDER BY f.at) END
               || CASE WHEN p.becomes = 'E' AND NOT p.excpt THEN ARRAY['_EXCPT'] END,
             p.state, _now, p.tgid, p.attempt, p.fuel, p.elapsed_us, p.memory_bytes,
             CASE WHEN _trw IS NULL THEN p.component_id END, p.from_seq,
             CASE WHEN p.others > 0 AND p.refusal IS NULL
               THEN wed.keep_beside(_writer, p.flow_id, p.wid, p.own, p.seq, p.version, p.satisfied,
                                    p.others + cardinality(p.fire) + (p.becomes = 'E' AND NOT p.excpt)::integer - 1, p.waiting)
               ELSE _writer END,
             CASE WHEN p.refusal IS NOT NULL THEN wed.refuse_update(p.refusal, p.wid)
                  -- Somebody changed a job's row in the same moment: an update that finds it moved leaves it out.
                  WHEN (SELECT count(*) FROM turned) + (SELECT count(*) FROM ended)
                    <> _ending THEN wed.refuse_update('lost', p.wid)
                  ELSE coalesce(p.forced, _note) END
      FROM p
    )
    -- Not what the update returns: its rows would be kept once more.
    SELECT p.flow_id, p.wid, p.fire[1], p.next_tgname, p.next_trname, p.token, 1, p.next_timeout_ms,
           coalesce(p.payload, p.state), p.next_component, p.version, p.seq FROM p WHERE p.turns AND NOT p.next_constrained
    UNION ALL
    SELECT f.flow_id, f.wid, f.tgid, t.tgname, f.trname, f.token, 1, t.timeout_ms, coalesce(p.payload, p.state), f.component_id, p.version, p.seq
    FROM fired f JOIN wed.trigger t ON t.tgid = f.tgid AND NOT t.constrained
    -- One look at p for each that is leased, whatever the planner thinks of their number.
    CROSS JOIN LATERAL (SELECT p.payload, p.state, p.version, p.seq FROM rest p WHERE p.flow_id = f.flow_id AND p.wid = f.wid OFFSET 0) p
    WHERE f.host_id IS NOT NULL;
  IF EXISTS (SELECT FROM wed.flow WHERE constrained) THEN
    -- What a commit leases of constrained jobs is theirs only if they can have what they reserve. (Where attempts failed,
    -- more follows in the transaction.)
    IF _lease AND _host_id IS NOT NULL AND _trw IS NULL THEN
      RETURN QUERY SELECT * FROM wed.constrain_batch(_host_id, _rows, _tgids);
    ELSE
      PERFORM wed.constrain(_rows, _tgids, _trw IS NULL OR _trw = '_EVENT');
    END IF;
  END IF;
END $$;
