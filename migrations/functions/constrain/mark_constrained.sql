-- Says of a flow and its triggers whether they are constrained, after a change of what constrains them, and refuses an
-- order that has a cycle, in the flow or in an instance with orders of its own.
CREATE OR REPLACE FUNCTION wed.mark_constrained(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _was boolean;
BEGIN
  UPDATE wed.trigger t SET constrained = n.now FROM (
    SELECT g.tgid, NOT g.cfinal AND g.trname <> '_EXCPT' AND (
      f.order_attribute IS NOT NULL OR EXISTS (SELECT FROM wed.trigger_constraint c WHERE c.tgid = g.tgid)
      OR EXISTS (SELECT FROM wed.precedence p WHERE p.tgid = g.tgid)) IS TRUE AS now
    FROM wed.trigger g JOIN wed.flow f USING (flow_id) WHERE g.flow_id = _flow_id) n
  WHERE t.tgid = n.tgid AND t.constrained <> n.now;
  SELECT ordered INTO _was FROM wed.flow WHERE flow_id = _flow_id;
  UPDATE wed.flow f SET
    constrained = f.constrained OR EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND t.constrained),
    ordered = f.ordered OR f.order_attribute IS NOT NULL
      OR EXISTS (SELECT FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id AND c.terms IS NOT NULL)
      OR EXISTS (SELECT FROM wed.precedence p WHERE p.flow_id = _flow_id),
    reserving = ARRAY(SELECT c.tgid FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id AND c.keys IS NOT NULL
        ORDER BY c.tgid),
    holds_longer = EXISTS (SELECT FROM wed.trigger_constraint c WHERE c.flow_id = _flow_id AND c.keys IS NOT NULL
        AND c.holds <> 'transition')
  WHERE f.flow_id = _flow_id;
  IF NOT _was AND (SELECT ordered FROM wed.flow WHERE flow_id = _flow_id) THEN
    INSERT INTO wed.task_done (flow_id, wid, tgid)
    SELECT DISTINCT r.flow_id, r.wid, r.tgid FROM wed.trace r JOIN wed.instance i USING (flow_id, wid)
    WHERE r.flow_id = _flow_id AND i.status <> 'F' AND r.tgid IS NOT NULL
        AND r.trw NOT LIKE '\_%' ON CONFLICT DO NOTHING;
  END IF;
  PERFORM wed.check_order(_flow_id, NULL);
  -- Together with what instances have of their own.
  PERFORM wed.check_order(_flow_id, p.wid)
  FROM (SELECT DISTINCT wid FROM wed.precedence WHERE flow_id = _flow_id AND wid IS NOT NULL) p;
END $$;
