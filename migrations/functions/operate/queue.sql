-- Counts the pending jobs by what becomes of them, and the age of the oldest that could run.
CREATE OR REPLACE FUNCTION wed.queue() RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object(
    'in_flight', count(*) FILTER (WHERE j.state = 'leased'),
    'ready', count(*) FILTER (WHERE j.state = 'ready' AND j.component_id IS NOT NULL),
    'ready_age_s', coalesce(extract(epoch FROM now() - min(j.due) FILTER (
      WHERE j.state = 'ready' AND j.component_id IS NOT NULL))::bigint, 0),
    'external', count(*) FILTER (WHERE j.component_id IS NULL AND j.trname <> '_EXCPT' AND j.state <> 'paused'
      AND NOT j.bound),
    'no_component', count(*) FILTER (WHERE j.component_id IS NULL AND j.state <> 'paused' AND j.bound),
    'exceptions', count(*) FILTER (WHERE j.trname = '_EXCPT'),
    'paused', count(*) FILTER (WHERE j.state = 'paused'),
    'later', count(*) FILTER (WHERE j.state IN ('delayed', 'blocked', 'awaiting_siblings')))
  FROM (
    SELECT q.due, q.component_id, q.trname, wed.state_of(q) AS state,
      q.component_id IS NULL AND EXISTS (
        SELECT FROM wed.binding b WHERE b.flow_id = q.flow_id AND b.trname = q.trname) AS bound
    FROM wed.job q) j
$$;
