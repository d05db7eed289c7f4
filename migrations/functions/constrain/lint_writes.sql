-- Triggers that are fired together in one of some states, have no order, and may set the same attribute: the later
-- commit wins. _whole: these are all the states that instances come to.
CREATE OR REPLACE FUNCTION wed.lint_writes(_flow_id integer, _states wed.evaluated[], _whole boolean)
RETURNS TABLE (code text, place text, text text, hint text, state jsonb, certain boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH s AS MATERIALIZED (
    SELECT r.wid, r.state::jsonb AS state, ARRAY(SELECT (f & 4294967295)::integer FROM unnest(r.fired) f) AS fired
    FROM unnest(_states) r WHERE r.fault IS NULL AND NOT r.final
  ), t AS (
    SELECT g.tgid, g.tgname, g.trname, g.writes, coalesce(nullif(g.tgname, ''), g.trname) AS label FROM wed.trigger g
    WHERE g.flow_id = _flow_id AND g.enabled AND NOT g.cfinal AND g.predicate IS NOT NULL AND g.writes IS NOT NULL)
  SELECT 'write_conflict', a.label || ', ' || b.label,
    format('%s and %s may run side by side and both set %s: the later commit wins', a.label, b.label, w.name),
    format('Let one come after the other (after = "%s"), or make their conditions exclude each other.', a.label),
    (SELECT s.state FROM s WHERE s.fired @> ARRAY[a.tgid, b.tgid] ORDER BY s.wid LIMIT 1), _whole
  FROM t a JOIN t b ON a.tgid < b.tgid
  CROSS JOIN LATERAL (SELECT n AS name FROM unnest(a.writes) n WHERE n = ANY (b.writes) ORDER BY 1 LIMIT 1) w
  WHERE EXISTS (SELECT FROM s WHERE s.fired @> ARRAY[a.tgid, b.tgid])
    AND NOT EXISTS (
      SELECT FROM wed.order_of(_flow_id, NULL) o CROSS JOIN LATERAL jsonb_array_elements(o.terms) c
      WHERE o.tgid = b.tgid AND c ?| ARRAY[a.tgname, a.trname] OR o.tgid = a.tgid AND c ?| ARRAY[b.tgname, b.trname])
  ORDER BY 2 LIMIT 100
$$;
