-- Writes the states of a batch (wed.write_states), unless somebody holds a lock that is in the way for longer than the
-- session's lock_timeout. Then nothing is written, and the error's detail says which locks were met (wed.locks_met); where
-- they are gone by then, the host tries again (40001).
CREATE OR REPLACE FUNCTION wed.write_unlocked(
  _host_id integer, _shapes text[], _sets text[], _counts integer[], _widths integer[], _assigned text[],
  _literals integer[], _lit text[], _wids integer[], _tgids integer[], _careful boolean)
RETURNS wed.evaluated[]
LANGUAGE plpgsql AS $$
DECLARE
  _locks jsonb;
BEGIN
  RETURN wed.write_states(_host_id, _shapes, _sets, _counts, _widths, _assigned, _literals, _lit, _wids, _tgids, _careful);
EXCEPTION WHEN lock_not_available THEN
  -- A shape's schema is its flow's and _shape.
  SELECT wed.locks_met(array_agg(f.flow_id), array_agg(i.wid)) INTO _locks
  FROM (SELECT left(s.shape, -6) AS schema_name, (sum(s.count) OVER (ORDER BY s.at) - s.count)::integer AS before, s.count
        FROM unnest(_shapes, _counts) WITH ORDINALITY s(shape, count, at)) g
  JOIN wed.flow f ON f.schema_name = g.schema_name
  CROSS JOIN LATERAL unnest(_wids[g.before + 1 : g.before + g.count]) i(wid);
  IF _locks = '[]' THEN
    RAISE EXCEPTION 'a lock was in the way' USING ERRCODE = 'serialization_failure';
  END IF;
  RAISE EXCEPTION 'somebody holds a lock that is in the way' USING ERRCODE = 'lock_not_available', DETAIL = _locks::text;
END $$;
