-- The jobs that a host holds, of those in some rows. Each is looked up where it is: of tokens there is no index, and
-- to go through all that the host holds took 5 ms with 700 jobs in flight.
CREATE OR REPLACE FUNCTION wed.held(_host_id integer, _taken tid[]) RETURNS SETOF wed.claimed
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT j.flow_id, j.wid, j.tgid, t.tgname, j.trname, j.token, j.attempt, t.timeout_ms,
         coalesce(j.payload, r.state), j.component_id, f.version, j.seq
  FROM unnest(_taken) a(at)
  CROSS JOIN LATERAL (SELECT * FROM wed.job WHERE ctid = a.at OFFSET 0) j
  -- One look for each, however few triggers and flows there were when the plan was made.
  CROSS JOIN LATERAL (SELECT * FROM wed.trigger WHERE tgid = j.tgid OFFSET 0) t
  CROSS JOIN LATERAL (SELECT * FROM wed.flow WHERE flow_id = j.flow_id OFFSET 0) f
  LEFT JOIN wed.trace r ON r.flow_id = j.flow_id AND r.wid = j.wid AND r.seq = j.seq AND r.tstmp = j.fired_at
  WHERE j.host_id = _host_id;
END $$;
