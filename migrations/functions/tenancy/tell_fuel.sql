-- What a host's transitions used since it told last, by tenant. Answers which tenants' fired jobs no host
-- keeps: those that rest now, and those whose jobs in flight are limited, so that each is claimed.
CREATE OR REPLACE FUNCTION wed.tell_fuel(_tenants integer[], _fuel bigint[], OUT resting integer[],
  OUT limited integer[])
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  _minute timestamptz := date_trunc('minute', clock_timestamp());
BEGIN
  -- In one order, so that hosts do not wait for each other in a circle.
  PERFORM FROM wed.usage u WHERE u.tenant_id = ANY (_tenants) ORDER BY u.tenant_id FOR NO KEY UPDATE;
  UPDATE wed.usage u SET minute = _minute,
    fuel = CASE WHEN u.minute = _minute THEN u.fuel ELSE 0 END + r.fuel,
    fuel_before = CASE u.minute WHEN _minute THEN u.fuel_before WHEN _minute - interval '1 minute' THEN u.fuel
      ELSE 0 END
  FROM ROWS FROM (unnest(_tenants), unnest(_fuel)) AS r(tenant_id, fuel) WHERE u.tenant_id = r.tenant_id;
  UPDATE wed.usage u SET resting = NOT u.resting
  FROM (SELECT v.tenant_id FROM wed.usage v JOIN wed.quota q USING (tenant_id)
        WHERE (q.fuel_per_minute IS NOT NULL OR v.resting)
          AND v.resting <> coalesce(wed.fuel_used(v) >= q.fuel_per_minute, false)
        ORDER BY v.tenant_id FOR NO KEY UPDATE OF v SKIP LOCKED) c
  WHERE u.tenant_id = c.tenant_id;
  IF FOUND THEN PERFORM pg_notify('wed_jobs', ''); END IF;
  resting := ARRAY(SELECT u.tenant_id FROM wed.usage u WHERE u.resting OR u.over IS NOT NULL);
  limited := ARRAY(SELECT q.tenant_id FROM wed.quota q WHERE q.concurrency IS NOT NULL);
END $$;
