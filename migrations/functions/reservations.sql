-- Reservations: what jobs ask for, what ends with new states of their instances (decisions 0031, 0045).

-- Applies new states to constraints, in the transaction that writes them, after jobs are out and in: frees what is held
-- no longer, and asks for what fired jobs need. _tgids are the triggers of the jobs that ended; _committed tells
-- a transition that was performed from one that was given up.
CREATE OR REPLACE FUNCTION wed.constrain(_rows wed.evaluated[], _tgids integer[], _committed boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _one record;
BEGIN
  FOR _one IN SELECT * FROM wed.constrained_flows(_rows, _tgids) LOOP
    PERFORM wed.free(_one.flow, _one.wids, _one.tgids, _committed);
    PERFORM wed.ask(_one.flow, _one.wids, NULL);
    PERFORM wed.ask_back(_one.flow, _one.wids);
  END LOOP;
END $$;

-- Applies a host's batch to constraints, as the last step of its transaction: frees what is held no longer,
-- hands it over, and reserves what fired jobs need. These are leased to the host already (_constrained); those that
-- cannot have all are blocked. Returns the jobs that the host has: those, and as many of the granted ones as it has
-- _room for. Where a lock is not granted in time, all of it is left to a chore: the others of the batch do not wait
-- for a session that keeps a key locked.
CREATE OR REPLACE FUNCTION wed.constrain_batch(
  _host_id integer, _rows wed.evaluated[], _tgids integer[], _constrained wed.claimed[], _room bigint)
RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _one record;
  _of record;
  _freed bigint[] := '{}';
  _asked wed.asking[] := '{}';
  _granted bigint[];
  _leased bigint;
BEGIN
  PERFORM set_config('lock_timeout', '250ms', true);
  BEGIN
    FOR _one IN SELECT * FROM wed.constrained_flows(_rows, _tgids) LOOP
      IF (_one.flow).ordered THEN
        PERFORM wed.unlease(_host_id, (_one.flow).flow_id, _one.wids);
        PERFORM wed.free(_one.flow, _one.wids, _one.tgids, true);
        PERFORM wed.ask(_one.flow, _one.wids, NULL);
        _constrained := ARRAY(SELECT c FROM unnest(_constrained) c WHERE c.flow_id <> (_one.flow).flow_id);
      ELSE
        _of := wed.ask_at_once(_one.flow, _constrained, _one.asking, _one.ending, _one.ending_tgids);
        _freed := _freed || _of.freed;
        _asked := _asked || _of.asked;
      END IF;
    END LOOP;
    IF NOT FOUND THEN RETURN; END IF;
    _granted := wed.hand_over_requests(wed.open_requests(), _freed, _asked);
  EXCEPTION WHEN lock_not_available THEN
    PERFORM wed.unlease(_host_id, (f.flow).flow_id, f.wids) FROM wed.constrained_flows(_rows, _tgids) f;
    PERFORM set_config('wed.hand_over', 'later', true);
    PERFORM wed.constrain(_rows, _tgids, true);
    RETURN;
  END;
  RETURN QUERY
    SELECT c.* FROM unnest(_constrained) c WHERE NOT EXISTS (
      SELECT FROM wed.job j WHERE j.flow_id = c.flow_id AND j.wid = c.wid AND j.tgid = c.tgid
        AND j.blocked IS NOT NULL);
  GET DIAGNOSTICS _leased = ROW_COUNT;
  IF _granted <> '{}' THEN
    RETURN QUERY SELECT * FROM wed.lease_granted(_host_id, _granted, _room - _leased);
  END IF;
END $$;

-- Returns the constrained flows of some new states, each with its instances and the triggers of the jobs that ended; of
-- them, those whose conditions ask for keys, and those that may have held some.
CREATE OR REPLACE FUNCTION wed.constrained_flows(_rows wed.evaluated[], _tgids integer[])
RETURNS TABLE (
  flow wed.flow, wids integer[], tgids integer[], asking integer[], ending integer[], ending_tgids integer[])
LANGUAGE sql STABLE ROWS 10 AS $$
  SELECT f, array_agg(r.wid ORDER BY r.at), array_agg(_tgids[r.at] ORDER BY r.at),
    coalesce(array_agg(r.wid ORDER BY r.at) FILTER (WHERE r.fired && f.reserving), '{}'),
    coalesce(array_agg(r.wid ORDER BY r.at) FILTER (WHERE f.holds_longer OR _tgids[r.at] = ANY (f.reserving)), '{}'),
    coalesce(array_agg(_tgids[r.at] ORDER BY r.at)
             FILTER (WHERE f.holds_longer OR _tgids[r.at] = ANY (f.reserving)), '{}')
  FROM unnest(_rows) WITH ORDINALITY r(flow_id, version, wid, state, payload, fired, kept, final, fault, at)
  JOIN wed.flow f ON f.flow_id = r.flow_id AND f.constrained
  GROUP BY f.flow_id ORDER BY f.flow_id
$$;

-- Takes back the leases of constrained jobs that a host's commit has fired just now: they are as those that others'
-- commits fire.
CREATE OR REPLACE FUNCTION wed.unlease(_host_id integer, _flow_id integer, _wids integer[]) RETURNS void
LANGUAGE sql AS $$
  UPDATE wed.job j SET host_id = NULL, token = 0, attempt = 0, blocked = 'a', due = 'infinity'
  FROM unnest(_wids) u(wid), wed.trigger t
  WHERE j.flow_id = _flow_id AND j.wid = u.wid AND j.host_id = _host_id AND j.seq = j.last_seq AND t.tgid = j.tgid
      AND t.constrained
$$;

-- Frees, when the transaction commits, what instances of a flow hold, or wait for, no longer.
CREATE OR REPLACE FUNCTION wed.free(_flow wed.flow, _wids integer[], _tgids integer[], _committed boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _lost bigint[];
BEGIN
  IF _flow.ordered THEN
    IF _committed THEN
      INSERT INTO wed.task_done (flow_id, wid, tgid)
      SELECT _flow.flow_id, u.wid, u.tgid FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
      WHERE u.tgid IS NOT NULL ON CONFLICT DO NOTHING;
    END IF;
    PERFORM wed.take_order(_flow, _wids);
  END IF;
  WITH g AS MATERIALIZED (
    SELECT e.request_id, bool_or(e.takes) AS takes, bool_and(e.lost) AS lost, row_number() OVER () = 1 AS leads
    FROM wed.ended_requests(_flow.flow_id, _wids, _tgids, _committed) e GROUP BY e.request_id
  ), ended AS (
    UPDATE wed.request r SET state = CASE WHEN g.takes THEN 'c' ELSE 'f' END, leads = g.leads,
      xid = pg_current_xact_id()
    FROM g WHERE r.request_id = g.request_id RETURNING r.request_id, g.lost)
  SELECT array_agg(e.request_id) FILTER (WHERE e.lost) INTO _lost FROM ended e;
  PERFORM wed.note_lost(_lost) WHERE _lost IS NOT NULL;
  -- What has ended needs nothing back.
  DELETE FROM wed.lost_reservation l USING wed.instance i
  WHERE l.flow_id = _flow.flow_id AND l.wid = ANY (_wids) AND i.flow_id = l.flow_id AND i.wid = l.wid
    AND i.status = 'F' AND _flow.holds_longer;
END $$;

-- Notes what exceptions lose of what they held beyond a transition, for wed.ask_back.
CREATE OR REPLACE FUNCTION wed.note_lost(_requests bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO wed.lost_reservation (flow_id, wid, tgid, resource, key, amount, holds, consumes)
  SELECT r.flow_id, r.wid, r.tgid, v.resource, v.key, v.amount, r.holds, r.consumes
  FROM wed.request r JOIN wed.reservation v USING (request_id) WHERE r.request_id = ANY (_requests)
  ON CONFLICT DO NOTHING;
END $$;

-- Has jobs that were fired for instances after an exception wait until these have again what they held before it: each
-- job asks for what the reservations of one trigger were, and further jobs for the same exclusive keys. A trigger that
-- is fired again reserves anew by itself. Refuses where more was held in different ways than there are jobs to wait.
CREATE OR REPLACE FUNCTION wed.ask_back(_flow wed.flow, _wids integer[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _of integer;
BEGIN
  IF NOT _flow.holds_longer THEN RETURN; END IF;
  FOR _of IN SELECT DISTINCT l.wid FROM wed.lost_reservation l
             WHERE l.flow_id = _flow.flow_id AND l.wid = ANY (_wids) ORDER BY 1 LOOP
    DELETE FROM wed.lost_reservation l USING wed.job j
    WHERE l.flow_id = _flow.flow_id AND l.wid = _of AND j.flow_id = l.flow_id AND j.wid = l.wid AND j.tgid = l.tgid;
    IF EXISTS (SELECT FROM wed.job WHERE flow_id = _flow.flow_id AND wid = _of AND trname <> '_EXCPT'
               AND blocked IS NULL AND host_id IS NULL) THEN
      PERFORM wed.ask_back_of(_flow, _of);
    END IF;
  END LOOP;
END $$;

-- Queues what one instance lost, for the jobs that it has (wed.ask_back).
CREATE OR REPLACE FUNCTION wed.ask_back_of(_flow wed.flow, _wid integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _ways integer := (SELECT count(DISTINCT tgid) FROM wed.lost_reservation WHERE flow_id = _flow.flow_id AND wid = _wid);
  _jobs integer[] := ARRAY(SELECT tgid FROM wed.job WHERE flow_id = _flow.flow_id AND wid = _wid AND trname <> '_EXCPT'
                           AND blocked IS NULL AND host_id IS NULL ORDER BY tgid);
BEGIN
  IF _ways > cardinality(_jobs) THEN
    RAISE EXCEPTION 'instance % held reservations of % triggers, and % would be fired that could wait for them', _wid,
      _ways, cardinality(_jobs) USING ERRCODE = 'WF042',
      HINT = 'Set a state from which the flow reserves again, or go back to the step that reserves.';
  END IF;
  WITH lost AS (
    SELECT tgid AS of_tgid, min(holds) AS holds, bool_or(consumes) AS consumes, row_number() OVER (ORDER BY tgid) AS nth
    FROM wed.lost_reservation WHERE flow_id = _flow.flow_id AND wid = _wid GROUP BY tgid
  ), n AS MATERIALIZED (
    SELECT l.*, j.nth > _ways AS further, j.tgid, k.ctid AS job, k.due, t.priority, k.due > clock_timestamp() AS later,
           nextval('wed.request_request_id_seq') AS request_id
    FROM unnest(_jobs) WITH ORDINALITY j(tgid, nth)
    JOIN lost l ON l.nth = least(j.nth, _ways)
    JOIN wed.trigger t ON t.tgid = j.tgid
    JOIN wed.job k ON k.flow_id = _flow.flow_id AND k.wid = _wid AND k.tgid = j.tgid
    WHERE j.nth <= _ways OR EXISTS (SELECT FROM wed.lost_reservation v
      WHERE v.flow_id = _flow.flow_id AND v.wid = _wid AND v.tgid = l.of_tgid AND v.amount IS NULL)
  ), asked AS (
    INSERT INTO wed.request (request_id, tenant_id, flow_id, wid, tgid, state, holds, consumes, leads, ready_at)
    OVERRIDING SYSTEM VALUE
    SELECT request_id, _flow.tenant_id, _flow.flow_id, _wid, tgid, CASE WHEN later THEN 'd' ELSE 'n' END, holds,
           consumes AND NOT further, NOT later, due FROM n
  ), named AS (
    INSERT INTO wed.reservation (request_id, tenant_id, resource, key, amount, priority, held)
    SELECT n.request_id, _flow.tenant_id, v.resource, v.key, v.amount, n.priority,
           CASE WHEN NOT n.later THEN false END
    FROM n JOIN wed.lost_reservation v ON v.flow_id = _flow.flow_id AND v.wid = _wid AND v.tgid = n.of_tgid
      AND (v.amount IS NULL OR NOT n.further)
  )
  UPDATE wed.job j SET blocked = 'r', due = 'infinity' FROM n WHERE j.ctid = n.job;
  DELETE FROM wed.lost_reservation WHERE flow_id = _flow.flow_id AND wid = _wid;
END $$;

-- Returns the requests that end with new states of some instances: jobs ended (_tgids; null where none did), triggers
-- committed until which something is held, instances ended. What an exception's other jobs hold stays until those end
-- too. takes: what was held is consumed. lost: an exception takes it from its instance before the time.
CREATE OR REPLACE FUNCTION wed.ended_requests(_flow_id integer, _wids integer[], _tgids integer[], _committed boolean)
RETURNS TABLE (request_id bigint, takes boolean, lost boolean)
LANGUAGE sql STABLE ROWS 100 AS $$
  SELECT r.request_id, r.consumes AND r.state = 'h' AND _committed AND (r.holds = 'transition' AND r.tgid = u.tgid
           OR r.holds IN (g.tgname, g.trname) OR r.holds = 'instance' AND i.status = 'F') IS TRUE,
         (r.state = 'h' AND r.holds <> 'transition' AND i.status = 'E' AND r.tgid IS DISTINCT FROM u.tgid
           AND NOT (_committed AND r.holds IN (g.tgname, g.trname))) IS TRUE
  FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
  CROSS JOIN LATERAL (
    SELECT * FROM wed.request WHERE flow_id = _flow_id AND wid = u.wid AND state NOT IN ('f', 'c') OFFSET 0) r
  -- Nearly always it is the transition that held: nothing more is to be known.
  CROSS JOIN LATERAL (
    SELECT (r.tgid = u.tgid AND (r.holds = 'transition' OR r.state <> 'h' OR NOT _committed)) IS TRUE AS own) o
  LEFT JOIN LATERAL (SELECT tgname, trname FROM wed.trigger WHERE tgid = u.tgid AND NOT o.own OFFSET 0) g ON true
  LEFT JOIN LATERAL (SELECT status FROM wed.instance WHERE flow_id = _flow_id AND wid = u.wid
      AND NOT o.own OFFSET 0) i ON true
  WHERE o.own OR _committed AND r.state = 'h' AND r.holds IN (g.tgname, g.trname)
     OR i.status <> 'R' AND NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = _flow_id AND j.wid = u.wid
         AND j.tgid = r.tgid
                                        AND j.blocked IS DISTINCT FROM 'a')
$$;

-- Asks for what the blocked jobs of some instances of a flow need: first that the tasks before them are done, then
-- their reservation, for which they are queued from _ready on (null: when their delay has passed). Those that need
-- nothing are due.
CREATE OR REPLACE FUNCTION wed.ask(_flow wed.flow, _wids integer[], _ready timestamptz) RETURNS void
LANGUAGE plpgsql SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _jobs tid[];
  _of integer[];
  _tgids integer[];
  _keys jsonb[];
  _asked integer[];
BEGIN
  IF _flow.ordered THEN
    UPDATE wed.job j SET blocked = 'p'
    WHERE j.flow_id = _flow.flow_id AND j.wid = ANY (_wids) AND j.blocked = 'a'
        AND NOT wed.is_in_order(_flow.flow_id, j.wid, j.tgid);
  END IF;
  SELECT array_agg(j.ctid ORDER BY j.wid, j.tgid), array_agg(j.wid ORDER BY j.wid, j.tgid), array_agg(j.tgid
      ORDER BY j.wid, j.tgid)
  INTO _jobs, _of, _tgids FROM wed.job j
  WHERE j.flow_id = _flow.flow_id AND j.wid = ANY (_wids) AND j.blocked IS NOT NULL
    AND (j.blocked = 'a' OR j.blocked = 'p' AND wed.is_in_order(_flow.flow_id, j.wid, j.tgid));
  IF _of IS NULL THEN RETURN; END IF;
  IF EXISTS (SELECT FROM wed.trigger_constraint WHERE tgid = ANY (_tgids) AND keys IS NOT NULL) THEN
    EXECUTE format('SELECT %1$I.read_keys_%1$s($1, $2)', _flow.shape_schema) INTO _keys USING _of, _tgids;
    _asked := wed.queue_requests(_flow, _jobs, _of, _tgids, _keys, _ready);
  END IF;
  IF cardinality(_asked) = cardinality(_of) THEN RETURN; END IF;
  IF wed.make_due(_flow.flow_id, ARRAY(SELECT _of[at] FROM generate_subscripts(_of, 1) at
      WHERE at = ANY (_asked) IS NOT TRUE),
                      ARRAY(SELECT _tgids[at] FROM generate_subscripts(_of, 1) at
                          WHERE at = ANY (_asked) IS NOT TRUE), true) > 0 THEN
    PERFORM pg_notify('wed_jobs', '');
  END IF;
END $$;

-- Takes from jobs whose attempt ended without a result what they hold, and queues them anew, from _ready on.
CREATE OR REPLACE FUNCTION wed.ask_again(_flow_id integer, _wids integer[], _tgids integer[], _ready timestamptz)
    RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _flow wed.flow;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  UPDATE wed.job j SET blocked = 'a', due = 'infinity'
  FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
  JOIN wed.trigger_constraint c ON c.tgid = u.tgid AND c.keys IS NOT NULL
  WHERE j.flow_id = _flow_id AND j.wid = u.wid AND j.tgid = u.tgid;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM wed.free(_flow, _wids, _tgids, false);
  PERFORM wed.ask(_flow, _wids, _ready);
END $$;

-- Returns what jobs that a host's commit has fired and leased ask for (asked), of some instances of a flow; and what
-- ended with the jobs of others (freed). Keys that an instance's transition held and its next one needs too are held
-- on, if nobody waits for them.
CREATE OR REPLACE FUNCTION wed.ask_at_once(
  _flow wed.flow, _leased wed.claimed[], _wids integer[], _ending integer[], _tgids integer[],
  OUT freed bigint[], OUT asked wed.asking[])
LANGUAGE plpgsql AS $$
DECLARE
  _consumed bigint[];
  _lost bigint[];
  _of integer[];
  _fired integer[];
  _keys jsonb[];
  _kept bigint[];
BEGIN
  asked := '{}';
  SELECT coalesce(array_agg(e.request_id) FILTER (WHERE NOT e.takes), '{}'),
         array_agg(e.request_id) FILTER (WHERE e.takes), array_agg(e.request_id) FILTER (WHERE e.lost)
  INTO freed, _consumed, _lost
  FROM (SELECT request_id, bool_or(takes) AS takes, bool_and(lost) AS lost
        FROM wed.ended_requests(_flow.flow_id, _ending, _tgids, true)
        GROUP BY request_id) e;
  IF _consumed IS NOT NULL THEN
    UPDATE wed.request SET state = 'c', leads = false, xid = pg_current_xact_id() WHERE request_id = ANY (_consumed);
  END IF;
  IF _lost IS NOT NULL THEN PERFORM wed.note_lost(_lost); END IF;
  IF _wids = '{}' THEN RETURN; END IF;
  -- Those that no host does.
  IF EXISTS (SELECT FROM wed.job WHERE flow_id = _flow.flow_id AND wid = ANY (_wids) AND blocked = 'a') THEN
    PERFORM wed.ask(_flow, _wids, NULL);
  END IF;
  SELECT array_agg(l.wid), array_agg(l.tgid) INTO _of, _fired FROM unnest(_leased) l WHERE l.flow_id = _flow.flow_id;
  IF _of IS NULL THEN RETURN; END IF;
  EXECUTE format('SELECT %1$I.read_keys_%1$s($1, $2)', _flow.shape_schema) INTO _keys USING _of, _fired;
  SELECT * INTO _kept, asked FROM wed.keep_held(_flow.flow_id, _flow.tenant_id, _of, _fired, _keys, freed);
  IF _kept <> '{}' THEN freed := ARRAY(SELECT unnest(freed) EXCEPT SELECT unnest(_kept)); END IF;
END $$;

-- Keeps, of what some jobs need, what their instances' ended transitions held (_freed) and nobody waits for: these
-- requests are kept. The others ask anew; a job whose trigger holds the same keys on already asks for nothing.
CREATE OR REPLACE FUNCTION wed.keep_held(
  _flow_id integer, _tenant_id integer, _wids integer[], _tgids integer[], _keys jsonb[], _freed bigint[],
  OUT kept bigint[], OUT asked wed.asking[])
LANGUAGE plpgsql AS $$
BEGIN
  WITH c AS MATERIALIZED (
    SELECT d.tgid, d.holds, d.consumes, coalesce(d.resource, '#' || _flow_id) AS resource, t.priority
    FROM (SELECT DISTINCT tgid FROM unnest(_tgids) u(tgid)) u JOIN wed.trigger_constraint d USING (tgid)
        JOIN wed.trigger t USING (tgid)
  ), a AS MATERIALIZED (
    SELECT u.*, c.holds, c.consumes, c.resource, c.priority, h.mine, h.others,
           s.same AND row_number() OVER (PARTITION BY h.mine) = 1 AS keeps
    FROM ROWS FROM (unnest(_wids), unnest(_tgids), unnest(_keys)) u(wid, tgid, keys)
    JOIN c ON c.tgid = u.tgid
    CROSS JOIN LATERAL (
      SELECT min(request_id) FILTER (WHERE mine) AS mine, array_agg(request_id) FILTER (WHERE NOT mine) AS others
      FROM (SELECT request_id, request_id = ANY (_freed) AS mine FROM wed.request
            WHERE flow_id = _flow_id AND wid = u.wid AND state = 'h' OFFSET 0) r) h
    CROSS JOIN LATERAL (
      SELECT coalesce(jsonb_object_agg(n.key, n.amount) = u.keys AND bool_and(
          n.resource = c.resource AND NOT n.beside AND (
            SELECT true FROM wed.reservation q
            WHERE q.tenant_id = n.tenant_id AND q.resource = n.resource AND q.key = n.key AND NOT q.held
            LIMIT 1) IS NULL), false) AS same
      FROM wed.reservation n WHERE n.request_id = h.mine) s
    WHERE u.keys <> '{}'
  ), held AS (
    UPDATE wed.request r
    SET tgid = a.tgid, holds = a.holds, consumes = a.consumes, asked_at = now(), granted_at = clock_timestamp()
    FROM a WHERE a.keeps AND r.request_id = a.mine
  ), n AS (
    SELECT a.*, nextval('wed.request_request_id_seq') AS request_id FROM a
    WHERE NOT a.keeps AND (a.others IS NULL OR NOT EXISTS (
      SELECT FROM wed.request r WHERE r.request_id = ANY (a.others) AND r.tgid = a.tgid
        AND a.keys = (SELECT jsonb_object_agg(v.key, v.amount) FROM wed.reservation v
                      WHERE v.request_id = r.request_id))))
  SELECT ARRAY(SELECT a.mine FROM a WHERE a.keeps), ARRAY(
    SELECT ROW(n.request_id, e.nth, _flow_id, _tenant_id, n.wid, n.tgid, n.resource, e.key,
               (e.value #>> '{}')::numeric, n.holds, n.consumes,
               CASE WHEN n.others IS NOT NULL AND wed.holds_up(_flow_id, n.wid) THEN 2147483647
                 ELSE n.priority END)::wed.asking
    FROM n CROSS JOIN LATERAL jsonb_each(n.keys) WITH ORDINALITY e(key, value, nth))
  INTO kept, asked;
END $$;

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

-- Leases to a host jobs of requests that its commit has granted, those that asked first, and returns them: a key goes
-- from instance to instance without a claim. It leases as many as it has _room for, so that its tenants have no more
-- jobs of the host than before; none whose condition a claim would evaluate again, none of a tenant that has paused
-- something. The others are due.
CREATE OR REPLACE FUNCTION wed.lease_granted(_host_id integer, _requests bigint[], _room bigint)
RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _leased wed.claimed[];
  _others bigint[];
BEGIN
  WITH g AS MATERIALIZED (
    SELECT j.at, t.tgname, t.timeout_ms, f.version FROM wed.request r
    CROSS JOIN LATERAL (
      SELECT ctid AS at FROM wed.job
      WHERE flow_id = r.flow_id AND wid >= r.wid AND wid <= r.wid AND tgid = r.tgid AND blocked = 'r'
        AND component_id IS NOT NULL AND seq = last_seq ORDER BY wid DESC LIMIT 1 FOR UPDATE SKIP LOCKED) j
    CROSS JOIN LATERAL (SELECT tgname, timeout_ms, timely FROM wed.trigger WHERE tgid = r.tgid OFFSET 0) t
    CROSS JOIN LATERAL (SELECT version FROM wed.flow WHERE flow_id = r.flow_id OFFSET 0) f
    WHERE r.request_id = ANY (_requests) AND NOT t.timely
      AND NOT EXISTS (SELECT FROM wed.pause p WHERE p.tenant_id = r.tenant_id)
    ORDER BY r.request_id LIMIT greatest(_room, 0)
  ), leased AS (
    UPDATE wed.job j SET host_id = _host_id, token = nextval('wed.fence'), attempt = j.attempt + 1, blocked = NULL,
      due = now(), put_off = NULL
    FROM g WHERE j.ctid = g.at RETURNING j.*, g.tgname, g.timeout_ms, g.version AS flow_version)
  SELECT array_agg(ROW(l.flow_id, l.wid, l.tgid, l.tgname, l.trname, l.token, l.attempt, l.timeout_ms,
    coalesce(l.payload, s.state), l.component_id, l.flow_version, l.seq)::wed.claimed)
  INTO _leased
  FROM leased l LEFT JOIN LATERAL (
    SELECT state FROM wed.trace WHERE flow_id = l.flow_id AND wid = l.wid AND seq = l.seq AND tstmp = l.fired_at
    OFFSET 0) s ON true;
  IF coalesce(cardinality(_leased), 0) < cardinality(_requests) THEN
    _others := ARRAY(
      SELECT request_id FROM wed.request r WHERE request_id = ANY (_requests) AND NOT EXISTS (
        SELECT FROM unnest(_leased) l WHERE (l.flow_id, l.wid, l.tgid) = (r.flow_id, r.wid, r.tgid)));
    IF wed.make_granted_due(_others) > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  END IF;
  RETURN QUERY SELECT * FROM unnest(_leased);
END $$;

-- Makes blocked jobs due, and tells external workers; answers how many are the hosts'. A job whose row another
-- transaction holds is left (the chore reservations): to wait for it here could be in a circle. _delayed: their delay
-- begins now.
CREATE OR REPLACE FUNCTION wed.make_due(_flow_id integer, _wids integer[], _tgids integer[], _delayed boolean) RETURNS
    bigint
LANGUAGE plpgsql AS $$
DECLARE
  _hosted bigint;
BEGIN
  IF _wids = '{}' THEN RETURN 0; END IF;
  WITH b AS MATERIALIZED (
    SELECT j.at, t.delay FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
    CROSS JOIN LATERAL (
      SELECT q.ctid AS at FROM wed.job q WHERE q.flow_id = _flow_id AND q.wid >= u.wid AND q.wid <= u.wid
          AND q.tgid = u.tgid
        AND q.blocked IS NOT NULL FOR UPDATE SKIP LOCKED) j
    CROSS JOIN LATERAL (SELECT delay FROM wed.trigger WHERE tgid = u.tgid OFFSET 0) t
  ), d AS (
    UPDATE wed.job j SET blocked = NULL, due = now() + CASE WHEN _delayed THEN b.delay ELSE '0' END
    FROM b WHERE j.ctid = b.at
    RETURNING j.component_id IS NOT NULL AS hosted,
      CASE WHEN j.component_id IS NULL THEN pg_notify(trname, format('{"wid":%s,"tgid":%s}', wid, tgid)) END AS told)
  SELECT count(*) FILTER (WHERE hosted) INTO _hosted FROM d;
  IF EXISTS (SELECT FROM wed.pause p JOIN wed.flow f ON f.tenant_id = p.tenant_id AND f.flow_id = _flow_id) THEN
    PERFORM wed.keep_paused(_flow_id);
  END IF;
  RETURN _hosted;
END $$;

-- Lets pending jobs of a flow wait again whose order was added meanwhile, of one instance or (null) of all; those
-- that somebody works on are left.
CREATE OR REPLACE FUNCTION wed.delay_jobs(_flow_id integer, _wid integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH b AS MATERIALIZED (
    SELECT j.ctid AS at, j.wid, j.tgid FROM wed.job j
    WHERE j.flow_id = _flow_id AND (_wid IS NULL OR j.wid = _wid) AND j.host_id IS NULL AND j.blocked IS NULL
      AND EXISTS (SELECT FROM wed.precedence p WHERE p.tgid = j.tgid AND (p.wid IS NULL OR p.wid = j.wid))
      AND NOT wed.is_in_order(_flow_id, j.wid, j.tgid) AND NOT wed.is_held(_flow_id, j.wid, j.tgid) FOR UPDATE OF j
          SKIP LOCKED
  ), l AS MATERIALIZED (
    SELECT b.at, pg_try_advisory_xact_lock(b.wid, b.tgid) AS ours FROM b)
  UPDATE wed.job j SET blocked = 'p', due = 'infinity' FROM l WHERE l.ours AND j.ctid = l.at;
END $$;

-- Returns what a blocked job waits for, in words: its child, tasks before it, or keys and who holds them.
CREATE OR REPLACE FUNCTION wed.waits_on(_flow_id integer, _wid integer, _tgid integer) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _text text;
BEGIN
  SELECT format('an event that sets %s', t.waits_for) INTO _text
  FROM wed.job j JOIN wed.trigger t USING (tgid)
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid AND j.is_wait;
  IF _text IS NOT NULL THEN RETURN _text; END IF;
  IF EXISTS (SELECT FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND blocked = 'c') THEN
    RETURN coalesce(wed.child_in_words(_flow_id, _wid, _tgid), 'its child');
  END IF;
  SELECT string_agg(o.after, ' AND ') INTO _text FROM (
    SELECT after, terms FROM wed.trigger_constraint WHERE tgid = _tgid AND terms IS NOT NULL
    UNION ALL
    SELECT after, terms FROM wed.precedence WHERE tgid = _tgid AND (wid IS NULL OR wid = _wid)) o
  WHERE NOT wed.is_met(o.terms, wed.names_done(_flow_id, _wid))
    AND EXISTS (SELECT FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND blocked = 'p');
  IF _text IS NOT NULL THEN RETURN left('the tasks before it: ' || _text, 500); END IF;
  SELECT string_agg(format('%s%s', w.key, CASE
      WHEN w.holders IS NOT NULL THEN format(' (held by %s)', w.holders)
      WHEN w.capacity IS NULL AND w.amount IS NOT NULL THEN ' (there is none of it in wed_resource)'
      WHEN w.amount > w.capacity THEN format(' (%s wanted, %s available)', w.amount, w.capacity)
      WHEN NOT w.is_first THEN ' (others are before it)' ELSE '' END), ', ' ORDER BY w.key) INTO _text
  FROM wed.waiting_keys(_flow_id, _wid, _tgid) w
  WHERE NOT w.is_first OR w.holders IS NOT NULL OR w.amount > coalesce(w.capacity, 0);
  RETURN left(coalesce('its reservation: ' || _text, 'its reservation'), 500);
END $$;

-- Returns the keys of which a job's request waits, and who is in its way, at most eight names a key.
CREATE OR REPLACE FUNCTION wed.waiting_keys(_flow_id integer, _wid integer, _tgid integer)
RETURNS TABLE (resource text, key text, amount numeric, capacity numeric, is_first boolean, holders text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN v.resource LIKE '#%' THEN NULL ELSE v.resource END, v.key, v.amount, s.capacity - s.minimum,
    wed.first_in_queue(ROW(v.tenant_id, v.resource, v.key)::wed.resource_key) = v.request_id,
    (SELECT string_agg(h.who, ', ') FROM (
       SELECT format('instance %s of %s', o.wid, f.name) || CASE WHEN n.amount IS NULL THEN ''
           ELSE format(': %s', n.amount) END AS who
       FROM wed.reservation n JOIN wed.request o USING (request_id) JOIN wed.flow f ON f.flow_id = o.flow_id
       WHERE n.tenant_id = v.tenant_id AND n.resource = v.resource AND n.key = v.key AND n.held
         AND (o.flow_id, o.wid) <> (_flow_id, _wid) ORDER BY o.request_id LIMIT 8) h)
  FROM wed.request r JOIN wed.reservation v USING (request_id)
  LEFT JOIN wed.resource s ON s.tenant_id = v.tenant_id AND s.resource = v.resource AND s.key = v.key
  WHERE r.flow_id = _flow_id AND r.wid = _wid AND r.tgid = _tgid AND r.state IN ('n', 'w')
  ORDER BY v.key
$$;
