-- Returns the tenants that have jobs a host could begin now, except those in _without, those that are suspended and
-- those that have used up a quota. One index probe finds each tenant with jobs that were due when they were fired. Of
-- jobs that waited for their time, those that are due are read in the order of the index; where they are many, each
-- tenant with unclaimed jobs is probed instead.
-- In plpgsql, which keeps the plan: it is made anew at each call of a function in SQL, and takes longer than this.
CREATE OR REPLACE FUNCTION wed.tenants_with_work(_now timestamptz, _without integer[]) RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _jobs_read_max CONSTANT integer := 512;
  _woken integer[];
  _immediate integer[];
BEGIN
  _woken := ARRAY(
    SELECT j.tenant_id FROM wed.job j
    WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND j.delayed AND j.due <= _now
    ORDER BY j.due LIMIT _jobs_read_max);
  IF cardinality(_woken) = _jobs_read_max THEN
    _woken := wed.tenants_by_probe(_now);
  END IF;
  _immediate := (WITH RECURSIVE n(tenant_id) AS (
    SELECT min(j.tenant_id) FROM wed.job j
    WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND NOT j.delayed
    UNION ALL
    SELECT (SELECT min(j.tenant_id) FROM wed.job j
            WHERE j.host_id IS NULL AND j.component_id IS NOT NULL AND NOT j.delayed AND j.tenant_id > n.tenant_id)
    FROM n WHERE n.tenant_id IS NOT NULL)
  SELECT coalesce(array_agg(n.tenant_id) FILTER (WHERE n.tenant_id IS NOT NULL), '{}') FROM n);
  IF _woken = '{}' AND _immediate = '{}' THEN
    RETURN '{}';
  END IF;
  RETURN ARRAY(
    SELECT DISTINCT t.tenant_id FROM unnest(_immediate || _woken) t(tenant_id)
    WHERE t.tenant_id <> ALL (_without) AND t.tenant_id <> ALL ((SELECT wed.resting())::integer[]));
END $$;
