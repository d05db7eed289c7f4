-- Declares what a trigger reserves and after which others it comes; all null takes it back. Whether the names in
-- _after are triggers, and whether the order has a cycle, is looked at when the definition is whole
-- (wed.check_order).
CREATE OR REPLACE FUNCTION wed.set_constraint(
  _flow wed.flow, _tgid integer, _reserves text, _quantity text, _resource text, _holds text, _consumes boolean,
      _after text)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _keys record;
  _amount record;
BEGIN
  IF _reserves IS NULL AND num_nonnulls(_quantity, _resource, _holds) + coalesce(_consumes, false)::integer > 0 THEN
    RAISE EXCEPTION 'quantity, resource, holds and consumes describe what a trigger reserves, and it reserves nothing'
      USING ERRCODE = 'WF013', HINT = 'Set reserves too.';
  ELSIF octet_length(_after) > 4096 THEN
    RAISE EXCEPTION 'after has more than 4096 bytes' USING ERRCODE = 'WF062', HINT = 'Name fewer triggers.';
  ELSIF octet_length(_resource) NOT BETWEEN 1 AND 63 OR _resource ~ '^#|[[:cntrl:]]' THEN
    RAISE EXCEPTION 'the resource name % is not allowed', quote_literal(left(_resource, 80)) USING ERRCODE = 'WF013',
      HINT = 'At most 63 bytes, no control characters, no # in front.';
  END IF;
  IF num_nonnulls(_reserves, _after) = 0 THEN
    DELETE FROM wed.trigger_constraint WHERE tgid = _tgid;
    RETURN;
  END IF;
  _keys := wed.check_expression(_flow.shape_schema, _tgid, _reserves);
  _amount := wed.check_expression(_flow.shape_schema, _tgid, _quantity);
  INSERT INTO wed.trigger_constraint (tgid, flow_id, keys, quantity, reads, resource, holds, consumes, after, terms,
    guarded_keys, guarded_quantity)
  VALUES (_tgid, _flow.flow_id, _keys.expression, _amount.expression, coalesce(_keys.reads,
    '{}') || coalesce(_amount.reads, '{}'),
          _resource, coalesce(_holds, 'transition'), coalesce(_consumes, false), _after, wed.parse_order(_after),
          _keys.guarded, _amount.guarded)
  ON CONFLICT (tgid) DO UPDATE SET keys = excluded.keys, quantity = excluded.quantity, reads = excluded.reads,
    resource = excluded.resource, holds = excluded.holds, consumes = excluded.consumes, after = excluded.after,
      terms = excluded.terms,
    guarded_keys = excluded.guarded_keys, guarded_quantity = excluded.guarded_quantity;
END $$;
