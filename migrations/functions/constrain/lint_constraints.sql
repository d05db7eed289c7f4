-- Reservations that can never be granted or released, and tasks that wait for ever.
CREATE OR REPLACE FUNCTION wed.lint_constraints(_flow_id integer)
RETURNS TABLE (code text, place text, text text, hint text, state jsonb, certain boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH c AS (
    SELECT c.*, coalesce(nullif(t.tgname, ''), t.trname) AS label, f.tenant_id, coalesce(c.resource, '#' || f.flow_id)
        AS namespace
    FROM wed.trigger_constraint c JOIN wed.trigger t USING (tgid) JOIN wed.flow f ON f.flow_id = c.flow_id
    WHERE c.flow_id = _flow_id AND t.enabled)
  SELECT 'reservation_never', c.label,
      format('%s reserves quantities of %s, and there is no row of it in wed_resource', c.label,
      coalesce('"' || c.resource || '"', 'the flow''s own keys')),
    'Insert what there is into wed_resource, or set it with `wed flow resource set`.', NULL::jsonb, false
  FROM c WHERE c.quantity IS NOT NULL
    AND NOT EXISTS (SELECT FROM wed.resource s WHERE s.tenant_id = c.tenant_id AND s.resource = c.namespace)
  UNION ALL
  -- Of a key that is written out, its own row; of others, the largest.
  SELECT 'reservation_never', c.label, format('%s reserves %s of %s, and there is never more than %s', c.label,
      c.quantity,
      coalesce('"' || k.key || '"', 'a key'), coalesce(m.most, 0)),
    'Raise the capacity in wed_resource, or reserve less.', NULL, true
  FROM c CROSS JOIN LATERAL (SELECT replace(substring(c.keys
      FROM '^''((?:[^'']|'''')*)''::text$'), '''''', '''') AS key) k
  CROSS JOIN LATERAL (SELECT max(s.capacity - s.minimum) AS most FROM wed.resource s
                      WHERE s.tenant_id = c.tenant_id AND s.resource = c.namespace AND (k.key IS NULL
                          OR s.key = k.key)) m
  WHERE c.quantity ~ '^[0-9]{1,18}$' AND c.quantity::numeric > coalesce(m.most, 0)
    AND EXISTS (SELECT FROM wed.resource s WHERE s.tenant_id = c.tenant_id AND s.resource = c.namespace)
  UNION ALL
  SELECT 'reservation_kept', c.label,
      format('%s holds until %s commits, which is disabled: it holds until its instance ends', c.label, c.holds),
    'Enable it, or name another trigger.', NULL, true
  FROM c WHERE c.keys IS NOT NULL AND c.holds NOT IN ('transition', 'instance') AND NOT EXISTS (
    SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND t.enabled AND NOT t.cfinal
        AND c.holds IN (t.tgname, t.trname))
  UNION ALL
  SELECT 'circle_of_reservations', a.label || ', ' || b.label,
    format('%s and %s reserve one after the other of the same resource, and the first is held meanwhile: '
      'instances can wait in a circle', a.label, b.label),
    'Reserve all keys by one trigger, or name different resources.', NULL, false
  FROM c a JOIN c b ON a.tgid < b.tgid AND a.namespace = b.namespace AND a.keys IS NOT NULL AND b.keys IS NOT NULL
    AND (a.holds <> 'transition' OR b.holds <> 'transition') AND (a.keys, a.quantity) IS DISTINCT
        FROM (b.keys, b.quantity)
  UNION ALL
  SELECT 'order_never', c.label, format('%s comes after %s, of which a part is disabled', c.label, c.after),
      'Enable it, or change after.', NULL, true
  FROM c WHERE c.terms IS NOT NULL AND NOT wed.is_met(c.terms, ARRAY(
    SELECT n FROM wed.trigger t CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
    WHERE t.flow_id = _flow_id AND t.enabled AND NOT t.cfinal AND n IS NOT NULL))
  UNION ALL
  SELECT 'order_cycle', y.cycle[1], 'the order of tasks has a cycle: ' || array_to_string(y.cycle, ' after '),
      'Leave out one of these.', NULL, true
  FROM (SELECT wed.order_cycle(_flow_id, NULL) AS cycle) y WHERE y.cycle IS NOT NULL
$$;
