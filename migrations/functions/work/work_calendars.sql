-- The calendars of a tenant, by name.
CREATE OR REPLACE FUNCTION wed.work_calendars(_tenant text) RETURNS SETOF jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('calendar', c.name, 'zone', c.zone, 'weekdays', c.weekdays, 'opens', c.opens, 'closes',
    c.closes,
                            'holidays', c.holidays)
  FROM wed.work_calendar c JOIN wed.tenant t USING (tenant_id) WHERE t.name = _tenant ORDER BY c.name LIMIT 1000
$$;
