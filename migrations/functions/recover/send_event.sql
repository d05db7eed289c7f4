-- Sets open attributes of a running instance: an event, which passes the gate and is traced as _EVENT with who sent it.
-- With a key once within a day, in one transaction with the key: false when it was sent before.
CREATE OR REPLACE FUNCTION wed.send_event(_flow_id integer, _wid integer, _values jsonb, _actor text,
  _key text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _flow wed.flow;
  _columns text;
  _closed text;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  IF _key IS NOT NULL AND wed.claim_key(_flow.tenant_id, _actor, _key, jsonb_build_array('event', _flow_id, _wid,
    _values)) IS NOT NULL THEN
    RETURN false;
  END IF;
  PERFORM wed.refuse_values(_flow, _values);
  SELECT string_agg(format('%I = n.%1$I', k), ', '), min(k) FILTER (WHERE k <> ALL (_flow.open_attributes))
  INTO _columns, _closed FROM jsonb_object_keys(_values) k;
  IF _columns IS NULL THEN
    RAISE EXCEPTION 'no attribute is given' USING ERRCODE = '42703',
      HINT = 'Name open attributes of the flow with their new values.';
  ELSIF _closed IS NOT NULL THEN
    RAISE EXCEPTION 'attribute "%" is not open: an event may not set it', _closed USING ERRCODE = 'WF003',
      HINT = 'Declare it open (wed_attr.open, or `open = true` in flow.toml), or let a transition set it.';
  END IF;
  PERFORM wed.operated(_flow_id, _wid);
  PERFORM set_config('wed.actor', _actor, true);
  EXECUTE format('UPDATE %1$I.wed_flow w SET %2$s FROM %1$I.wed_flow o CROSS JOIN LATERAL jsonb_populate_record(o, $1) n
                  WHERE o.wid = $2 AND w.wid = o.wid', _flow.schema_name, _columns) USING _values, _wid;
  UPDATE wed.trace SET note = coalesce(note, _actor)
  WHERE flow_id = _flow_id AND wid = _wid AND trw = '_EVENT' AND tstmp >= now() AND xid = pg_current_xact_id();
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.event', _wid::text,
                        jsonb_build_object('attributes', ARRAY(SELECT jsonb_object_keys(_values) ORDER BY 1)));
  RETURN true;
END $$;
