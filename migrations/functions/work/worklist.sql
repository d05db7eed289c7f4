-- A person's worklist in one of the orders arrival, priority, deadline, size, own: all that the person holds, and of
-- what is offered the first _limit, at most 1000.
CREATE OR REPLACE FUNCTION wed.worklist(
  _tenant text, _name text, _order text DEFAULT 'arrival', _limit integer DEFAULT 100,
    _now timestamptz DEFAULT clock_timestamp())
RETURNS SETOF jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _most integer := least(greatest(_limit, 1), 1000);
  _items wed.work_item[];
BEGIN
  IF _order NOT IN ('arrival', 'priority', 'deadline', 'size', 'own') THEN
    RAISE EXCEPTION 'there is no order "%" of a worklist', left(_order, 80) USING ERRCODE = 'WF085',
      HINT = 'Use arrival, priority, deadline, size or own.';
  END IF;
  _items := ARRAY(SELECT f FROM wed.found_work(_person, _order, _most, _now) f);
  _items := wed.first_work(_items, _person.person_id, _order, _most);
  RETURN QUERY
    SELECT wed.work_document(i.item) || e.extent
    FROM (SELECT u AS item, u.item_id, row_number() OVER () AS place FROM unnest(_items) u) i
    JOIN wed.work_extents(_items, _person.person_id) e USING (item_id) ORDER BY i.place;
END $$;

-- Items in an order: all that are held, and of the others the first _most.
CREATE OR REPLACE FUNCTION wed.first_work(_items wed.work_item[], _person_id integer, _order text, _most integer)
RETURNS wed.work_item[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH keyed AS (
    SELECT i AS item, i.item_id, i.holder IS NOT NULL AS held,
      CASE _order WHEN 'priority' THEN -i.priority WHEN 'deadline' THEN extract(epoch FROM i.deadline_at)
                  WHEN 'size' THEN e.data_bytes WHEN 'own' THEN o.position END AS key
    FROM unnest(_items) i
    LEFT JOIN wed.work_position o ON o.person_id = _person_id AND o.item_id = i.item_id
    LEFT JOIN wed.work_extents(CASE _order WHEN 'size' THEN _items END, _person_id) e ON e.item_id = i.item_id),
  ranked AS (SELECT *, row_number() OVER (PARTITION BY held ORDER BY key NULLS LAST, item_id) AS place FROM keyed)
  SELECT array_agg(item ORDER BY key NULLS LAST, item_id) FROM ranked WHERE held OR place <= _most
$$;
