-- Removes final instances that ended longer ago than they are kept, at most _limit of them, with all that is
-- recorded of them. Answers how many.
CREATE OR REPLACE FUNCTION wed.expire_instances(_limit integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _old record;
  _removed bigint := 0;
BEGIN
  FOR _old IN
    SELECT o.flow_id, array_agg(o.wid ORDER BY o.wid) AS wids
    FROM (SELECT i.flow_id, i.wid FROM wed.instance i
          WHERE i.status = 'F' AND i.changed < now() - (SELECT instances FROM wed.retention)
          LIMIT _limit FOR UPDATE SKIP LOCKED) o
    GROUP BY o.flow_id ORDER BY o.flow_id
  LOOP
    PERFORM wed.remove_instances(_old.flow_id, _old.wids);
    _removed := _removed + cardinality(_old.wids);
  END LOOP;
  RETURN _removed;
END $$;

-- Removes one final instance with all that is recorded of it, but for the audit log.
CREATE OR REPLACE FUNCTION wed.delete_instance(_flow_id integer, _wid integer, _actor text, _reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _status "char";
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  SELECT status INTO _status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no instance %', _wid USING ERRCODE = 'WF040',
      HINT = '`wed instance list` shows the instances there are.';
  ELSIF _status <> 'F' THEN
    RAISE EXCEPTION 'instance % is not final', _wid USING ERRCODE = 'WF002', HINT = 'Cancel it first.';
  END IF;
  PERFORM wed.remove_instances(_flow_id, ARRAY[_wid]);
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.delete', _wid::text, jsonb_build_object('reason', _reason));
END $$;

-- Removes final instances of a flow, which the caller holds, with all that is recorded of them.
CREATE OR REPLACE FUNCTION wed.remove_instances(_flow_id integer, _wids integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _table text;
BEGIN
  PERFORM set_config('wed.commit', 'expire', true);
  EXECUTE format('DELETE FROM %I.wed_flow WHERE wid = ANY ($1)',
    (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) USING _wids;
  FOREACH _table IN ARRAY ARRAY['trace', 'attempt', 'log', 'recording', 'pause', 'precedence', 'task_done',
    'request', 'work_note', 'work_report', 'work_event', 'work_item', 'work_reservation', 'work_instance',
    'instance_name', 'instance'] LOOP
    EXECUTE format('DELETE FROM wed.%I WHERE flow_id = $1 AND wid = ANY ($2)', _table) USING _flow_id, _wids;
  END LOOP;
  PERFORM set_config('wed.commit', '', true);
END $$;
