-- A cycle in the order of tasks, as names; null when there is none: each task can begin at some time, if those before
-- it are done as soon as they can. What is done is followed to those that wait for it, so that a chain costs its
-- length.
CREATE OR REPLACE FUNCTION wed.order_cycle(_flow_id integer, _wid integer) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _terms jsonb;
  _after jsonb;
  _done jsonb := '{}';
  _free integer[];
  _name text;
  _at integer := 1;
BEGIN
  SELECT jsonb_object_agg(o.tgid, o.terms) INTO _terms
  FROM (SELECT tgid, jsonb_agg(terms) AS terms FROM wed.order_of(_flow_id, _wid) GROUP BY tgid) o;
  IF _terms IS NULL THEN RETURN NULL; END IF;
  SELECT jsonb_object_agg(u.name, u.tgids) INTO _after
  FROM (SELECT n AS name, jsonb_agg(DISTINCT o.tgid) AS tgids FROM wed.order_of(_flow_id, _wid) o
        CROSS JOIN LATERAL jsonb_array_elements(o.terms) c
        CROSS JOIN LATERAL jsonb_array_elements_text(c) n GROUP BY n) u;
  _free := ARRAY(SELECT tgid FROM wed.trigger WHERE flow_id = _flow_id AND NOT _terms ? tgid::text);
  WHILE _at <= cardinality(_free) LOOP
    FOR _name IN SELECT n FROM wed.trigger t CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
                 WHERE t.tgid = _free[_at] AND NOT _done ? n LOOP
      _done := _done || jsonb_build_object(_name, true);
      _free := _free || ARRAY(
        SELECT d::integer FROM jsonb_array_elements_text(_after -> _name) d
        WHERE d::integer <> ALL (_free) AND NOT EXISTS (
          SELECT FROM jsonb_array_elements(_terms -> d) e WHERE NOT EXISTS (
            SELECT FROM jsonb_array_elements(e) c WHERE _done ?& ARRAY(SELECT jsonb_array_elements_text(c)))));
    END LOOP;
    _at := _at + 1;
  END LOOP;
  RETURN wed.cycle_of_order(_flow_id, _wid, _free, ARRAY(SELECT jsonb_object_keys(_done)));
END $$;
