-- Chore of schedules: which are due.

-- Chore `schedules`: schedules that are due. Hosts do it themselves (Store::fire_schedules): they know the next time of
-- a pattern.
CREATE OR REPLACE FUNCTION wed.due_schedules()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, s.flow_id, s.schedule_id, 0, s.next_at
  FROM wed.schedule s JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id)
  WHERE NOT s.paused AND s.next_at <= clock_timestamp() AND t.suspended_at IS NULL
    AND NOT EXISTS (SELECT FROM wed.pause p WHERE p.tenant_id = f.tenant_id
      AND (p.flow_id IS NULL OR p.flow_id = f.flow_id) AND p.tgid IS NULL AND p.wid IS NULL)
$$;

-- Refuses another schedule beyond those that a flow or its tenant may have.
CREATE OR REPLACE FUNCTION wed.refuse_schedules(_flow wed.flow, _name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of_flow_max CONSTANT bigint := 50;
  _allowed bigint := (SELECT schedules FROM wed.quota WHERE tenant_id = _flow.tenant_id);
  _used bigint;
BEGIN
  IF EXISTS (SELECT FROM wed.schedule WHERE flow_id = _flow.flow_id AND name = _name) THEN RETURN; END IF;
  SELECT count(*) INTO _used FROM wed.schedule WHERE flow_id = _flow.flow_id;
  IF _used >= _of_flow_max THEN
    RAISE EXCEPTION 'the flow has % schedules, and no flow may have more', _used USING ERRCODE = 'WF020',
      DETAIL = json_build_object('limit', 'schedules of a flow', 'used', _used, 'allowed', _of_flow_max)::text,
      HINT = 'Remove one, or let one schedule start what several do.';
  END IF;
  SELECT count(*) INTO _used FROM wed.schedule s JOIN wed.flow f USING (flow_id) WHERE f.tenant_id = _flow.tenant_id;
  IF _used >= _allowed THEN PERFORM wed.refuse_quota('schedules', _used, _allowed); END IF;
END $$;
