-- Drops an order that was added while running; jobs that waited for nothing else are due. False: there was none.
CREATE OR REPLACE FUNCTION wed.drop_order(_flow_id integer, _trigger text, _after text, _wid integer, _actor text)
    RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  IF _wid IS NOT NULL THEN PERFORM wed.operated(_flow_id, _wid); END IF;
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  DELETE FROM wed.precedence p USING wed.trigger t
  WHERE t.tgid = p.tgid AND p.flow_id = _flow_id AND p.wid IS NOT DISTINCT FROM _wid AND p.after = _after
      AND _trigger IN (t.tgname, t.trname);
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM wed.ask(_flow, ARRAY(SELECT j.wid FROM wed.job j WHERE j.flow_id = _flow_id AND j.blocked = 'p'
      AND (_wid IS NULL OR j.wid = _wid)), NULL);
  PERFORM wed.note_flow(_actor, _flow_id, 'order.drop', _trigger, jsonb_build_object('after', _after, 'wid', _wid));
  RETURN true;
END $$;
