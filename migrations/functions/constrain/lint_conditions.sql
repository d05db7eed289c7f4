-- Conditions that no state satisfies, or that a transition cannot make false; a final condition that is never reached.
CREATE OR REPLACE FUNCTION wed.lint_conditions(_flow_id integer, _states wed.evaluated[], _whole boolean)
RETURNS TABLE (code text, place text, text text, hint text, state jsonb, certain boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH s AS MATERIALIZED (
    SELECT r.wid, r.state::jsonb AS state, r.final, ARRAY(SELECT (f & 4294967295)::integer
        FROM unnest(r.fired) f) AS fired
    FROM unnest(_states) r WHERE r.fault IS NULL
  ), t AS (
    SELECT g.*, coalesce(nullif(g.tgname, ''), g.trname) AS label, (SELECT s.state FROM s WHERE g.tgid = ANY (s.fired)
        ORDER BY s.wid LIMIT 1) AS shown
    FROM wed.trigger g WHERE g.flow_id = _flow_id AND g.enabled AND NOT g.cfinal AND g.predicate IS NOT NULL)
  SELECT 'dead_trigger', t.label, format('the condition of %s holds in no state that was tried: %s', t.label,
      left(t.predicate, 200)),
    'Look for parts that exclude each other; remove the trigger if it is not needed.', NULL::jsonb,
    _whole AND NOT t.timely AND wed.lint_is_plain(t.predicate) AND NOT EXISTS (
      SELECT FROM wed.flow f JOIN pg_attribute a ON a.attrelid = format('%I.wed_flow', f.shape_schema)::regclass
      WHERE f.flow_id = _flow_id AND a.attname = ANY (t.reads)
          AND a.atttypid NOT IN ('boolean'::regtype, 'text'::regtype, 'integer'::regtype, 'bigint'::regtype))
  FROM t WHERE t.shown IS NULL
  UNION ALL
  SELECT 'endless_loop', t.label,
      format('%s may set %s only, and its condition reads %s: it fires itself again for ever', t.label,
      coalesce(nullif(array_to_string(t.writes, ', '), ''), 'nothing'), coalesce(nullif(array_to_string(t.reads,
          ', '), ''), 'nothing')),
    'Let the transition set an attribute of its condition, so that it ends.', t.shown, true
  FROM t WHERE t.writes IS NOT NULL AND NOT t.writes && t.reads AND t.shown IS NOT NULL AND NOT t.timely
    AND NOT EXISTS (SELECT FROM wed.trigger o WHERE o.flow_id = _flow_id AND o.tgid <> t.tgid AND NOT o.cfinal
        AND o.predicate IS NOT NULL
                    AND (o.writes IS NULL OR o.writes && t.reads))
    AND NOT EXISTS (SELECT FROM wed.flow f WHERE f.flow_id = _flow_id AND f.open_attributes && t.reads)
  UNION ALL
  SELECT 'always_true', t.label, format('the condition of %s holds in every state that was tried', t.label),
    'It is fired by each commit, also of others: narrow it.', t.shown, false
  FROM t WHERE t.shown IS NOT NULL AND cardinality(_states) > 1 AND NOT EXISTS (SELECT FROM s
      WHERE t.tgid <> ALL (s.fired))
  UNION ALL
  SELECT 'no_final', 'final', 'the flow has no final condition: every instance ends as an exception',
      'Write `final` in flow.toml.', NULL, true
  WHERE NOT EXISTS (SELECT FROM wed.trigger WHERE flow_id = _flow_id AND cfinal AND enabled)
  UNION ALL
  SELECT 'unreachable_final', 'final', 'the final condition holds in no state that was tried: ' || left(g.predicate,
      200),
    'Look for parts that exclude each other.', NULL, false
  FROM wed.trigger g WHERE g.flow_id = _flow_id AND g.cfinal AND g.enabled AND NOT EXISTS (SELECT FROM s WHERE s.final)
  UNION ALL
  SELECT 'unreachable_final', 'final', format('nothing may set %s, which the final condition reads', u.name),
    format('Add it to the writes of a trigger, or declare it open.', u.name), NULL, true
  FROM wed.trigger g CROSS JOIN LATERAL unnest(g.reads) u(name)
  WHERE g.flow_id = _flow_id AND g.cfinal AND g.enabled AND cardinality(g.reads) = 1
    AND NOT EXISTS (SELECT FROM t o WHERE o.writes IS NULL OR u.name = ANY (o.writes))
    AND NOT EXISTS (SELECT FROM wed.flow f WHERE f.flow_id = _flow_id AND u.name = ANY (f.open_attributes))
$$;
