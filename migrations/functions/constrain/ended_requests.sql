-- The requests that end with new states of some instances: jobs ended (_tgids; null where none did), triggers
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
