-- Takes from jobs whose attempt ended without a result what they hold, and queues them anew, from _ready on.
CREATE OR REPLACE FUNCTION wed.ask_again(_flow_id integer, _wids integer[], _tgids integer[], _ready timestamptz)
    RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _flow wed.flow;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  UPDATE wed.job j SET blocked = 'a', due = 'infinity'
  FROM ROWS FROM (unnest(_wids), unnest(_tgids)) u(wid, tgid)
  JOIN wed.trigger_constraint c ON c.tgid = u.tgid AND c.keys IS NOT NULL
  WHERE j.flow_id = _flow_id AND j.wid = u.wid AND j.tgid = u.tgid;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM wed.free(_flow, _wids, _tgids, false);
  PERFORM wed.ask(_flow, _wids, _ready);
END $$;
