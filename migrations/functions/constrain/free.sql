-- Frees what instances of a flow hold, or wait for, no longer: jobs ended (_tgids; null where none did), triggers committed
-- until which something is held, instances ended. What an exception's other jobs hold stays until those end too.
CREATE OR REPLACE FUNCTION wed.free(_flow wed.flow, _wids integer[], _tgids integer[], _committed boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF _flow.ordered THEN
    IF _committed THEN
      INSERT INTO wed.task_done (flow_id, wid, tgid)
      SELECT _flow.flow_id, u.wid, u.tgid FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
      WHERE u.tgid IS NOT NULL ON CONFLICT DO NOTHING;
    END IF;
    PERFORM wed.take_order(_flow, _wids);
  END IF;
  WITH i AS MATERIALIZED (
    SELECT u.wid, u.tgid, s.status, g.tgname, g.trname FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
    JOIN wed.instance s ON s.flow_id = _flow.flow_id AND s.wid = u.wid
    LEFT JOIN LATERAL (SELECT tgname, trname FROM wed.trigger WHERE tgid = u.tgid OFFSET 0) g ON true
  ), gone AS (
    SELECT r.request_id, r.consumes AND r.state = 'h' AND _committed AND (r.holds = 'transition' AND r.tgid = i.tgid
             OR r.holds IN (i.tgname, i.trname) OR r.holds = 'instance' AND i.status = 'F') IS TRUE AS takes,
           row_number() OVER () = 1 AS leads
    FROM i JOIN wed.request r ON r.flow_id = _flow.flow_id AND r.wid = i.wid AND r.state NOT IN ('f', 'c')
    WHERE r.tgid = i.tgid AND (r.holds = 'transition' OR r.state <> 'h' OR NOT _committed)
       OR _committed AND r.state = 'h' AND r.holds IN (i.tgname, i.trname)
       OR i.status <> 'R' AND NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = r.flow_id AND j.wid = r.wid AND j.tgid = r.tgid
                                          AND j.blocked IS DISTINCT FROM 'a'))
  UPDATE wed.request r SET state = CASE WHEN g.takes THEN 'c' ELSE 'f' END, leads = g.leads, xid = pg_current_xact_id()
  FROM gone g WHERE r.request_id = g.request_id;
END $$;
