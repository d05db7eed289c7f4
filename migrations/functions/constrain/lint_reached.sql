-- The states that a flow's instances come to, among those that lint_values distinguishes: from the defaults, with
-- any value of an attribute that no transition may set, by transitions that set what they declare to any value by
-- which their own condition ends, where they can end it. whole: all of them; false where a trigger does not declare
-- what it writes, or there are too many.
CREATE OR REPLACE FUNCTION wed.lint_reached(_flow_id integer, OUT states wed.evaluated[], OUT whole boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _most CONSTANT integer := 4096;
  _shape text := (SELECT shape_schema FROM wed.flow WHERE flow_id = _flow_id);
  _sets jsonb;
  _new jsonb[];
  _by bigint[];
  _endless bigint[] := ARRAY(SELECT tgid FROM wed.trigger WHERE flow_id = _flow_id AND NOT writes && reads);
  _seen jsonb[] := '{}';
  _some wed.evaluated[];
BEGIN
  states := '{}';
  whole := false;
  IF EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = _flow_id AND t.enabled AND NOT t.cfinal
             AND t.predicate IS NOT NULL AND t.writes IS NULL) THEN RETURN; END IF;
  _sets := wed.lint_sets(_flow_id, _most);
  IF _sets IS NULL THEN RETURN; END IF;
  SELECT array_agg(s), array_agg(0) INTO _new, _by FROM jsonb_array_elements(_sets -> 'start') s;
  WHILE _new <> '{}' LOOP
    IF cardinality(_seen) + cardinality(_new) > 4 * _most THEN RETURN; END IF;
    EXECUTE format('SELECT %1$I.evaluate_%1$s(array_agg(jsonb_populate_record(NULL::%1$I.wed_flow,
        jsonb_build_object(''wid'', u.at) || u.s) ORDER BY u.at)) FROM unnest($1) WITH ORDINALITY u(s, at)', _shape)
      INTO _some USING _new;
    _some := ARRAY(SELECT DISTINCT ON (_new[r.wid]) r FROM unnest(_some) r
                   WHERE r.fault IS NULL AND _by[r.wid] <> ALL (r.fired) AND _new[r.wid] <> ALL (_seen));
    states := states || _some;
    _seen := _seen || ARRAY(SELECT _new[r.wid] FROM unnest(_some) r);
    SELECT coalesce(array_agg(n.s), '{}'), coalesce(array_agg(n.f), '{}') INTO _new, _by FROM (
      SELECT DISTINCT _new[r.wid] || v AS s, CASE WHEN f <> ALL (_endless) THEN f ELSE 0 END AS f FROM unnest(_some) r
          CROSS JOIN LATERAL unnest(r.fired) f
      CROSS JOIN LATERAL jsonb_array_elements(_sets -> (f & 4294967295)::text) v WHERE NOT r.final
    ) n WHERE n.s <> ALL (_seen);
  END LOOP;
  whole := true;
END $$;
