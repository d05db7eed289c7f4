-- Declares of a trigger which transition undoes its own (compensation) and how long its job may take in all (deadline);
-- null takes it back. The compensation gets a trigger without condition, which only wed.undo_next fires.
CREATE OR REPLACE FUNCTION wed.set_policy(_flow_id integer, _tgid integer, _compensation text, _deadline interval)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _compensation IS NULL AND _deadline IS NULL THEN
    DELETE FROM wed.trigger_policy WHERE tgid = _tgid;
    RETURN;
  END IF;
  PERFORM wed.check_span('22023', format('the deadline of trigger "%s"',
    (SELECT coalesce(tgname, trname) FROM wed.trigger WHERE tgid = _tgid)), _deadline);
  IF _deadline <= '0' THEN
    RAISE EXCEPTION 'the deadline of trigger "%" is not positive: %',
      (SELECT coalesce(tgname, trname) FROM wed.trigger WHERE tgid = _tgid), _deadline
      USING ERRCODE = '22023', HINT = 'Write a span such as "2 hours".';
  ELSIF _compensation !~ '^[^_]' OR octet_length(_compensation) > 63 THEN
    RAISE EXCEPTION 'trigger "%" cannot have "%" for a compensation',
      (SELECT coalesce(tgname, trname) FROM wed.trigger WHERE tgid = _tgid), left(_compensation, 80)
      USING ERRCODE = '22023', HINT = 'Name a transition: at most 63 bytes, no "_" in front.';
  END IF;
  INSERT INTO wed.trigger_policy AS p (tgid, flow_id, compensation, deadline)
  VALUES (_tgid, _flow_id, _compensation, _deadline)
  ON CONFLICT (tgid) DO UPDATE SET compensation = excluded.compensation, deadline = excluded.deadline
  WHERE (p.compensation, p.deadline) IS DISTINCT FROM (excluded.compensation, excluded.deadline);
  IF _compensation IS NOT NULL AND wed.compensation_trigger(_flow_id, _compensation) IS NULL THEN
    INSERT INTO wed.trigger (tgid, flow_id, tenant_id, trname, cfinal, enabled, timeout, attempts, backoff, delay,
      priority,
                             recheck, component_id)
    SELECT wed.next_tgid(), t.flow_id, t.tenant_id, _compensation, false, true, t.timeout, t.attempts,
      t.backoff, '0', 0,
           false, wed.bound_component(_flow_id, _compensation)
    FROM wed.trigger t WHERE t.tgid = _tgid;
  END IF;
END $$;
