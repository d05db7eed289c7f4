-- A cycle in the order of tasks, as names; null when there is none: each task can begin at some time, if those before
-- it are done as soon as they can.
CREATE OR REPLACE FUNCTION wed.order_cycle(_flow_id integer, _wid integer) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _free integer[] := '{}';
  _more integer[];
  _done text[];
  _at integer;
  _next integer;
  _path integer[] := '{}';
BEGIN
  LOOP
    _done := ARRAY(SELECT n FROM wed.trigger t CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
                   WHERE t.tgid = ANY (_free) AND n IS NOT NULL);
    _more := ARRAY(SELECT t.tgid FROM wed.trigger t WHERE t.flow_id = _flow_id AND t.tgid <> ALL (_free)
        AND NOT EXISTS (
                     SELECT FROM wed.order_of(_flow_id, _wid) o WHERE o.tgid = t.tgid
                         AND NOT wed.is_met(o.terms, _done)));
    EXIT WHEN _more = '{}';
    _free := _free || _more;
  END LOOP;
  SELECT min(t.tgid) INTO _at FROM wed.trigger t WHERE t.flow_id = _flow_id AND t.tgid <> ALL (_free);
  IF _at IS NULL THEN RETURN NULL; END IF;
  -- Each that cannot begin waits for another one that cannot: follow them until one comes again.
  WHILE _at <> ALL (_path) LOOP
    _path := _path || _at;
    SELECT min(t.tgid) INTO _next FROM wed.order_of(_flow_id, _wid) o CROSS JOIN LATERAL jsonb_array_elements(o.terms) c
    CROSS JOIN LATERAL jsonb_array_elements_text(c) n
    JOIN wed.trigger t ON t.flow_id = _flow_id AND n IN (t.tgname, t.trname) AND t.tgid <> ALL (_free)
    WHERE o.tgid = _at AND NOT wed.is_met(o.terms, _done);
    _at := _next;
  END LOOP;
  _path := _path[array_position(_path, _at):] || _at;
  RETURN ARRAY(SELECT coalesce(nullif(t.tgname, ''), t.trname) FROM unnest(_path) WITH ORDINALITY p(tgid, at)
      JOIN wed.trigger t USING (tgid)
               ORDER BY p.at);
END $$;
