-- Names new instances of a process, in the order given: each gets the lowest number that no instance of the type
-- has that is not final. Starts of one process wait for each other, 2 seconds at most. Nothing where the flow is no
-- process.
CREATE OR REPLACE FUNCTION wed.name_instances(_flow_id integer, _wids integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  _type text;
  _numbers integer[] := '{}';
  _next integer := 1;
  _taken record;
BEGIN
  SELECT plan ->> 'type' INTO _type FROM wed.work_plan WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  IF _type IS NULL THEN RETURN; END IF;
  FOR _taken IN
    SELECT n.wid, n.number, i.status FROM wed.instance_name n LEFT JOIN wed.instance i USING (flow_id, wid)
    WHERE n.flow_id = _flow_id AND NOT n.released ORDER BY n.number
  LOOP
    WHILE _next < _taken.number AND cardinality(_numbers) < cardinality(_wids) LOOP
      _numbers := _numbers || _next;
      _next := _next + 1;
    END LOOP;
    EXIT WHEN cardinality(_numbers) >= cardinality(_wids);
    IF coalesce(_taken.status, 'F') = 'F' THEN
      UPDATE wed.instance_name SET released = true WHERE flow_id = _flow_id AND wid = _taken.wid;
    ELSE
      _next := _taken.number + 1;
    END IF;
  END LOOP;
  WHILE cardinality(_numbers) < cardinality(_wids) LOOP
    _numbers := _numbers || _next;
    _next := _next + 1;
  END LOOP;
  INSERT INTO wed.instance_name (flow_id, wid, type, number)
  SELECT _flow_id, u.wid, _type, u.number FROM unnest(_wids, _numbers) u(wid, number);
END $$;
