-- Frees, when the transaction commits, what instances of a flow hold, or wait for, no longer.
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
  WITH g AS MATERIALIZED (
    SELECT e.request_id, bool_or(e.takes) AS takes, row_number() OVER () = 1 AS leads
    FROM wed.ended_requests(_flow.flow_id, _wids, _tgids, _committed) e GROUP BY e.request_id)
  UPDATE wed.request r SET state = CASE WHEN g.takes THEN 'c' ELSE 'f' END, leads = g.leads, xid = pg_current_xact_id()
  FROM g WHERE r.request_id = g.request_id;
END $$;
