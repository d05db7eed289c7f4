-- Removes final instances that ended longer ago than they are kept, at most _limit of them, with all that is
-- recorded of them. Answers how many.
CREATE OR REPLACE FUNCTION wed.expire_instances(_limit integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _old record;
  _table text;
  _removed bigint := 0;
BEGIN
  PERFORM set_config('wed.commit', 'expire', true);
  FOR _old IN
    SELECT o.flow_id, f.schema_name, array_agg(o.wid ORDER BY o.wid) AS wids
    FROM (SELECT i.flow_id, i.wid FROM wed.instance i
          WHERE i.status = 'F' AND i.changed < now() - (SELECT instances FROM wed.retention)
          LIMIT _limit FOR UPDATE SKIP LOCKED) o
    JOIN wed.flow f USING (flow_id) GROUP BY o.flow_id, f.schema_name ORDER BY o.flow_id
  LOOP
    EXECUTE format('DELETE FROM %I.wed_flow WHERE wid = ANY ($1)', _old.schema_name) USING _old.wids;
    FOREACH _table IN ARRAY ARRAY['trace', 'attempt', 'log', 'recording', 'pause', 'precedence', 'task_done',
      'request', 'work_note', 'work_report', 'work_event', 'work_item', 'work_reservation', 'work_instance',
      'instance_name', 'instance'] LOOP
      EXECUTE format('DELETE FROM wed.%I WHERE flow_id = $1 AND wid = ANY ($2)', _table) USING _old.flow_id, _old.wids;
    END LOOP;
    _removed := _removed + cardinality(_old.wids);
  END LOOP;
  PERFORM set_config('wed.commit', '', true);
  RETURN _removed;
END $$;
