-- Granting keys: the queue of each key, hand-over in the transaction that releases it, and what is left to chores.

-- At the end of a transaction that asked for or freed something. If a lock is not granted in time, a
-- chore does it, but for what is consumed: that is taken in the same commit or not at all.
CREATE OR REPLACE FUNCTION wed.on_request() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET lock_timeout = '1s' AS $$
DECLARE
  _takes boolean := EXISTS (SELECT FROM wed.request WHERE xid = pg_current_xact_id() AND state = 'c');
BEGIN
  -- A host's batch has tried it already.
  IF current_setting('wed.hand_over', true) = 'later' AND NOT _takes THEN RETURN NULL; END IF;
  BEGIN
    IF wed.make_granted_due(wed.hand_over_requests(wed.open_requests(), '{}', '{}')) > 0 THEN
      PERFORM pg_notify('wed_jobs', '');
    END IF;
  EXCEPTION WHEN lock_not_available THEN
    IF _takes THEN RAISE; END IF;
  END;
  RETURN NULL;
END $$;

-- Returns the requests that this transaction made or freed, and that nobody has dealt with.
CREATE OR REPLACE FUNCTION wed.open_requests() RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT request_id FROM wed.request WHERE xid = pg_current_xact_id() AND state IN ('n', 'f', 'c')
      ORDER BY request_id);
END $$;

-- Deals with requests of this transaction that are new or freed (_requests), with those that end just now (_ended),
-- and with what leased jobs ask for: what was freed is handed over to the queue, in this transaction. First
-- the locks of all their keys, and of those that the first in their queues need too; from then on every statement
-- sees what others have committed of these keys, and nobody else can grant one of them. Returns the requests that were
-- granted; their jobs are blocked still (wed.make_granted_due, wed.lease_granted).
CREATE OR REPLACE FUNCTION wed.hand_over_requests(_requests bigint[], _ended bigint[], _asked wed.asking[])
RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
  _all bigint[] := _requests || _ended;
  _own wed.resource_key[];
  _first bigint[];
  _freed bigint[] := _ended;
  _granted bigint[];
BEGIN
  _own := ARRAY(
    SELECT ROW(tenant_id, resource, key)::wed.resource_key FROM wed.reservation WHERE request_id = ANY (_all)
        AND held IS NOT NULL
    UNION ALL
    SELECT ROW(a.tenant_id, a.resource, a.key)::wed.resource_key FROM unnest(_asked) a);
  IF _own = '{}' AND _all = '{}' THEN RETURN '{}'; END IF;
  _first := ARRAY(SELECT f FROM wed.first_in_queues(_own) f WHERE f <> ALL (_all));
  PERFORM wed.lock_keys(_own || ARRAY(
    SELECT ROW(tenant_id, resource, key)::wed.resource_key FROM wed.reservation
    WHERE request_id = ANY (_first)), false);
  IF _requests <> '{}' THEN
    _freed := _freed || ARRAY(SELECT request_id FROM wed.request WHERE request_id = ANY (_requests)
        AND state IN ('f', 'c'));
    PERFORM wed.consume(_requests);
  END IF;
  IF _freed <> '{}' THEN PERFORM wed.drop_requests(_freed, _own); END IF;
  IF _asked <> '{}' THEN
    PERFORM wed.reserve_free(_asked);
    _first := _first || ARRAY(SELECT DISTINCT a.request_id FROM unnest(_asked) a);
  END IF;
  _granted := wed.grant_keys(_own, _requests || _first);
  IF _requests <> '{}' THEN
    UPDATE wed.request SET state = 'w', leads = false WHERE request_id = ANY (_requests) AND state = 'n';
  END IF;
  RETURN _granted;
END $$;

-- Returns the requests that are first in the queues of some keys.
CREATE OR REPLACE FUNCTION wed.first_in_queues(_keys wed.resource_key[]) RETURNS SETOF bigint
LANGUAGE sql STABLE ROWS 10 AS $$
  SELECT DISTINCT f.request_id FROM unnest(_keys) k CROSS JOIN LATERAL (
    SELECT v.request_id FROM wed.reservation v WHERE v.tenant_id = k.tenant_id AND v.resource = k.resource
        AND v.key = k.key AND NOT v.held
    ORDER BY v.priority DESC, v.request_id LIMIT 1) f
$$;

-- Locks keys, in the order that everybody keeps. With _now those that others hold are left out. Answers what it locked.
CREATE OR REPLACE FUNCTION wed.lock_keys(_keys wed.resource_key[], _now boolean) RETURNS wed.resource_key[]
LANGUAGE plpgsql AS $$
BEGIN
  IF _now THEN
    RETURN ARRAY(
      SELECT ROW(l.tenant_id, l.resource, l.key)::wed.resource_key FROM unnest(_keys) k
      JOIN wed.resource_lock l ON l.tenant_id = k.tenant_id AND l.resource = k.resource AND l.key = k.key
      FOR UPDATE OF l SKIP LOCKED);
  END IF;
  INSERT INTO wed.resource_lock (tenant_id, resource, key, used_at)
  SELECT DISTINCT k.tenant_id, k.resource, k.key, now() FROM unnest(_keys) k ORDER BY 1, 2, 3
  ON CONFLICT (tenant_id, resource, key) DO UPDATE SET used_at = excluded.used_at;
  RETURN _keys;
END $$;

-- Takes from the capacities what requests consumed. Where less than the minimum would be left, the commit is refused.
CREATE OR REPLACE FUNCTION wed.consume(_requests bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _bad record;
BEGIN
  IF NOT EXISTS (SELECT FROM wed.request WHERE request_id = ANY (_requests) AND state = 'c' AND consumes)
      THEN RETURN; END IF;
  WITH used AS (
    SELECT v.tenant_id, v.resource, v.key, sum(v.amount) AS amount FROM wed.reservation v
        JOIN wed.request r USING (request_id)
    WHERE r.request_id = ANY (_requests) AND r.state = 'c' AND v.held AND v.amount IS NOT NULL GROUP BY 1, 2, 3
  ), locked AS MATERIALIZED (
    SELECT s.ctid AS at, u.* , s.capacity, s.minimum FROM used u JOIN wed.resource s USING (tenant_id, resource, key)
    ORDER BY u.tenant_id, u.resource, u.key FOR UPDATE OF s
  ), taken AS (
    UPDATE wed.resource s SET capacity = s.capacity - l.amount FROM locked l
    WHERE s.tenant_id = l.tenant_id AND s.resource = l.resource AND s.key = l.key
        AND l.capacity - l.amount >= l.minimum)
  SELECT * INTO _bad FROM locked WHERE capacity - amount < minimum ORDER BY resource, key LIMIT 1;
  IF FOUND THEN PERFORM wed.refuse_capacity(_bad.key, _bad.capacity - _bad.amount, _bad.minimum); END IF;
END $$;

-- Removes requests with their keys, whose locks are held. Who held a key by two requests holds it by the other.
CREATE OR REPLACE FUNCTION wed.drop_requests(_requests bigint[], _keys wed.resource_key[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH named AS (DELETE FROM wed.reservation WHERE request_id = ANY (_requests))
  DELETE FROM wed.request WHERE request_id = ANY (_requests);
  IF EXISTS (SELECT FROM wed.reservation WHERE beside) THEN
    UPDATE wed.reservation v SET beside = false FROM unnest(_keys) k
    WHERE v.tenant_id = k.tenant_id AND v.resource = k.resource AND v.key = k.key AND v.held AND v.beside
      AND NOT EXISTS (SELECT FROM wed.reservation o WHERE o.tenant_id = k.tenant_id AND o.resource = k.resource
          AND o.key = k.key
                      AND o.held AND o.amount IS NULL AND (NOT o.beside OR o.request_id < v.request_id));
  END IF;
END $$;

-- Keeps what leased jobs ask for, under the locks of all keys. Whoever asks for keys that nobody else holds, waits
-- for or asks for has them at once. The jobs of the others are blocked, and their requests wait.
CREATE OR REPLACE FUNCTION wed.reserve_free(_asked wed.asking[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH n AS MATERIALIZED (
    SELECT k.*, bool_and(k.alone AND o.taken IS NULL AND (k.amount IS NULL OR k.amount <= coalesce((
        SELECT s.capacity - s.minimum FROM wed.resource s WHERE s.tenant_id = k.tenant_id AND s.resource = k.resource
            AND s.key = k.key), 0)))
      OVER (PARTITION BY k.request_id) AS free
    FROM (SELECT a.*, count(*) OVER (PARTITION BY a.tenant_id, a.resource COLLATE "C", a.key COLLATE "C") = 1 AS alone
        FROM unnest(_asked) a) k
    LEFT JOIN LATERAL (
      SELECT true AS taken FROM wed.reservation o WHERE o.tenant_id = k.tenant_id AND o.resource = k.resource
          AND o.key = k.key
        AND o.held IS NOT NULL LIMIT 1) o ON true
  ), asked AS (
    INSERT INTO wed.request (request_id, tenant_id, flow_id, wid, tgid, state, holds, consumes, ready_at, granted_at)
    OVERRIDING SYSTEM VALUE
    SELECT n.request_id, n.tenant_id, n.flow_id, n.wid, n.tgid, CASE WHEN n.free THEN 'h'
        ELSE 'w' END, n.holds, n.consumes, now(),
           CASE WHEN n.free THEN clock_timestamp() END FROM n WHERE n.nth = 1
  ), named AS (
    INSERT INTO wed.reservation (request_id, tenant_id, resource, key, amount, priority, held)
    SELECT n.request_id, n.tenant_id, n.resource, n.key, n.amount, n.priority, n.free FROM n)
  UPDATE wed.job j SET host_id = NULL, token = 0, attempt = 0, blocked = 'r', due = 'infinity'
  FROM n WHERE n.nth = 1 AND NOT n.free AND j.flow_id = n.flow_id AND j.wid = n.wid AND j.tgid = n.tgid;
END $$;

-- Grants what is available of some keys. The locks of all keys of the requests in _covered are held. The first in
-- the queues of all the keys that it needs, and finds all of them free, has them; nobody is passed by, so that the
-- oldest request of the highest priority is never delayed by others that wait. Those that are first everywhere have
-- no key in common: they are granted together. Returns what it granted.
CREATE OR REPLACE FUNCTION wed.grant_keys(_keys wed.resource_key[], _covered bigint[]) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
  _free record;
  _granted bigint[] := '{}';
BEGIN
  LOOP
    _free := wed.first_of_all(_keys, _covered);
    EXIT WHEN _free.ids IS NULL;
    IF _free.replaces THEN PERFORM wed.drop_replaced(_free.ids); END IF;
    WITH held AS (
      UPDATE wed.reservation v SET held = true, beside = v.amount IS NULL AND EXISTS (
          SELECT FROM wed.reservation o WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key
          AND o.held AND o.amount IS NULL AND o.request_id <> v.request_id)
      WHERE v.request_id = ANY (_free.ids))
    UPDATE wed.request SET state = 'h', leads = false, granted_at = clock_timestamp()
    WHERE request_id = ANY (_free.ids);
    _granted := _granted || _free.ids;
    EXIT WHEN NOT _free.more;
    _keys := wed.keys_for_more(_free.ids);
  END LOOP;
  RETURN _granted;
END $$;

-- Returns the requests that are first in the queues of some keys and can be granted: of each the locks of all its keys
-- are held (_covered), or are available at once. One that another transaction changes is being given up there.
-- replaces: the trigger of one of them holds something of its last firing. more: another request may have some of their
-- keys too, since they are counted or the same instance asks for them again.
CREATE OR REPLACE FUNCTION wed.first_of_all(
  _keys wed.resource_key[], _covered bigint[], OUT ids bigint[], OUT replaces boolean, OUT more boolean)
LANGUAGE plpgsql AS $$
DECLARE
  _first bigint[] := ARRAY(SELECT f FROM wed.first_in_queues(_keys) f);
  _some bigint[];
BEGIN
  IF _first = '{}' THEN RETURN; END IF;
  -- Counted keys bring in others, whose locks nobody foresaw.
  IF NOT _first <@ _covered THEN
    _some := ARRAY(SELECT i FROM unnest(_first) i WHERE i <> ALL (_covered));
    _first := ARRAY(
      SELECT i FROM unnest(_first) i WHERE i = ANY (_covered)
      UNION ALL
      SELECT n.i FROM (
        SELECT s.i, ARRAY(SELECT ROW(tenant_id, resource, key)::wed.resource_key FROM wed.reservation
            WHERE request_id = s.i) AS needs
        FROM unnest(_some) s(i)) n
      WHERE cardinality(wed.lock_keys(n.needs, true)) = cardinality(n.needs));
  END IF;
  WITH l AS MATERIALIZED (
    -- Each by its number, not all that wait by their state.
    SELECT r.* FROM (SELECT i FROM unnest(_first) i ORDER BY i) f
    CROSS JOIN LATERAL (SELECT * FROM wed.request WHERE request_id = f.i FOR UPDATE SKIP LOCKED) r
    WHERE r.state IN ('n', 'w'))
  SELECT array_agg(l.request_id), bool_or(o.replaced), bool_or(o.again OR c.counted)
  INTO ids, replaces, more
  FROM l CROSS JOIN LATERAL (
    SELECT bool_or(r.tgid = l.tgid AND r.state = 'h') AS replaced,
      count(*) FILTER (WHERE r.state IN ('n', 'w')) > 1 AS again
    FROM wed.request r WHERE r.flow_id = l.flow_id AND r.wid = l.wid) o
  CROSS JOIN LATERAL (
    SELECT bool_or(v.amount IS NOT NULL) AS counted FROM wed.reservation v WHERE v.request_id = l.request_id) c
  WHERE wed.in_the_way(ROW(l.*)::wed.request) IS NULL;
END $$;

-- Removes what the triggers of some requests hold of their last firings: the requests replace it.
CREATE OR REPLACE FUNCTION wed.drop_replaced(_requests bigint[]) RETURNS void
LANGUAGE sql AS $$
  WITH o AS (
    SELECT o.request_id FROM wed.request r JOIN wed.request o
    ON o.flow_id = r.flow_id AND o.wid = r.wid AND o.tgid = r.tgid AND o.state = 'h'
    WHERE r.request_id = ANY (_requests)
  ), v AS (
    DELETE FROM wed.reservation v USING o WHERE v.request_id = o.request_id)
  DELETE FROM wed.request r USING o WHERE r.request_id = o.request_id
$$;

-- Returns the keys of requests that were granted just now of which the next in the queue may have some too: counted
-- ones, and those that the same instance asks for again.
CREATE OR REPLACE FUNCTION wed.keys_for_more(_granted bigint[]) RETURNS wed.resource_key[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT DISTINCT ROW(v.tenant_id, v.resource, v.key)::wed.resource_key
    FROM wed.reservation v JOIN wed.request r USING (request_id)
    CROSS JOIN LATERAL (
      SELECT request_id, amount FROM wed.reservation q
      WHERE q.tenant_id = v.tenant_id AND q.resource = v.resource AND q.key = v.key AND NOT q.held
      ORDER BY q.priority DESC, q.request_id LIMIT 1) n
    CROSS JOIN LATERAL (SELECT flow_id, wid FROM wed.request WHERE request_id = n.request_id OFFSET 0) o
    WHERE v.request_id = ANY (_granted) AND (v.amount IS NOT NULL AND n.amount IS NOT NULL
      OR (o.flow_id, o.wid) = (r.flow_id, r.wid)));
END $$;

-- Returns the key that a request cannot have just now: another request is before it in the queue, or another instance
-- holds it, or too little of it is left; null when it can have all.
CREATE OR REPLACE FUNCTION wed.in_the_way(_request wed.request) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT v.key FROM wed.reservation v
    WHERE v.request_id = _request.request_id AND (
      (SELECT q.request_id FROM wed.reservation q
       WHERE q.tenant_id = v.tenant_id AND q.resource = v.resource AND q.key = v.key AND NOT q.held
       ORDER BY q.priority DESC, q.request_id LIMIT 1) IS DISTINCT FROM v.request_id
      OR EXISTS (
        SELECT FROM wed.reservation o JOIN wed.request r USING (request_id)
        WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key AND o.held
          AND (o.amount IS NULL OR v.amount IS NULL) AND (r.flow_id, r.wid) <> (_request.flow_id, _request.wid))
      OR v.amount IS NOT NULL AND v.amount + (
        SELECT coalesce(sum(o.amount), 0) FROM wed.reservation o JOIN wed.request r USING (request_id)
        WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key AND o.held
          AND (r.flow_id, r.wid, r.tgid) <> (_request.flow_id, _request.wid, _request.tgid))
        > coalesce((SELECT s.capacity - s.minimum FROM wed.resource s
                    WHERE s.tenant_id = v.tenant_id AND s.resource = v.resource AND s.key = v.key), 0))
    ORDER BY v.key LIMIT 1);
END $$;

-- Returns the request that is first in the queue for a key.
CREATE OR REPLACE FUNCTION wed.first_in_queue(_key wed.resource_key) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT request_id FROM wed.reservation
          WHERE tenant_id = _key.tenant_id AND resource = _key.resource AND key = _key.key AND NOT held
          ORDER BY priority DESC, request_id LIMIT 1);
END $$;

-- Makes the jobs of granted requests due. Of those whose jobs somebody has locked the requests are marked, for the
-- chores. Returns how many jobs are the hosts'.
CREATE OR REPLACE FUNCTION wed.make_granted_due(_requests bigint[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  _hosted bigint;
BEGIN
  IF _requests = '{}' THEN RETURN 0; END IF;
  _hosted := (
    SELECT sum(wed.make_due(g.flow_id, g.wids, g.tgids, false))
    FROM (SELECT flow_id, array_agg(wid ORDER BY wid) AS wids, array_agg(tgid ORDER BY wid) AS tgids FROM wed.request
          WHERE request_id = ANY (_requests) GROUP BY flow_id ORDER BY flow_id) g);
  UPDATE wed.request r SET leads = m.undue
  FROM (SELECT q.request_id, EXISTS (
          SELECT FROM wed.job j WHERE j.flow_id = q.flow_id AND j.wid = q.wid AND j.tgid = q.tgid
              AND j.blocked = 'r') AS undue
        FROM wed.request q WHERE q.request_id = ANY (_requests) AND q.state = 'h') m
  WHERE r.request_id = m.request_id AND r.leads <> m.undue;
  RETURN coalesce(_hosted, 0);
END $$;

-- Chores of a tenant's reservations: `reservations` looks after its requests, `circles` ends one of instances that wait
-- for each other.

CREATE OR REPLACE FUNCTION wed.due_reservations()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT t.tenant_id, 0, 0::bigint, 0, now() FROM wed.tenant t WHERE EXISTS (
    SELECT FROM wed.request r WHERE r.tenant_id = t.tenant_id AND (r.state <> 'h' OR r.leads))
$$;

CREATE OR REPLACE FUNCTION wed.do_reservations(_tenant_id integer, _flow_id integer, _thing bigint, _tgid integer)
RETURNS jsonb LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT to_jsonb(wed.keep_tenants_reservations(_tenant_id))
$$;

CREATE OR REPLACE FUNCTION wed.due_circles()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT t.tenant_id, 0, 0::bigint, 0, now() FROM wed.tenant t WHERE EXISTS (
    SELECT FROM wed.request r WHERE r.tenant_id = t.tenant_id AND r.state = 'w')
$$;

-- Ends the youngest of instances that wait for each other in a circle: each holds something until later, waits for what
-- another holds, and has nothing else to do. It is an exception, which frees what it holds.
CREATE OR REPLACE FUNCTION wed.do_circles(_tenant_id integer, _flow_id integer, _thing bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _one record;
BEGIN
  SELECT * INTO _one FROM wed.youngest_of_circle(wed.stuck_requests(_tenant_id));
  IF NOT FOUND THEN RETURN 'false'; END IF;
  IF NOT wed.hold_instance(_one.flow_id, _one.wid, true) THEN RETURN NULL; END IF;
  RETURN to_jsonb(wed.pass_as_it_stands(_one.flow_id, _one.wid, _one.tgid, '_ABORT', format(
    '%s: waits in a circle: instance %s waits for %s, which this one holds', _one.trname, _one.by_wid, _one.key),
    NULL, NULL));
END $$;

-- Looks after a tenant's requests: those whose time has come are queued, what a commit could not hand over for want
-- of a lock is, and jobs that were locked when they were granted are made due. Of those that wait, some by chance are
-- looked at.
CREATE OR REPLACE FUNCTION wed.keep_tenants_reservations(_tenant_id integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _most CONSTANT integer := 200;
  _some bigint[];
  _hosted bigint;
BEGIN
  PERFORM wed.raise_holders(_tenant_id, _most);
  _some := ARRAY(SELECT request_id FROM wed.request
                 WHERE tenant_id = _tenant_id AND state = 'd' AND ready_at <= clock_timestamp()
                 ORDER BY ready_at LIMIT _most FOR UPDATE SKIP LOCKED);
  UPDATE wed.reservation SET held = false WHERE request_id = ANY (_some) AND held IS NULL;
  UPDATE wed.request SET state = 'n', xid = pg_current_xact_id() WHERE request_id = ANY (_some);
  _some := _some || ARRAY(SELECT s.request_id FROM unnest('{n,f,c}'::"char"[]) k(state) CROSS JOIN LATERAL (
    SELECT request_id FROM wed.request
    WHERE tenant_id = _tenant_id AND state = k.state AND (state <> 'h' OR leads)
      AND ready_at >= wed.moment_of_waiting(_tenant_id, k.state, _most) AND request_id <> ALL (_some)
          ORDER BY ready_at LIMIT _most FOR UPDATE SKIP LOCKED) s);
  _some := _some || ARRAY(SELECT r.request_id FROM (
      SELECT * FROM wed.request WHERE tenant_id = _tenant_id AND state = 'w'
        AND ready_at BETWEEN wed.moment_of_waiting(_tenant_id, 'w', _most) AND clock_timestamp() - interval '1 s'
      ORDER BY ready_at LIMIT _most) r
    WHERE wed.in_the_way(r) IS NULL);
  _hosted := wed.make_granted_due(wed.hand_over_requests(wed.lockable_requests(_some), '{}', '{}')
    || ARRAY(SELECT request_id FROM wed.request WHERE tenant_id = _tenant_id AND state = 'h' AND leads
             ORDER BY ready_at LIMIT _most FOR UPDATE SKIP LOCKED));
  IF _hosted > 0 THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  RETURN cardinality(_some);
END $$;

-- Gives the highest priority to waiting requests of instances for whose keys others have begun to wait since: behind
-- those, both would wait for ever. Looks at _most of a tenant's, some by chance.
CREATE OR REPLACE FUNCTION wed.raise_holders(_tenant_id integer, _most integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _first CONSTANT integer := 2147483647;
BEGIN
  WITH w AS MATERIALIZED (
    SELECT request_id, flow_id, wid FROM wed.request
    WHERE tenant_id = _tenant_id AND state = 'w' AND ready_at >= wed.moment_of_waiting(_tenant_id, 'w', _most)
    ORDER BY ready_at LIMIT _most FOR UPDATE SKIP LOCKED)
  UPDATE wed.reservation v SET priority = _first FROM w
  WHERE v.request_id = w.request_id AND NOT v.held AND v.priority < _first AND wed.holds_up(w.flow_id, w.wid);
END $$;

-- Returns where to begin to look at _most of a tenant's requests of a state: of more, at a moment by chance, so that
-- who looks again and again sees each of them at some time.
CREATE OR REPLACE FUNCTION wed.moment_of_waiting(_tenant_id integer, _state "char", _most integer) RETURNS timestamptz
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _oldest timestamptz;
  _newest timestamptz;
BEGIN
  IF (SELECT count(*) FROM (SELECT FROM wed.request WHERE tenant_id = _tenant_id AND state = _state
                            AND (state <> 'h' OR leads) LIMIT _most + 1) r) <= _most THEN
    RETURN '-infinity';
  END IF;
  SELECT min(ready_at), max(ready_at) INTO _oldest, _newest FROM wed.request
  WHERE tenant_id = _tenant_id AND state = _state AND (state <> 'h' OR leads);
  RETURN _oldest + random() * (_newest - _oldest);
END $$;

-- Locks the keys of some requests as far as nobody else has them locked, and answers the requests of which none is.
CREATE OR REPLACE FUNCTION wed.lockable_requests(_requests bigint[]) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
  _keys wed.resource_key[];
  _busy wed.resource_key[];
BEGIN
  IF _requests = '{}' THEN RETURN _requests; END IF;
  _keys := ARRAY(
    SELECT DISTINCT ROW(l.tenant_id, l.resource, l.key)::wed.resource_key FROM wed.reservation v
    JOIN wed.resource_lock l ON l.tenant_id = v.tenant_id AND l.resource = v.resource AND l.key = v.key
    WHERE v.request_id = ANY (_requests));
  _busy := ARRAY(SELECT unnest(_keys) EXCEPT SELECT unnest(wed.lock_keys(_keys, true)));
  IF _busy = '{}' THEN RETURN _requests; END IF;
  RETURN ARRAY(SELECT i FROM unnest(_requests) i WHERE NOT EXISTS (
    SELECT FROM wed.reservation v WHERE v.request_id = i
      AND ROW(v.tenant_id, v.resource, v.key)::wed.resource_key = ANY (_busy)));
END $$;

-- Returns a tenant's waiting requests that can never be granted unless one of them is given up. At first all of
-- instances that hold something and have nothing else to do; then those are left out that could proceed when all others
-- release what they hold. Of many it looks at some by chance, and gives up after a while: the next look takes
-- others.
CREATE OR REPLACE FUNCTION wed.stuck_requests(_tenant_id integer) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _until timestamptz := clock_timestamp() + interval '300 ms';
  _most integer := (ARRAY[100, 300, 1000])[1 + floor(random() * 3)];
  _stuck bigint[];
  _left bigint[];
BEGIN
  _stuck := ARRAY(
    SELECT r.request_id FROM (
      SELECT * FROM wed.request WHERE tenant_id = _tenant_id AND state = 'w'
        AND ready_at >= wed.moment_of_waiting(_tenant_id, 'w', _most) ORDER BY ready_at LIMIT _most) r
    WHERE EXISTS (SELECT FROM wed.request h WHERE h.flow_id = r.flow_id AND h.wid = r.wid
        AND h.state = 'h')
      AND NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = r.flow_id AND j.wid = r.wid
        AND (j.blocked IS NULL OR j.blocked = 'c'))
    ORDER BY r.request_id);
  LOOP
    EXIT WHEN _stuck = '{}';
    IF clock_timestamp() > _until THEN RETURN '{}'; END IF;
    _left := ARRAY(
      WITH o AS (
        -- What stuck instances hold.
        SELECT n.*, h.flow_id, h.wid FROM wed.request h JOIN wed.reservation n USING (request_id)
        WHERE h.state = 'h' AND (h.flow_id, h.wid) IN (SELECT s.flow_id, s.wid FROM wed.request s
            WHERE s.request_id = ANY (_stuck)))
      SELECT DISTINCT r.request_id FROM wed.request r JOIN wed.reservation v USING (request_id)
      LEFT JOIN wed.resource s ON s.tenant_id = v.tenant_id AND s.resource = v.resource AND s.key = v.key
      CROSS JOIN LATERAL (
        SELECT bool_or(o.amount IS NULL OR v.amount IS NULL) AS apart, sum(o.amount) AS amount FROM o
        WHERE o.tenant_id = v.tenant_id AND o.resource = v.resource AND o.key = v.key
            AND (o.flow_id, o.wid) <> (r.flow_id, r.wid)) h
      WHERE r.request_id = ANY (_stuck) AND (
        h.apart OR h.amount + v.amount > coalesce(s.capacity - s.minimum, 0)
        OR EXISTS (SELECT FROM wed.reservation f WHERE f.tenant_id = v.tenant_id AND f.resource = v.resource
            AND f.key = v.key
                   AND NOT f.held AND f.request_id < v.request_id AND f.request_id = ANY (_stuck))));
    EXIT WHEN cardinality(_left) = cardinality(_stuck);
    _stuck := _left;
  END LOOP;
  RETURN _stuck;
END $$;

-- Of requests that wait in circles, the youngest one whose instance holds what another of them waits for, with that
-- one's instance and the key.
CREATE OR REPLACE FUNCTION wed.youngest_of_circle(_stuck bigint[])
RETURNS TABLE (flow_id integer, wid integer, tgid integer, trname text, key text, by_wid integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT r.flow_id, r.wid, r.tgid, t.trname, n.key, w.wid
  FROM wed.request r JOIN wed.trigger t ON t.tgid = r.tgid
  JOIN wed.request h ON h.flow_id = r.flow_id AND h.wid = r.wid AND h.state = 'h'
  JOIN wed.reservation n ON n.request_id = h.request_id
  JOIN wed.reservation v ON v.tenant_id = n.tenant_id AND v.resource = n.resource AND v.key = n.key
    AND v.request_id = ANY (_stuck)
  JOIN wed.request w ON w.request_id = v.request_id AND (w.flow_id, w.wid) <> (r.flow_id, r.wid)
  WHERE r.request_id = ANY (_stuck) ORDER BY r.request_id DESC LIMIT 1
$$;

-- Removes rows of keys that nobody wants. Looks at pages by chance, so that each tenant's rows are met as often as it
-- has many, until few are found or the time is up. Returns how many it removed.
CREATE OR REPLACE FUNCTION wed.remove_unused_locks(_until timestamptz) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _pages_of_look CONSTANT integer := 100;
  _few CONSTANT integer := 500;
  _pages bigint := pg_relation_size('wed.resource_lock') / current_setting('block_size')::integer;
  _found bigint;
  _removed bigint := 0;
BEGIN
  LOOP
    DELETE FROM wed.resource_lock WHERE ctid = ANY (ARRAY(
      SELECT l.ctid FROM wed.resource_lock l
        TABLESAMPLE SYSTEM (least(100, 100.0 * _pages_of_look / greatest(_pages, 1)))
      WHERE l.used_at < now() - interval '1 minute'
        AND NOT EXISTS (SELECT FROM wed.reservation v
                        WHERE v.tenant_id = l.tenant_id AND v.resource = l.resource AND v.key = l.key)
      FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS _found = ROW_COUNT;
    _removed := _removed + _found;
    EXIT WHEN _found < _few OR clock_timestamp() > _until;
  END LOOP;
  RETURN _removed;
END $$;
