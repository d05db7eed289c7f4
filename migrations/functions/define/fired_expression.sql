-- The expression that says of a row whether a trigger fires: its number, with the group's above 32 bits; null where it
-- does not. Keys of its reservation that cannot be evaluated are as a condition that cannot.
CREATE OR REPLACE FUNCTION wed.fired_expression(_trigger wed.trigger, _constraint wed.trigger_constraint) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format('CASE WHEN %s THEN %s END', _trigger.guarded, CASE
    WHEN _constraint.keys IS NOT NULL THEN
      format('CASE WHEN %s IS NOT NULL THEN %s END', wed.keys_expression(_constraint), _trigger.tgid)
    ELSE ((_trigger.condition_group::bigint << 32) + _trigger.tgid)::text END)
$$;
