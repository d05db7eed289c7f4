-- The graph of a flow, derived from its definition: its triggers, and an edge where one writes what the other's
-- condition reads, with what the traces of its newest instances and its pending jobs say of them. At most 300
-- triggers, 2 000 rows of the trace, 100 000 jobs and 1 000 exceptions are looked at.
CREATE OR REPLACE FUNCTION wed.graph(_flow_id integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _nodes jsonb;
  _sample jsonb := wed.sample_trace(_flow_id) || jsonb_build_object('defaults', wed.definition_defaults(_flow_id));
BEGIN
  _nodes := wed.graph_nodes(_flow_id, _sample);
  RETURN jsonb_build_object('rows', _sample -> 'rows', 'triggers', _nodes,
    'edges', wed.graph_edges(_nodes, _sample -> 'fired'));
END $$;

-- Figures of the newest rows of a flow's traces: how often each transition (`from`; null: a new instance) fired which
-- other, and which attributes each one changed.
CREATE OR REPLACE FUNCTION wed.sample_trace(_flow_id integer) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH sample AS MATERIALIZED (
    SELECT wid, seq, trw, trf, status, state::jsonb AS state FROM wed.trace
    WHERE flow_id = _flow_id ORDER BY flow_id DESC, wid DESC, seq DESC LIMIT 2000
  ), step AS (
    SELECT *, lag(state) OVER (PARTITION BY wid ORDER BY seq) AS before FROM sample WHERE coalesce(trw, '') !~ '^_'
  ), fired AS (
    SELECT s.trw, f.name, count(*) AS number FROM step s
    CROSS JOIN LATERAL (SELECT unnest(s.trf) UNION ALL SELECT 'final' WHERE s.status = 'F') f(name)
    WHERE f.name = 'final' OR f.name !~ '^_' GROUP BY 1, 2
  ), changed AS (
    SELECT s.trw, array_agg(DISTINCT e.key) AS names FROM step s CROSS JOIN LATERAL jsonb_each(s.state) e
    WHERE s.trw IS NOT NULL AND s.before IS NOT NULL AND s.before -> e.key IS DISTINCT FROM e.value GROUP BY 1
  )
  SELECT jsonb_build_object('rows', (SELECT count(*) FROM sample),
    'fired', (SELECT coalesce(jsonb_agg(jsonb_build_object('from', trw, 'to', name, 'number', number)), '[]')
              FROM fired),
    'changed', (SELECT coalesce(jsonb_object_agg(trw, names), '{}') FROM changed))
$$;

-- The triggers of a flow as nodes: what each reads and writes, who performs it, and what is pending or failed.
CREATE OR REPLACE FUNCTION wed.graph_nodes(_flow_id integer, _sample jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH node AS (
    SELECT t.*, wed.name_of_trigger(t) AS named FROM wed.trigger t
    WHERE t.flow_id = _flow_id AND t.predicate IS NOT NULL ORDER BY t.cfinal, t.tgid LIMIT 300
  ), pending AS (
    SELECT j.tgid, count(*) AS jobs, count(j.host_id) AS running
    FROM (SELECT tgid, host_id FROM wed.job WHERE flow_id = _flow_id LIMIT 100000) j GROUP BY 1
  ), failed AS (
    SELECT m.transition, count(*) AS number FROM wed.matching_exceptions(_flow_id, NULL, NULL, NULL, 1000) m GROUP BY 1
  )
  SELECT coalesce(jsonb_agg(jsonb_build_object('trigger', n.named, 'transition', n.trname, 'final', n.cfinal,
      'enabled', n.enabled, 'condition', (
        SELECT wed.readable(c.sql) FROM wed.clauses(n.predicate) c WHERE c.path = '{}'),
      'reads', n.reads, 'guards', wed.guards_of(n.predicate, n.reads, _sample -> 'defaults'),
      'writes', coalesce(to_jsonb(n.writes), wed.declared_writes(n.component_id, n.trname),
        _sample -> 'changed' -> n.trname, '[]'),
      'performer', CASE WHEN n.cfinal THEN 'gate' WHEN w.tgid IS NOT NULL THEN 'person'
        WHEN b.trname IS NOT NULL THEN 'component' ELSE 'worker' END, 'component', b.component_name,
      'jobs', coalesce(p.jobs, 0), 'running', coalesce(p.running, 0),
      'exceptions', coalesce(f.number, 0)) ORDER BY n.cfinal, n.tgid), '[]')
  FROM node n LEFT JOIN pending p USING (tgid) LEFT JOIN wed.work_task w USING (tgid)
  LEFT JOIN failed f ON f.transition = n.trname LEFT JOIN wed.binding b ON b.flow_id = _flow_id AND b.trname = n.trname
$$;

-- The default of each attribute of a flow.
CREATE OR REPLACE FUNCTION wed.definition_defaults(_flow_id integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _defaults jsonb;
BEGIN
  EXECUTE format('SELECT jsonb_object_agg(aname, adv) FROM %I.wed_attr',
    (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _defaults;
  RETURN coalesce(_defaults, '{}');
END $$;

-- The attributes that only hold a condition back: every clause that names one asks that it still be null, or have its
-- default. Whoever writes it makes the condition false, not true.
CREATE OR REPLACE FUNCTION wed.guards_of(_predicate text, _reads text[], _defaults jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH clause AS MATERIALIZED (SELECT * FROM wed.clauses(_predicate)),
  test AS (
    SELECT c.names, wed.readable(c.sql) AS text, EXISTS (
      SELECT FROM clause n WHERE n.kind = 'not' AND c.path[1:cardinality(n.path)] = n.path) AS negated
    FROM clause c WHERE c.kind = 'test'
  )
  SELECT coalesce(jsonb_agg(r ORDER BY r), '[]') FROM unnest(_reads) r
  WHERE (SELECT bool_and(NOT t.negated AND t.text IN (format('%I IS NULL', r),
           format('%I = %L', r, _defaults ->> r), format('%I = %s', r, _defaults ->> r), CASE _defaults ->> r
             WHEN 'true' THEN quote_ident(r) END)) FROM test t WHERE r = ANY (t.names))
$$;

-- The attributes that a component says its transition writes; null: it does not say.
CREATE OR REPLACE FUNCTION wed.declared_writes(_component_id integer, _transition text) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT (SELECT jsonb_agg(w -> 'name') FROM jsonb_array_elements(nullif(e -> 'writes', 'null')) w)
  FROM wed.component c CROSS JOIN LATERAL jsonb_array_elements(c.manifest -> 'transitions') e
  WHERE c.component_id = _component_id AND e ->> 'transition' = _transition
$$;

-- The edges between triggers: those whose transition writes what the other's condition reads, other than as a guard,
-- and those that the trace shows; from a new instance (null) to what it fired. `number`: how often the sample shows it.
CREATE OR REPLACE FUNCTION wed.graph_edges(_nodes jsonb, _fired jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH node AS MATERIALIZED (
    SELECT n ->> 'trigger' AS named, coalesce(n ->> 'transition', 'final') AS transition,
           ARRAY(SELECT jsonb_array_elements_text(n -> 'reads') EXCEPT SELECT jsonb_array_elements_text(n -> 'guards'))
             AS reads,
           ARRAY(SELECT jsonb_array_elements_text(n -> 'writes')) AS writes
    FROM jsonb_array_elements(_nodes) n
  ), fired AS MATERIALIZED (
    SELECT f ->> 'from' AS transition, f ->> 'to' AS fires, (f ->> 'number')::bigint AS number
    FROM jsonb_array_elements(_fired) f
  ), edge AS (
    SELECT a.named AS "from", b.named AS "to",
      ARRAY(SELECT unnest(a.writes) INTERSECT SELECT unnest(b.reads) ORDER BY 1) AS attributes,
      coalesce(f.number, 0) AS number
    FROM node a CROSS JOIN node b LEFT JOIN fired f ON f.transition = a.transition AND f.fires = b.transition
    WHERE a.writes && b.reads OR f.number > 0
    UNION ALL
    SELECT NULL, b.named, '{}', f.number FROM fired f JOIN node b ON b.transition = f.fires WHERE f.transition IS NULL
  )
  SELECT coalesce(jsonb_agg(to_jsonb(e) ORDER BY e."from" NULLS FIRST, e."to"), '[]') FROM edge e
$$;
