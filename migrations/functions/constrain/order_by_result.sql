-- Makes the order of an instance's tasks what the result of a transition says: {"ship": "pack AND check"}.
CREATE OR REPLACE FUNCTION wed.order_by_result(_flow_id integer, _wid integer, _said jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _result CONSTANT text := '_RESULT';
  _unknown text;
BEGIN
  IF jsonb_typeof(coalesce(_said, '{}')) <> 'object' OR (SELECT count(*)
      FROM jsonb_object_keys(coalesce(_said, '{}'))) > 64 THEN
    RAISE EXCEPTION 'the order of tasks is no document of at most 64 triggers' USING ERRCODE = 'WF062',
      HINT = 'For example: {"ship": "pack AND check"}.';
  END IF;
  -- It is checked in the commit of a batch, which others share.
  IF coalesce(_said, '{}') <> '{}' AND (SELECT count(*) FROM wed.trigger WHERE flow_id = _flow_id) > 200 THEN
    RAISE EXCEPTION 'a flow of more than 200 triggers takes no order from results' USING ERRCODE = 'WF062',
      HINT = 'Divide the flow, or add orders by wed_after.';
  END IF;
  IF NOT EXISTS (SELECT FROM wed.precedence WHERE flow_id = _flow_id AND wid = _wid AND actor = _result)
      AND coalesce(_said, '{}') = '{}' THEN
    RETURN;
  END IF;
  SELECT e.key INTO _unknown FROM jsonb_each_text(coalesce(_said, '{}')) e
  WHERE NOT EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND NOT t.cfinal
      AND e.key IN (t.tgname, t.trname)) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the order names "%", which is no trigger of this flow', left(_unknown, 80)
        USING ERRCODE = 'WF062', HINT = 'Name a trigger or a transition.';
  END IF;
  DELETE FROM wed.precedence p WHERE p.flow_id = _flow_id AND p.wid = _wid AND p.actor = _result AND NOT EXISTS (
    SELECT FROM jsonb_each_text(_said) e JOIN wed.trigger t ON t.tgid = p.tgid AND e.key IN (t.tgname, t.trname)
        WHERE e.value = p.after);
  INSERT INTO wed.precedence (flow_id, wid, tgid, after, terms, actor)
  SELECT _flow_id, _wid, t.tgid, e.value, wed.parse_order(e.value), _result
  FROM jsonb_each_text(_said) e JOIN wed.trigger t ON t.flow_id = _flow_id AND NOT t.cfinal
      AND e.key IN (t.tgname, t.trname)
  WHERE btrim(e.value) <> '' ON CONFLICT DO NOTHING;
  IF FOUND THEN
    -- As it was counted last: others share the batch.
    PERFORM wed.refuse_quota('orders', u.orders, q.orders) FROM wed.flow f JOIN wed.usage u USING (tenant_id)
    JOIN wed.quota q USING (tenant_id) WHERE f.flow_id = _flow_id AND u.orders > q.orders;
    PERFORM wed.check_order(_flow_id, _wid);
    PERFORM wed.delay_jobs(_flow_id, _wid);
  END IF;
END $$;
