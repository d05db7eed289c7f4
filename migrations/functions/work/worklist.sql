-- A person's worklist: what the person holds, and what is offered, in one of the orders arrival, priority,
-- deadline, size, own. At most 1000 entries.
CREATE OR REPLACE FUNCTION wed.worklist(
  _tenant text, _name text, _order text DEFAULT 'arrival', _limit integer DEFAULT 100,
    _now timestamptz DEFAULT clock_timestamp())
RETURNS SETOF jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
BEGIN
  IF _order NOT IN ('arrival', 'priority', 'deadline', 'size', 'own') THEN
    RAISE EXCEPTION 'there is no order "%" of a worklist', left(_order, 80) USING ERRCODE = 'WF085',
      HINT = 'Use arrival, priority, deadline, size or own.';
  END IF;
  RETURN QUERY
    SELECT wed.work_document(f) FROM wed.found_work(_person, _order, least(greatest(_limit, 1), 1000), _now) f
    LEFT JOIN wed.work_position o ON o.person_id = _person.person_id AND o.item_id = f.item_id
    ORDER BY CASE _order WHEN 'priority' THEN -f.priority WHEN 'deadline' THEN extract(epoch FROM f.deadline_at)
                         WHEN 'size' THEN f.data_bytes WHEN 'own' THEN o.position END NULLS LAST, f.item_id
    LIMIT least(greatest(_limit, 1), 1000);
END $$;
