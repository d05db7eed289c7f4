-- Writes the conditions of a flow that are not written as they are run, and bounds all of them together: what they make
-- stays until all of them are evaluated, and each session keeps a plan of them.
CREATE OR REPLACE FUNCTION wed.bound_conditions(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _all record;
  _rewritten boolean;
BEGIN
  UPDATE wed.trigger t SET (guarded, weight) = (SELECT c.guarded, c.weight FROM wed.rewritten(_flow.shape_schema, t) c)
  WHERE t.flow_id = _flow.flow_id AND t.predicate IS NOT NULL AND t.guarded IS NULL;
  -- A condition that was allowed before these bounds existed stays.
  _rewritten := FOUND;
  UPDATE wed.trigger_constraint c SET
    guarded_keys = (wed.check_expression(_flow.shape_schema, c.tgid, c.keys)).guarded,
    guarded_quantity = (wed.check_expression(_flow.shape_schema, c.tgid, c.quantity)).guarded
  WHERE c.flow_id = _flow.flow_id AND c.keys IS NOT NULL AND c.guarded_keys IS NULL;
  IF _rewritten THEN RETURN; END IF;
  SELECT count(*) AS number, sum(octet_length(guarded)) AS bytes, sum(greatest(weight - 64, 0)) AS weight INTO _all
  FROM wed.trigger WHERE flow_id = _flow.flow_id AND enabled;
  IF _all.number > 1000 OR _all.bytes > 524288 THEN
    RAISE EXCEPTION 'the flow has % enabled conditions of % bytes together', _all.number, _all.bytes
      USING ERRCODE = 'WF011',
      HINT =
        'At most 1000, of 524288 bytes as they are run. Split the flow, or let a transition compute what they look at.';
  ELSIF _all.weight > 5000 THEN
    RAISE EXCEPTION 'the conditions of the flow weigh % together', _all.weight USING ERRCODE = 'WF011',
      HINT = 'At most 5000, the first 64 of each not counted. Make fewer documents in them, and fewer long texts.';
  END IF;
END $$;
