-- After a change of the model: which live instances, or only _wid, would fire what, or, without preview, fires it, on
-- record with who asked for it.
CREATE OR REPLACE FUNCTION wed.rematch(
  _flow_id integer, _preview boolean, _actor text DEFAULT session_user::text, _wid integer DEFAULT NULL)
RETURNS TABLE (wid integer, fires text[], becomes text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  _flow wed.flow;
  _last integer := 0;
  _changed integer := 0;
  _wids integer[];
  _rows wed.evaluated[];
  _results wed.result[];
  _passing wed.passing[];
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  LOOP
    -- A thousand at a time; their rows are held, unless they are only looked at.
    _wids := ARRAY(SELECT i.wid FROM wed.instance i
                   WHERE i.flow_id = _flow_id AND i.wid > _last AND (_wid IS NULL OR i.wid = _wid) AND i.status <> 'F'
                   ORDER BY i.wid LIMIT 1000);
    EXIT WHEN _wids = '{}';
    _last := _wids[cardinality(_wids)];
    IF NOT _preview THEN
      EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE', _flow.schema_name)
        USING _wids;
      _wids := ARRAY(SELECT i.wid FROM wed.instance i
                     WHERE i.flow_id = _flow_id AND i.wid = ANY (_wids) AND i.status <> 'F' ORDER BY i.wid);
    END IF;
    EXECUTE format('SELECT %1$I.current_%1$s($1)', _flow.shape_schema) INTO _rows USING _wids;
    CONTINUE WHEN _rows = '{}';
    _results := wed.exceptions_done(_rows);
    _passing := ARRAY(SELECT p FROM unnest(wed.decide(_rows, _results, '_REMATCH', NULL, false)) p
                      WHERE p.changes OR p.fire <> '{}' ORDER BY p.wid);
    RETURN QUERY SELECT p.wid, ARRAY(SELECT t.trname FROM wed.trigger t WHERE t.tgid = ANY (p.fire) ORDER BY t.tgid),
      p.becomes::text
                 FROM unnest(_passing) p;
    IF NOT _preview AND _passing <> '{}' THEN
      _wids := ARRAY(SELECT p.wid FROM unnest(_passing) p);
      _results := ARRAY(SELECT r FROM unnest(_results) r WHERE r.wid = ANY (_wids));
      PERFORM wed.pass_gate(ARRAY(SELECT r FROM unnest(_rows) r WHERE r.wid = ANY (_wids)), _results,
        _trw => '_REMATCH', _note => _actor);
      _changed := _changed + cardinality(_passing);
    END IF;
  END LOOP;
  IF NOT _preview THEN
    PERFORM wed.note_flow(_actor, _flow_id, 'flow.rematch', _wid::text, jsonb_build_object('instances', _changed));
  END IF;
END $$;
