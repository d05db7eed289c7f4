-- Schedules: those of a definition, and which are due.

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

-- Says why no instance can start with some values, as far as the values alone decide it; null where one can, where the
-- clock has a part in it, and where the look itself fails.
CREATE OR REPLACE FUNCTION wed.start_fault(_flow wed.flow, _values jsonb) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _state wed.evaluated;
BEGIN
  EXECUTE format('SELECT s.* FROM unnest(%1$I.evaluate_%1$s(ARRAY[jsonb_populate_record(NULL::%1$I.wed_flow, $1)])) s',
    _flow.shape_schema) INTO _state USING jsonb_build_object('wid', 1) || wed.lint_defaults(_flow.flow_id) || _values;
  RETURN CASE
    WHEN _state.fault IS NOT NULL THEN 'its state cannot be evaluated: ' || _state.fault
    WHEN _state.fired = '{}' AND NOT _state.final AND NOT EXISTS (
      SELECT FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND t.enabled AND t.timely)
      THEN 'its state satisfies no condition' END;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;

-- Refuses a schedule whose values can start no instance.
CREATE OR REPLACE FUNCTION wed.refuse_start(_flow wed.flow, _name text, _values jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _fault text := wed.start_fault(_flow, _values);
BEGIN
  IF _fault IS NOT NULL THEN
    RAISE EXCEPTION 'schedule "%" would start nothing: %', left(_name, 80), _fault
      USING ERRCODE = CASE WHEN _fault LIKE '%satisfies no condition' THEN 'WF001' ELSE 'WF014' END,
      HINT = 'Give it values by which a condition of the flow holds; `wed flow show` lists them.';
  END IF;
END $$;

-- Makes a flow's schedules those of a definition; null leaves them as they are. While pattern, zone and policy for
-- missed times stay the same, so does the next time. That of others a host finds, which knows patterns (begins).
CREATE OR REPLACE FUNCTION wed.apply_schedules(_flow wed.flow, _schedules jsonb, _actor text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _new record;
BEGIN
  IF _schedules IS NULL OR _schedules = coalesce(wed.schedules_of(_flow.flow_id), '[]') THEN RETURN; END IF;
  DELETE FROM wed.schedule s WHERE s.flow_id = _flow.flow_id AND s.name NOT IN (
    SELECT n ->> 'name' FROM jsonb_array_elements(_schedules) n);
  FOR _new IN SELECT n ->> 'name' AS name, n ->> 'cron' AS cron, coalesce(n ->> 'zone', 'UTC') AS zone,
      coalesce(n -> 'state', '{}') AS state, coalesce(n ->> 'missed', 'one') AS missed,
      coalesce(n ->> 'overlap', 'start') AS overlap FROM jsonb_array_elements(_schedules) n
  LOOP
    PERFORM wed.refuse_values(_flow, _new.state), wed.refuse_schedules(_flow, _new.name);
    INSERT INTO wed.schedule AS s (flow_id, name, cron, zone, state, missed, overlap, next_at, begins, actor)
    VALUES (_flow.flow_id, _new.name, _new.cron, _new.zone, _new.state, _new.missed, _new.overlap, clock_timestamp(),
      true, _actor)
    ON CONFLICT (flow_id, name) DO UPDATE SET cron = excluded.cron, zone = excluded.zone, state = excluded.state,
      missed = excluded.missed, overlap = excluded.overlap, actor = excluded.actor,
      (next_at, begins) = (SELECT CASE WHEN k.same THEN s.next_at ELSE excluded.next_at END, NOT k.same OR s.begins
        FROM (SELECT s.next_at IS NOT NULL AND (s.cron, s.zone, s.missed)
          = (excluded.cron, excluded.zone, excluded.missed) AS same) k);
  END LOOP;
END $$;

-- Returns the schedules of a flow as its definition says them, without what is at its default; null for none.
CREATE OR REPLACE FUNCTION wed.schedules_of(_flow_id integer) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('name', name, 'cron', cron, 'zone', nullif(zone, 'UTC'),
    'missed', nullif(missed, 'one'), 'overlap', nullif(overlap, 'start')))
      || CASE WHEN state = '{}' THEN '{}' ELSE jsonb_build_object('state', state) END ORDER BY name)
  FROM wed.schedule WHERE flow_id = _flow_id
$$;
