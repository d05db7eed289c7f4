-- Adds an order of tasks while the flow runs: of one instance, or (_wid null) of all. What begins from now on keeps
-- it; pending jobs that nobody is at wait. Answers its number; nothing changes where it is there.
CREATE OR REPLACE FUNCTION wed.add_order(_flow_id integer, _trigger text, _after text, _wid integer, _actor text)
    RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _id integer;
BEGIN
  IF coalesce(btrim(_after), '') = '' THEN
    RAISE EXCEPTION 'after names no trigger' USING ERRCODE = 'WF062',
        HINT = 'For example: wed_after(''ship'', ''pack AND check'').';
  END IF;
  IF _wid IS NOT NULL THEN PERFORM wed.operated(_flow_id, _wid); END IF;
  PERFORM FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  INSERT INTO wed.precedence (flow_id, wid, tgid, after, terms, actor)
  SELECT _flow_id, _wid, t.tgid, _after, wed.parse_order(_after), _actor FROM wed.trigger t
  WHERE t.flow_id = _flow_id AND NOT t.cfinal AND _trigger IN (t.tgname, t.trname)
  ON CONFLICT DO NOTHING;
  IF FOUND THEN PERFORM wed.refuse_orders(_flow_id, _wid); END IF;
  SELECT min(p.precedence_id) INTO _id FROM wed.precedence p JOIN wed.trigger t USING (tgid)
  WHERE p.flow_id = _flow_id AND p.wid IS NOT DISTINCT FROM _wid AND p.after = _after
      AND _trigger IN (t.tgname, t.trname);
  IF _id IS NULL THEN
    RAISE EXCEPTION 'the flow has no trigger "%"', left(_trigger, 80) USING ERRCODE = 'WF040',
        HINT = 'Show the flow: its triggers are listed.';
  END IF;
  PERFORM wed.mark_constrained(_flow_id);
  IF _wid IS NOT NULL THEN PERFORM wed.check_order(_flow_id, _wid); END IF;
  PERFORM wed.delay_jobs(_flow_id, _wid);
  PERFORM wed.note_flow(_actor, _flow_id, 'order.add', _trigger, jsonb_build_object('after', _after, 'wid', _wid));
  RETURN _id;
END $$;
