-- The reason of a code of wed.waiting_reason in words, for a job of a tenant; null for `time`, which is no reason to do
-- anything, and for what names its own. The program has the same words.
-- Called by the view job_pool of every flow.
CREATE OR REPLACE FUNCTION wed.waiting_text(_code text, _tenant_id integer) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE _code
    WHEN 'no_host' THEN 'no host is running'
    WHEN 'no_component' THEN 'its component was not uploaded'
    WHEN 'no_worker' THEN 'no worker is connected'
    WHEN 'person' THEN 'it is a person''s work'
    WHEN 'circuit' THEN 'the circuit breaker of its component is open'
    WHEN 'paused' THEN 'an operator paused it'
    WHEN 'quota' THEN 'the tenant''s quota is used up: ' || coalesce(
      (SELECT CASE WHEN u.resting THEN 'fuel_per_minute' ELSE u.over END FROM wed.usage u
       WHERE u.tenant_id = _tenant_id), 'concurrency')
    END
$$;
