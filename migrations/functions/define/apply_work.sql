-- Plans the people's work that the triggers of a definition name; of a definition without any, forgets what an earlier
-- one named. The plan of a process is left as it is.
CREATE OR REPLACE FUNCTION wed.apply_work(_flow_id integer, _triggers jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tasks jsonb := (SELECT jsonb_agg((t -> 'work') || jsonb_build_object('trigger', t -> 'name') ORDER BY at)
                   FROM jsonb_array_elements(_triggers) WITH ORDINALITY x(t, at) WHERE t ? 'work');
  _is_planned boolean := EXISTS (SELECT FROM wed.work_plan WHERE flow_id = _flow_id
                                 AND plan ->> 'source' = 'definition' AND plan -> 'tasks' <> '[]');
BEGIN
  IF _tasks IS NOT NULL OR _is_planned THEN
    PERFORM wed.plan_work(_flow_id, jsonb_build_object('source', 'definition', 'tasks', coalesce(_tasks, '[]')));
  END IF;
END $$;
