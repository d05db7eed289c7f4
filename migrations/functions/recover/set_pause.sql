-- Pauses a tenant, a flow (_flow_id), a trigger of it (_trigger: its name, or its transition's) or an instance
-- (_wid), or resumes it. What is paused is not claimed; what a host has in flight is finished, but for an instance's:
-- it is given up and made anew after the pause, because the same host would run what it fired.
CREATE OR REPLACE FUNCTION wed.set_pause(
  _tenant_id integer, _flow_id integer, _trigger text, _wid integer, _pause boolean, _actor text, _reason text)
RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tgids integer[] := '{}';
  _changed bigint;
  _of integer;
BEGIN
  IF _pause THEN PERFORM wed.refuse_without_reason(_reason); END IF;
  IF _trigger IS NOT NULL THEN
    _tgids := ARRAY(SELECT tgid FROM wed.trigger WHERE flow_id = _flow_id AND NOT cfinal AND _trigger IN (tgname,
      trname, tgid::text));
    IF _tgids = '{}' THEN
      RAISE EXCEPTION 'the flow has no trigger "%"', left(_trigger, 80) USING ERRCODE = 'WF040',
        HINT = 'Show the flow: its triggers are listed.';
    END IF;
  -- An instance that has ended while it was paused is resumed too: its pause is no more.
  ELSIF _wid IS NOT NULL AND (_pause OR NOT EXISTS (SELECT FROM wed.instance
      WHERE flow_id = _flow_id AND wid = _wid AND status = 'F')) THEN
    PERFORM wed.operated(_flow_id, _wid);
  END IF;
  IF _pause THEN
    INSERT INTO wed.pause (tenant_id, flow_id, tgid, wid, actor, reason)
    SELECT _tenant_id, _flow_id, t, _wid, _actor, _reason FROM unnest(CASE WHEN _tgids = '{}'
      THEN ARRAY[NULL::integer] ELSE _tgids END) t
    ON CONFLICT DO NOTHING;
  ELSE
    DELETE FROM wed.pause p WHERE p.tenant_id = _tenant_id AND p.flow_id IS NOT DISTINCT FROM _flow_id
      AND p.wid IS NOT DISTINCT FROM _wid AND (_tgids = '{}' AND p.tgid IS NULL OR p.tgid = ANY (_tgids));
  END IF;
  GET DIAGNOSTICS _changed = ROW_COUNT;
  IF _changed = 0 THEN RETURN false; END IF;
  IF _pause AND _wid IS NOT NULL THEN
    PERFORM wed.give_up_attempts(_flow_id, _wid, 'paused by ' || wed.reasoned(_actor, _reason));
  END IF;
  FOR _of IN SELECT flow_id FROM wed.flow WHERE tenant_id = _tenant_id AND (_flow_id IS NULL
    OR flow_id = _flow_id) ORDER BY 1 LOOP
    PERFORM wed.keep_paused(_of);
  END LOOP;
  PERFORM wed.note(_actor, t.name, CASE WHEN _pause THEN 'pause' ELSE 'resume' END,
    concat_ws('/', coalesce((SELECT name FROM wed.flow WHERE flow_id = _flow_id), t.name), _trigger, _wid),
    jsonb_build_object('reason', _reason))
  FROM wed.tenant t WHERE t.tenant_id = _tenant_id;
  RETURN true;
END $$;
