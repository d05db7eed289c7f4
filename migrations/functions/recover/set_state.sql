-- Sets attributes of an exception by hand: an ad hoc state, which passes the gate and is traced as _ADHOC with who and
-- why. What the new state satisfies is fired; an exception that satisfies nothing stays one.
CREATE OR REPLACE FUNCTION wed.set_state(_flow_id integer, _wid integer, _values jsonb, _actor text, _reason text)
RETURNS "char" LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _columns text;
  _job wed.job;
BEGIN
  PERFORM wed.refuse_without_reason(_reason);
  IF wed.operated(_flow_id, _wid) <> 'E' THEN
    RAISE EXCEPTION 'instance % is no exception', _wid USING ERRCODE = 'WF043',
      HINT = 'A state is set by hand in an exception only; a running instance is paused, cancelled or sent an event.';
  END IF;
  DELETE FROM wed.going_back WHERE flow_id = _flow_id AND wid = _wid;
  PERFORM wed.refuse_values(f, _values) FROM wed.flow f WHERE f.flow_id = _flow_id;
  IF _values = '{}' THEN
    RAISE EXCEPTION 'no attribute is given' USING ERRCODE = '42703',
      HINT = 'Name attributes of the flow with their new values.';
  END IF;
  SELECT string_agg(format('%I = n.%1$I', k), ', ') INTO _columns FROM jsonb_object_keys(_values) k;
  -- The exception's job is ended by the write, as by a worker that holds its lock; the trace says who it was.
  SELECT * INTO STRICT _job FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND trname = '_EXCPT' FOR UPDATE;
  IF NOT pg_try_advisory_xact_lock(_wid, _job.tgid) THEN
    RAISE EXCEPTION 'a worker is at the exception of instance %', _wid USING ERRCODE = 'WF004',
      HINT = 'Try again when it has ended.';
  END IF;
  EXECUTE format('UPDATE %1$I.wed_flow w SET %2$s FROM %1$I.wed_flow o
                  CROSS JOIN LATERAL jsonb_populate_record(o, $1) n
                    WHERE o.wid = $2 AND w.wid = o.wid', _schema, _columns)
    USING _values, _wid;
  UPDATE wed.trace SET trw = '_ADHOC', tgid = NULL, attempt = NULL,
    note = concat_ws('; ', wed.reasoned(_actor, _reason), note)
  WHERE flow_id = _flow_id AND wid = _wid AND seq = _job.last_seq + 1 AND tstmp >= now();
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.set', _wid::text,
    jsonb_build_object('attributes', ARRAY(SELECT jsonb_object_keys(_values) ORDER BY 1), 'reason', _reason));
  RETURN (SELECT status FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid);
END $$;
