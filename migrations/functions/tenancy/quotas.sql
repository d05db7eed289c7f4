-- A tenant's limits in order, with what is used of those that can be counted.
CREATE OR REPLACE FUNCTION wed.quotas(_tenant_id integer) RETURNS TABLE (name text, unit text, used bigint,
  allowed bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _usage wed.usage := wed.measure(_tenant_id,
    coalesce(pg_sequence_last_value(('wed.started_' || _tenant_id)::regclass), 0));
BEGIN
  RETURN QUERY
    SELECT a.attname::text, col_description(a.attrelid, a.attnum), CASE a.attname
             WHEN 'flows' THEN (SELECT count(*) FROM wed.flow f WHERE f.tenant_id = _tenant_id)
             WHEN 'components' THEN (SELECT count(*) FROM wed.component c WHERE c.tenant_id = _tenant_id)
             WHEN 'instances' THEN _usage.instances
             WHEN 'jobs' THEN _usage.jobs
             WHEN 'fuel_per_minute' THEN wed.fuel_used(_usage)
             WHEN 'concurrency' THEN (SELECT count(*) FROM wed.job j WHERE j.tenant_id = _tenant_id
               AND j.host_id IS NOT NULL)
             WHEN 'trace_bytes' THEN _usage.trace_bytes
             WHEN 'row_bytes' THEN _usage.row_bytes
             WHEN 'other_bytes' THEN _usage.other_bytes
             WHEN 'finished' THEN _usage.finished
             WHEN 'attempt_bytes' THEN _usage.attempt_bytes
             WHEN 'log_bytes' THEN _usage.log_bytes
             WHEN 'recording_bytes' THEN _usage.recording_bytes
             WHEN 'resources' THEN (SELECT count(*) FROM wed.resource r WHERE r.tenant_id = _tenant_id)
             WHEN 'schedules' THEN (SELECT count(*) FROM wed.schedule s JOIN wed.flow f USING (flow_id)
               WHERE f.tenant_id = _tenant_id)
             WHEN 'orders' THEN wed.count_orders(_tenant_id, NULL) END,
           (to_jsonb(q) ->> a.attname)::bigint
    FROM wed.quota q, pg_attribute a
    WHERE q.tenant_id = _tenant_id AND a.attrelid = 'wed.quota'::regclass AND a.attnum > 1 AND NOT a.attisdropped
    ORDER BY a.attnum;
END $$;
