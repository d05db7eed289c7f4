-- Sends an exception back to the state of trace row _to_seq: the compensations of the steps since then are run, newest
-- first, each a transaction of its own with a trace row. Where one fails it stops; the same call resumes it. At the end
-- the instance is an exception still, to be retried or set by hand. Answers how many steps there are to undo.
CREATE OR REPLACE FUNCTION wed.go_back(_flow_id integer, _wid integer, _to_seq integer, _actor text, _reason text)
RETURNS integer LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _last integer;
  _steps integer;
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  IF wed.operated(_flow_id, _wid) <> 'E' THEN
    RAISE EXCEPTION 'instance % is no exception', _wid USING ERRCODE = 'WF043',
      HINT = 'Only an exception goes back; skip or cancel what is pending first.';
  END IF;
  SELECT max(last_seq) INTO _last FROM wed.job WHERE flow_id = _flow_id AND wid = _wid;
  IF _to_seq NOT BETWEEN 1 AND _last THEN
    RAISE EXCEPTION 'instance % has no step %', _wid, _to_seq USING ERRCODE = 'WF040',
      HINT = format('Its trace goes from 1 to %s.', _last);
  END IF;
  SELECT count(*) INTO _steps FROM wed.steps_to_undo(_flow_id, _wid, _to_seq);
  INSERT INTO wed.going_back (flow_id, wid, to_seq, from_seq, actor, reason)
  VALUES (_flow_id, _wid, _to_seq, _last, _actor, _reason)
  ON CONFLICT (flow_id, wid) DO UPDATE SET to_seq = excluded.to_seq, from_seq = excluded.from_seq, stopped = false,
    actor = excluded.actor, reason = excluded.reason;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.back', _wid::text,
                        jsonb_build_object('to', _to_seq, 'steps', _steps, 'reason', _reason));
  PERFORM wed.undo_next(_flow_id, _wid);
  RETURN _steps;
END $$;
