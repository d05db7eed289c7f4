-- Chore `expired`: final instances that ended longer ago than they are kept are removed, with all that is recorded of
-- them.

CREATE OR REPLACE FUNCTION wed.due_expired()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT f.tenant_id, f.flow_id, 0::bigint, 0, o.since
  FROM (SELECT i.flow_id, min(i.changed) AS since FROM wed.instance i
        WHERE i.status = 'F' AND i.changed < now() - (SELECT instances FROM wed.retention) GROUP BY i.flow_id) o
  JOIN wed.flow f USING (flow_id)
$$;

-- Removes at most 500 instances of a flow, and leaves those that another session holds.
CREATE OR REPLACE FUNCTION wed.do_expired(_tenant_id integer, _flow_id integer, _thing bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _wids integer[];
BEGIN
  _wids := ARRAY(
    SELECT i.wid FROM wed.instance i WHERE i.flow_id = _flow_id AND i.status = 'F'
      AND i.changed < now() - (SELECT instances FROM wed.retention) LIMIT 500 FOR UPDATE SKIP LOCKED);
  _wids := wed.remove_instances(_flow_id, _wids);
  IF _wids = '{}' THEN RETURN NULL; END IF;
  RETURN to_jsonb(cardinality(_wids));
END $$;
