-- The values of each attribute that a flow's conditions distinguish, as a JSON array.
CREATE OR REPLACE FUNCTION wed.lint_values(_flow_id integer) RETURNS TABLE (name text, list jsonb)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  RETURN QUERY
    WITH a AS (
      -- Where attributes may be compared with each other, each has further values, for one to be less than another.
      SELECT t.attname::text AS name, t.atttypid::regtype::text AS type, EXISTS (
          SELECT FROM wed.trigger g WHERE g.flow_id = _flow_id AND t.attname = ANY (g.reads)
            AND cardinality(g.reads) > 1 AND NOT wed.lint_is_plain(g.predicate)) AS is_compared
      FROM pg_attribute t
      WHERE t.attrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND t.attnum > 1 AND NOT t.attisdropped
        AND EXISTS (SELECT FROM wed.trigger g WHERE g.flow_id = _flow_id AND t.attname = ANY (g.reads))
    ), c AS (
      -- Constants of the conditions that read it.
      SELECT DISTINCT a.name, a.type, m[1] AS quoted, m[2] AS number,
        position(format('(%I)::', a.name) IN g.predicate) > 0 AS is_cast FROM a
      JOIN wed.trigger g ON g.flow_id = _flow_id AND a.name = ANY (g.reads)
      CROSS JOIN LATERAL regexp_matches(g.predicate, $r$'((?:[^']|'')*)'|\m([0-9]{1,9})\M$r$, 'g') m
    ), v AS (
      SELECT a.name, to_jsonb(b) AS value FROM a CROSS JOIN (VALUES (true), (false)) n(b) WHERE a.type = 'boolean'
      UNION SELECT c.name, to_jsonb(c.number::bigint + d) FROM c CROSS JOIN generate_series(-1, 1) d
            WHERE c.type IN ('integer', 'bigint', 'numeric', 'double precision') AND c.number IS NOT NULL
      UNION SELECT c.name, to_jsonb((c.number::bigint + d)::text) FROM c CROSS JOIN generate_series(-1, 1) d
            WHERE c.type = 'text' AND c.number IS NOT NULL AND c.is_cast
      UNION SELECT c.name, to_jsonb(replace(c.quoted, '''''', '''')) FROM c WHERE c.type = 'text'
          AND c.quoted IS NOT NULL
      UNION SELECT a.name, to_jsonb('other'::text) FROM a WHERE a.type = 'text'
      UNION SELECT a.name, '0' FROM a WHERE a.type IN ('integer', 'bigint', 'numeric', 'double precision')
      UNION SELECT a.name, to_jsonb(n) FROM a CROSS JOIN (VALUES (-1), (1)) d(n)
            WHERE a.is_compared AND a.type IN ('integer', 'bigint', 'numeric', 'double precision')
      UNION SELECT a.name, to_jsonb('another'::text) FROM a WHERE a.is_compared AND a.type = 'text'
      UNION SELECT a.name, to_jsonb('2026-01-02T00:00:00Z'::text) FROM a
            WHERE a.is_compared AND a.type IN ('date', 'timestamp with time zone')
      UNION SELECT a.name, to_jsonb('2 days'::text) FROM a WHERE a.is_compared AND a.type = 'interval'
      UNION SELECT a.name, to_jsonb('2026-01-01T00:00:00Z'::text) FROM a
          WHERE a.type IN ('date', 'timestamp with time zone')
      UNION SELECT a.name, to_jsonb('1 day'::text) FROM a WHERE a.type = 'interval'
      UNION SELECT a.name, '{}' FROM a WHERE a.type = 'jsonb'
      UNION SELECT a.name, '[]' FROM a WHERE a.type ~ '\[\]$'
      UNION SELECT a.name, to_jsonb('00000000-0000-0000-0000-000000000000'::text) FROM a WHERE a.type = 'uuid'
      UNION SELECT a.name, 'null' FROM a
    )
    SELECT v.name, jsonb_path_query_array(jsonb_agg(v.value ORDER BY v.value), '$[0 to 63]') FROM v GROUP BY v.name;
END $$;
