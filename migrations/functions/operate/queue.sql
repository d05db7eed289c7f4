-- Counts the pending jobs by what becomes of them, and the age of the oldest that could run.
CREATE OR REPLACE FUNCTION wed.queue() RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object(
    'in_flight', count(*) FILTER (WHERE host_id IS NOT NULL),
    'ready', count(*) FILTER (WHERE host_id IS NULL AND component_id IS NOT NULL AND due <= now()),
    'ready_age_s', coalesce(extract(epoch FROM now() - min(due) FILTER (WHERE host_id IS NULL
      AND component_id IS NOT NULL AND due <= now()))::bigint, 0),
    'external', count(*) FILTER (WHERE component_id IS NULL AND trname <> '_EXCPT' AND NOT wed.is_paused(due)
      AND NOT EXISTS (SELECT FROM wed.binding b WHERE b.flow_id = j.flow_id AND b.trname = j.trname)),
    'no_component', count(*) FILTER (WHERE component_id IS NULL AND NOT wed.is_paused(due)
      AND EXISTS (SELECT FROM wed.binding b WHERE b.flow_id = j.flow_id AND b.trname = j.trname)),
    'exceptions', count(*) FILTER (WHERE trname = '_EXCPT'),
    'paused', count(*) FILTER (WHERE wed.is_paused(due)),
    'later', count(*) FILTER (WHERE host_id IS NULL AND due > now() AND NOT wed.is_paused(due))) FROM wed.job j
$$;
