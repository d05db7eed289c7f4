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

