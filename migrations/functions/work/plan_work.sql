-- Says which transitions of a flow are people's work: the plan of a process definition, or of `work` in a flow's TOML.
-- Replaces the plan before; jobs that are pending become work items. Returns how many did.
CREATE OR REPLACE FUNCTION wed.plan_work(_flow_id integer, _plan jsonb) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _flow wed.flow;
  _task jsonb;
  _kept integer[] := '{}';
  _opened bigint;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  IF NOT FOUND OR jsonb_typeof(_plan -> 'tasks') IS DISTINCT FROM 'array' THEN
    RAISE EXCEPTION 'the plan of work is not for a flow, or has no list "tasks"' USING ERRCODE = 'WF085',
      HINT = 'A plan is {"creator_role": …, "tasks": [{"task", "trigger", "type", "role", …}], "data": […]}.';
  ELSIF jsonb_array_length(_plan -> 'tasks') > 1000 OR octet_length(_plan::text) > 1048576 THEN
    RAISE EXCEPTION 'the plan of work has more than 1000 tasks or 1 MiB' USING ERRCODE = 'WF085',
      HINT = 'Divide the process into several flows.';
  END IF;
  FOR _task IN SELECT jsonb_array_elements(_plan -> 'tasks') LOOP
    IF coalesce(_task ->> 'type', 'manual') <> 'automatic' THEN
      _kept := _kept || wed.plan_task(_flow, _plan, _task);
    END IF;
  END LOOP;
  DELETE FROM wed.work_task WHERE flow_id = _flow_id AND tgid <> ALL (_kept);
  INSERT INTO wed.work_plan (flow_id, plan, creator_role)
  VALUES (_flow_id, _plan, wed.make_role(_flow.tenant_id, _plan ->> 'creator_role'))
  ON CONFLICT (flow_id) DO UPDATE SET plan = excluded.plan, creator_role = excluded.creator_role,
    applied_at = excluded.applied_at;
  SELECT count(wed.open_work_item(j)) INTO _opened FROM wed.job j
  WHERE j.flow_id = _flow_id AND j.tgid = ANY (_kept) AND j.component_id IS NULL
    AND NOT EXISTS (SELECT FROM wed.work_item i WHERE i.flow_id = j.flow_id AND i.wid = j.wid AND i.tgid = j.tgid
                    AND i.ended_at IS NULL);
  RETURN _opened;
END $$;
