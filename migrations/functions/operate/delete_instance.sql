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
  IF wed.remove_instances(_flow_id, ARRAY[_wid]) = '{}' THEN
    RAISE EXCEPTION 'another session holds instance %', _wid USING ERRCODE = '55P03', HINT = 'Try again in a moment.';
  END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.delete', _wid::text, jsonb_build_object('reason', _reason));
END $$;

-- Removes final instances of a flow with all that is recorded of them, and leaves those that another session holds.
-- Returns the removed ones.
CREATE OR REPLACE FUNCTION wed.remove_instances(_flow_id integer, _wids integer[]) RETURNS integer[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _table text;
  _removed integer[];
BEGIN
  PERFORM set_config('wed.commit', 'expire', true);
  EXECUTE format('WITH gone AS (DELETE FROM %1$I.wed_flow WHERE wid = ANY (ARRAY(
      SELECT wid FROM %1$I.wed_flow WHERE wid = ANY ($1) FOR UPDATE SKIP LOCKED)) RETURNING wid)
    SELECT coalesce(array_agg(wid), ''{}'') FROM gone',
    (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _removed USING _wids;
  FOREACH _table IN ARRAY ARRAY['trace', 'attempt', 'log', 'recording', 'pause', 'precedence', 'task_done',
    'request', 'lost_reservation', 'work_note', 'work_report', 'work_event', 'work_item', 'work_reservation',
    'work_instance', 'instance_name', 'instance'] LOOP
    EXECUTE format('DELETE FROM wed.%I WHERE flow_id = $1 AND wid = ANY ($2)', _table) USING _flow_id, _removed;
  END LOOP;
  PERFORM set_config('wed.commit', '', true);
  RETURN _removed;
END $$;
