-- Chores: what any host does for all tenants, each due thing by turns of tenants (decision 0055). A kind has two
-- functions, which stand with their subject:
--   wed.due_KIND() lists what is due as (tenant_id, flow_id, thing, tgid, since). It must not raise whatever a tenant's
--     rows hold, waits for no lock of a tenant, and lists a bounded number of each flow.
--   wed.do_KIND(tenant_id, flow_id, thing, tgid) does one thing. Null: a session is at it, and it is tried again later.
-- A host asks for due things (wed.find_chores) and does those of one flow in one short transaction (wed.do_chores): a
-- thing that raises, meets a lock or takes too long costs its own block, and is put off (wed.postpone).

-- Finds what is due of a kind and not put off: at most 50 things of each flow, those longest due first; flows by turns
-- of their tenants, in an order by chance. Returns at most 200 flows.
CREATE OR REPLACE FUNCTION wed.find_chores(_kind text) RETURNS SETOF wed.chore
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY EXECUTE format($q$
    WITH due AS MATERIALIZED (
      SELECT d.*, row_number() OVER (PARTITION BY d.tenant_id, d.flow_id ORDER BY d.since) AS place FROM wed.%I() d
      WHERE NOT EXISTS (SELECT FROM wed.postponed p WHERE p.kind = $1 AND p.flow_id = d.flow_id
        AND p.thing = d.thing AND p.tgid = d.tgid AND p.tenant_id = d.tenant_id AND p.until > clock_timestamp())
        AND d.tenant_id <> ALL (wed.moving_tenants())
    ), batch AS (
      SELECT tenant_id, flow_id, array_agg(thing ORDER BY place) AS things, array_agg(tgid ORDER BY place) AS tgids,
        row_number() OVER (PARTITION BY tenant_id ORDER BY min(since)) AS turn
      FROM due WHERE place <= 50 GROUP BY tenant_id, flow_id)
    SELECT tenant_id, flow_id, things, tgids FROM batch ORDER BY turn, random() LIMIT 200 $q$, 'due_' || _kind)
    USING _kind;
END $$;

-- Does things of one flow, each in a block of its own, until 200 ms have passed. Ends at a lock that it would wait for,
-- and when the statement's time is over. Returns what wed.do_KIND said of those that were done.
CREATE OR REPLACE FUNCTION wed.do_chores(_kind text, _chore wed.chore) RETURNS jsonb[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '50ms' AS $$
DECLARE
  _until timestamptz := clock_timestamp() + interval '200 ms';
  _call text := format('SELECT wed.%I($1, $2, $3, $4)', 'do_' || _kind);
  _was_postponed boolean := EXISTS (SELECT FROM wed.postponed WHERE kind = _kind AND flow_id = _chore.flow_id);
  _thing bigint;
  _tgid integer;
  _said jsonb;
  _done jsonb[] := '{}';
  _state text;
BEGIN
  IF _chore.tenant_id = ANY (wed.moving_tenants()) THEN RETURN _done; END IF;
  FOR _i IN 1 .. cardinality(_chore.things) LOOP
    EXIT WHEN clock_timestamp() > _until;
    _thing := _chore.things[_i];
    _tgid := _chore.tgids[_i];
    BEGIN
      EXECUTE _call INTO _said USING _chore.tenant_id, _chore.flow_id, _thing, _tgid;
      IF _said IS NULL THEN
        PERFORM wed.postpone(_kind, _chore.tenant_id, _chore.flow_id, _thing, _tgid, NULL);
        CONTINUE;
      ELSIF _was_postponed THEN
        DELETE FROM wed.postponed
        WHERE kind = _kind AND flow_id = _chore.flow_id AND thing = _thing AND tgid = _tgid
          AND tenant_id = _chore.tenant_id;
      END IF;
      _done := _done || _said;
    EXCEPTION WHEN OTHERS OR query_canceled THEN
      _state := SQLSTATE;
      PERFORM wed.postpone(_kind, _chore.tenant_id, _chore.flow_id, _thing, _tgid, SQLERRM);
      EXIT WHEN _state IN ('55P03', '57014');
    END;
  END LOOP;
  RETURN _done;
END $$;

-- Puts a thing off for a second, and twice as long each time it fails again, up to 64 s. Returns until when.
CREATE OR REPLACE FUNCTION wed.postpone(
  _kind text, _tenant_id integer, _flow_id integer, _thing bigint, _tgid integer, _reason text) RETURNS timestamptz
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.postponed AS p (kind, tenant_id, flow_id, thing, tgid, until, reason)
  SELECT _kind, tenant_id, _flow_id, _thing, _tgid, clock_timestamp() + interval '1 s',
    CASE WHEN _reason LIKE '%due to lock timeout' THEN 'another session holds a lock'
      WHEN _reason LIKE '%due to statement timeout' THEN 'it takes too long' ELSE left(_reason, 1000) END
  FROM wed.tenant WHERE tenant_id = _tenant_id
  ON CONFLICT (kind, flow_id, thing, tgid, tenant_id) DO UPDATE
  SET failures = p.failures + 1, reason = excluded.reason,
    until = clock_timestamp() + 2 ^ least(p.failures, 6) * (0.75 + random() / 2) * interval '1 s'
  RETURNING until
$$;

-- Forgets what was put off and is not due any more. Returns how many things.
CREATE OR REPLACE FUNCTION wed.forget_postponed() RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH gone AS (
    DELETE FROM wed.postponed WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM wed.postponed WHERE until < clock_timestamp() - interval '5 minutes' LIMIT 10000
      FOR UPDATE SKIP LOCKED))
    RETURNING 1)
  SELECT count(*) FROM gone
$$;

-- Chores that could not be done three times in a row: one row for each kind, flow and reason.
CREATE OR REPLACE FUNCTION wed.postponed_problems() RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'postponed', format('%s of %stenant %s: %s put off, the first %s s ago: %s', k.what,
      'flow ' || f.name || ' of ', t.name, count(*), (extract(epoch FROM clock_timestamp() - min(p.since)))::bigint,
      p.reason),
    'Other flows are not affected. Mend what the reason names, or end the session that holds the lock; it is tried '
    'again within 64 s.'
  FROM wed.postponed p JOIN wed.tenant t USING (tenant_id) LEFT JOIN wed.flow f USING (flow_id)
  JOIN (VALUES ('abandoned', 'jobs of a host that is gone'), ('overdue', 'overdue workers'),
    ('exhausted', 'jobs without attempts left'), ('stale', 'jobs whose condition no longer holds'),
    ('late', 'deadlines'), ('clock', 'conditions on the clock'), ('schedules', 'schedules'), ('pauses', 'pauses'),
    ('back', 'instances that go back'), ('reservations', 'reservations'), ('circles', 'circles of reservations'),
    ('numbers', 'numbers without gaps'), ('work', 'work items'), ('children', 'children'),
    ('exceptions', 'announcements of exceptions'),
    ('expired', 'removal of old instances'), ('look', 'claims')) k(kind, what) USING (kind)
  WHERE p.failures >= 3 AND p.reason IS NOT NULL AND p.until > clock_timestamp() - interval '1 minute'
  GROUP BY k.what, f.name, t.name, p.reason
$$;

-- Rebuilds indexes of wed.job that are ten times as large as their rows need: rows come and go at full rate, and pages
-- that were split stay. Waits for no writer for longer than 50 ms; the next look tries again. Returns how many it
-- rebuilt.
CREATE OR REPLACE FUNCTION wed.rebuild_indexes() RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '50ms' AS $$
DECLARE
  _bytes_of_row CONSTANT integer := 64;
  _bytes_least CONSTANT integer := 1048576;
  _index regclass;
  _rebuilt integer := 0;
BEGIN
  FOR _index IN
    SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = 'wed.job'::regclass
      AND pg_relation_size(c.oid) > greatest(_bytes_least, c.reltuples * _bytes_of_row * 10)
  LOOP
    EXECUTE format('REINDEX INDEX %s', _index);
    _rebuilt := _rebuilt + 1;
  END LOOP;
  RETURN _rebuilt;
EXCEPTION WHEN lock_not_available THEN
  RETURN _rebuilt;
END $$;

-- Removes what removed flows have left, of at most _limit instances. Returns whether there may be more.
CREATE OR REPLACE FUNCTION wed.remove_residue(_limit integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow_id integer;
  _wids integer[];
  _table text;
BEGIN
  SELECT flow_id INTO _flow_id FROM wed.residue ORDER BY flow_id LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  _wids := ARRAY(SELECT wid FROM wed.instance WHERE flow_id = _flow_id ORDER BY wid LIMIT _limit);
  PERFORM wed.keep_receipts(_flow_id, _wids);
  FOREACH _table IN ARRAY ARRAY['trace', 'attempt', 'log', 'recording', 'work_note', 'work_report', 'work_event',
    'work_item',
                               'work_reservation', 'work_instance', 'instance_name', 'instance'] LOOP
    EXECUTE format('DELETE FROM wed.%I WHERE flow_id = $1 AND wid = ANY ($2)', _table) USING _flow_id, _wids;
  END LOOP;
  DELETE FROM wed.child WHERE flow_id = _flow_id AND wid = ANY (_wids) AND state IN ('returned', 'cancelled');
  IF cardinality(_wids) < _limit THEN
    DELETE FROM wed.residue WHERE flow_id = _flow_id;
  END IF;
  RETURN true;
END $$;
