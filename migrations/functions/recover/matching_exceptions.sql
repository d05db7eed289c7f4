-- Exceptions of a flow that match: the transition whose failure made them (null: any), a part of what was said (null:
-- any), and since when; oldest first.
CREATE OR REPLACE FUNCTION wed.matching_exceptions(
  _flow_id integer, _transition text, _message text, _since timestamptz, _limit integer)
RETURNS TABLE (wid integer, transition text, message text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT i.wid, g.trname, r.note
  FROM wed.instance i
  CROSS JOIN LATERAL (
    SELECT t.tgid, t.trw, t.note FROM wed.trace t
    WHERE t.flow_id = i.flow_id AND t.wid = i.wid AND t.status = 'E' ORDER BY t.seq DESC LIMIT 1) r
  LEFT JOIN wed.trigger g ON g.tgid = r.tgid
  WHERE i.flow_id = _flow_id AND i.status = 'E'
    AND (_transition IS NULL OR g.trname = _transition)
    AND (_message IS NULL OR strpos(coalesce(r.note, ''), _message) > 0)
    AND (_since IS NULL OR i.changed >= _since)
  ORDER BY i.changed, i.wid LIMIT _limit
$$;
