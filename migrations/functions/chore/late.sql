-- Chore `late`: jobs that were not done within their triggers' deadlines, pauses not counted, make their instances
-- exceptions.

-- Jobs that may be behind their deadlines: by seconds, since a deadline added to a time could be out of range, and a
-- month counts as 28 days (wed.do_late looks at the calendar).
CREATE OR REPLACE FUNCTION wed.due_late()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT j.tenant_id, p.flow_id, j.wid, j.tgid, j.fired_at
  FROM wed.trigger_policy p JOIN wed.job j ON j.flow_id = p.flow_id AND j.tgid = p.tgid
  CROSS JOIN LATERAL (SELECT extract(epoch FROM p.deadline)
    * CASE WHEN extract(month FROM p.deadline) <> 0 THEN 28.0 / 31 ELSE 1 END AS seconds OFFSET 0) d
  WHERE p.deadline IS NOT NULL AND extract(epoch FROM clock_timestamp() - j.fired_at) >= d.seconds
      + coalesce(extract(epoch FROM j.paused_for), 0)
    AND NOT wed.is_paused(j.due)
$$;

CREATE OR REPLACE FUNCTION wed.do_late(_tenant_id integer, _flow_id integer, _wid bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET intervalstyle = 'postgres' AS $$
DECLARE
  _late record;
BEGIN
  SELECT j.trname, p.deadline, j.fired_at + p.deadline + coalesce(j.paused_for, '0') <= clock_timestamp() AS is_late INTO _late
  FROM wed.job j JOIN wed.trigger_policy p USING (flow_id, tgid)
  WHERE j.flow_id = _flow_id AND j.wid = _wid AND j.tgid = _tgid;
  IF _late.is_late IS NOT TRUE THEN RETURN 'false'; END IF;
  IF NOT wed.hold_instance(_flow_id, _wid::integer, true) THEN RETURN NULL; END IF;
  RETURN to_jsonb(wed.pass_as_it_stands(_flow_id, _wid::integer, _tgid, '_DEADLINE',
    format('%s: not done within %s', _late.trname, _late.deadline), NULL, NULL));
END $$;
