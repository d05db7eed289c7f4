-- The names of a cycle among the tasks that can never begin, those that can being _free and their names _done; null:
-- there is none. Each that cannot begin waits for another one that cannot: followed until one comes again.
CREATE OR REPLACE FUNCTION wed.cycle_of_order(_flow_id integer, _wid integer, _free integer[], _done text[])
RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _path integer[] := '{}';
  _at integer := (SELECT min(tgid) FROM wed.trigger WHERE flow_id = _flow_id AND tgid <> ALL (_free));
BEGIN
  IF _at IS NULL THEN RETURN NULL; END IF;
  WHILE _at <> ALL (_path) LOOP
    _path := _path || _at;
    _at := (
      SELECT min(t.tgid) FROM wed.order_of(_flow_id, _wid) o CROSS JOIN LATERAL jsonb_array_elements(o.terms) c
      CROSS JOIN LATERAL jsonb_array_elements_text(c) n
      JOIN wed.trigger t ON t.flow_id = _flow_id AND n IN (t.tgname, t.trname) AND t.tgid <> ALL (_free)
      WHERE o.tgid = _path[cardinality(_path)] AND NOT wed.is_met(o.terms, _done));
  END LOOP;
  _path := _path[array_position(_path, _at):] || _at;
  RETURN ARRAY(SELECT coalesce(nullif(t.tgname, ''), t.trname)
               FROM unnest(_path) WITH ORDINALITY p(tgid, at) JOIN wed.trigger t USING (tgid) ORDER BY p.at);
END $$;
