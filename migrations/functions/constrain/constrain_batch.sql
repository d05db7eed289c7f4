-- What a host's batch means for constraints, as the last that its transaction does: frees what is held no longer,
-- hands it over, and reserves what fired jobs need. These are leased to the host already (wed.pass_gate); those that
-- cannot have all are blocked. Returns the jobs that the host has. Where a lock is not granted in time, all of it is
-- left to the sweep: the others of the batch do not wait for who keeps a key locked.
CREATE OR REPLACE FUNCTION wed.constrain_batch(_host_id integer, _rows wed.evaluated[], _tgids integer[])
RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _one record;
  _of record;
  _freed bigint[] := '{}';
  _asked wed.asking[] := '{}';
  _hosted bigint;
  _leased bigint;
BEGIN
  PERFORM set_config('lock_timeout', '250ms', true);
  BEGIN
    FOR _one IN SELECT * FROM wed.constrained_flows(_rows, _tgids) LOOP
      IF (_one.flow).ordered THEN
        PERFORM wed.unlease(_host_id, (_one.flow).flow_id, _one.wids);
        PERFORM wed.free(_one.flow, _one.wids, _one.tgids, true);
        PERFORM wed.ask(_one.flow, _one.wids, NULL);
      ELSE
        _of := wed.ask_at_once(_host_id, _one.flow, _one.asking, _one.ending, _one.ending_tgids);
        _freed := _freed || _of.freed;
        _asked := _asked || _of.asked;
      END IF;
    END LOOP;
    IF NOT FOUND THEN RETURN; END IF;
    _hosted := wed.hand_over_requests(wed.open_requests(), _freed, _asked);
  EXCEPTION WHEN lock_not_available THEN
    PERFORM wed.unlease(_host_id, (f.flow).flow_id, f.wids) FROM wed.constrained_flows(_rows, _tgids) f;
    PERFORM set_config('wed.hand_over', 'later', true);
    PERFORM wed.constrain(_rows, _tgids, true);
    RETURN;
  END;
  _leased := CASE WHEN _hosted > 0 THEN wed.lease_granted(_host_id, _rows) ELSE 0 END;
  IF _hosted > _leased THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  RETURN QUERY
    SELECT r.flow_id, r.wid, j.tgid, t.tgname, j.trname, j.token, 1, t.timeout_ms, coalesce(r.payload, r.state),
           j.component_id, r.version, j.seq
    FROM unnest(_rows) r
    CROSS JOIN LATERAL (SELECT FROM wed.flow WHERE flow_id = r.flow_id AND constrained AND r.fired && reserving
                        OFFSET 0) f
    CROSS JOIN LATERAL (
      SELECT tgid, trname, token, component_id, seq FROM wed.job
      WHERE flow_id = r.flow_id AND wid >= r.wid AND wid <= r.wid
        AND host_id = _host_id AND seq = last_seq ORDER BY wid DESC OFFSET 0) j
    CROSS JOIN LATERAL (SELECT tgname, timeout_ms, constrained FROM wed.trigger WHERE tgid = j.tgid OFFSET 0) t
    WHERE t.constrained;
END $$;
