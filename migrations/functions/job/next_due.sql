-- Whether a job of the hosts is due that nobody has claimed, and in how many milliseconds the next one will
-- be that is not due yet; null when there is none.
CREATE OR REPLACE FUNCTION wed.next_due(OUT waits boolean, OUT next_ms bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _now timestamptz := clock_timestamp();
BEGIN
  waits := wed.tenants_with_work(_now, '{}') <> '{}';
  SELECT (extract(epoch FROM j.due - _now) * 1000)::bigint INTO next_ms FROM wed.job j
  WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.delayed AND j.due > _now AND j.due < 'infinity'
  ORDER BY j.due LIMIT 1;
END $$;
