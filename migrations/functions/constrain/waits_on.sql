-- What a blocked job waits for, in words: tasks before it, or keys and who holds them.
CREATE OR REPLACE FUNCTION wed.waits_on(_flow_id integer, _wid integer, _tgid integer) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _text text;
BEGIN
  SELECT string_agg(o.after, ' AND ') INTO _text FROM (
    SELECT after, terms FROM wed.trigger_constraint WHERE tgid = _tgid AND terms IS NOT NULL
    UNION ALL
    SELECT after, terms FROM wed.precedence WHERE tgid = _tgid AND (wid IS NULL OR wid = _wid)) o
  WHERE NOT wed.is_met(o.terms, wed.names_done(_flow_id, _wid))
    AND EXISTS (SELECT FROM wed.job WHERE flow_id = _flow_id AND wid = _wid AND tgid = _tgid AND blocked = 'p');
  IF _text IS NOT NULL THEN RETURN left('the tasks before it: ' || _text, 500); END IF;
  SELECT string_agg(format('%s%s', w.key, CASE
      WHEN w.holders IS NOT NULL THEN format(' (held by %s)', w.holders)
      WHEN w.capacity IS NULL AND w.amount IS NOT NULL THEN ' (there is none of it in wed_resource)'
      WHEN w.amount > w.capacity THEN format(' (%s wanted, %s to be had)', w.amount, w.capacity)
      WHEN NOT w.is_first THEN ' (others are before it)' ELSE '' END), ', ' ORDER BY w.key) INTO _text
  FROM wed.waiting_keys(_flow_id, _wid, _tgid) w
  WHERE NOT w.is_first OR w.holders IS NOT NULL OR w.amount > coalesce(w.capacity, 0);
  RETURN left(coalesce('its reservation: ' || _text, 'its reservation'), 500);
END $$;
