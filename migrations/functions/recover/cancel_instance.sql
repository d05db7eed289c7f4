-- Ends an instance without running what is pending: its jobs leave the pool, it is final, traced as _CANCEL with who
-- and why. The result of a job that a host or worker had in flight is refused.
CREATE OR REPLACE FUNCTION wed.cancel_instance(_flow_id integer, _wid integer, _actor text, _reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _last integer;
  _left text[];
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  PERFORM wed.operated(_flow_id, _wid);
  PERFORM wed.give_up_attempts(_flow_id, _wid, 'cancelled by ' || wed.reasoned(_actor, _reason));
  WITH gone AS (DELETE FROM wed.job WHERE flow_id = _flow_id AND wid = _wid RETURNING last_seq, trname)
  SELECT max(last_seq), array_agg(trname ORDER BY trname) INTO _last, _left FROM gone;
  INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, writer, note)
  SELECT _flow_id, _wid, _last + 1, 'F', '_CANCEL', '{}', r.state, _now, session_user, wed.reasoned(_actor, _reason)
  FROM unnest(wed.as_it_stands(_flow_id, _wid)) r;
  PERFORM wed.tell_changes(ARRAY[jsonb_populate_record(NULL::wed.passing, jsonb_build_object('flow_id', _flow_id,
    'wid', _wid, 'seq', _last + 1, 'becomes', 'F', 'trw', '_CANCEL', 'state', r.state))], _now)
  FROM unnest(wed.as_it_stands(_flow_id, _wid)) r;
  UPDATE wed.instance SET status = 'F', changed = _now WHERE flow_id = _flow_id AND wid = _wid;
  IF EXISTS (SELECT FROM wed.flow WHERE flow_id = _flow_id AND constrained) THEN
    PERFORM wed.free(f, ARRAY[_wid], ARRAY[NULL::integer], false) FROM wed.flow f WHERE f.flow_id = _flow_id;
  END IF;
  DELETE FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid;
  DELETE FROM wed.pause WHERE flow_id = _flow_id AND wid = _wid;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.cancel', _wid::text,
                        jsonb_build_object('pending', _left, 'reason', _reason));
END $$;
