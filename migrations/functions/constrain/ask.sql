-- Asks for what the blocked jobs of some instances of a flow need: first that the tasks before them are done, then
-- their reservation, for which they are queued from _ready on (null: when their delay has passed). Those that need
-- nothing are due.
CREATE OR REPLACE FUNCTION wed.ask(_flow wed.flow, _wids integer[], _ready timestamptz) RETURNS void
LANGUAGE plpgsql SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _jobs tid[];
  _of integer[];
  _tgids integer[];
  _keys jsonb[];
  _asked integer[];
BEGIN
  IF _flow.ordered THEN
    UPDATE wed.job j SET blocked = 'p'
    WHERE j.flow_id = _flow.flow_id AND j.wid = ANY (_wids) AND j.blocked = 'a'
        AND NOT wed.is_in_order(_flow.flow_id, j.wid, j.tgid);
  END IF;
  SELECT array_agg(j.ctid ORDER BY j.wid, j.tgid), array_agg(j.wid ORDER BY j.wid, j.tgid), array_agg(j.tgid
      ORDER BY j.wid, j.tgid)
  INTO _jobs, _of, _tgids FROM wed.job j
  WHERE j.flow_id = _flow.flow_id AND j.wid = ANY (_wids) AND j.blocked IS NOT NULL
    AND (j.blocked = 'a' OR j.blocked = 'p' AND wed.is_in_order(_flow.flow_id, j.wid, j.tgid));
  IF _of IS NULL THEN RETURN; END IF;
  IF EXISTS (SELECT FROM wed.trigger_constraint WHERE tgid = ANY (_tgids) AND keys IS NOT NULL) THEN
    EXECUTE format('SELECT %1$I.read_keys_%1$s($1, $2)', _flow.shape_schema) INTO _keys USING _of, _tgids;
    _asked := wed.queue_requests(_flow, _jobs, _of, _tgids, _keys, _ready);
  END IF;
  IF cardinality(_asked) = cardinality(_of) THEN RETURN; END IF;
  IF wed.make_due(_flow.flow_id, ARRAY(SELECT _of[at] FROM generate_subscripts(_of, 1) at
      WHERE at = ANY (_asked) IS NOT TRUE),
                      ARRAY(SELECT _tgids[at] FROM generate_subscripts(_of, 1) at
                          WHERE at = ANY (_asked) IS NOT TRUE), true) > 0 THEN
    PERFORM pg_notify('wed_jobs', '');
  END IF;
END $$;
