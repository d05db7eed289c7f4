-- Takes states through the gate that were changed outside of a host's commit: by jobs' transitions, or by events.
CREATE OR REPLACE FUNCTION {{shape}}.gate_update() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER AS ${{quote}}$
DECLARE
  _news {{shape}}.wed_flow[];
  _olds {{shape}}.wed_flow[];
  _wids integer[];
  _writings wed.writing[];
  _changes wed.change[];
  _said text;
  _detail text;
  _hint text;
BEGIN
  PERFORM wed_bounded.measure_row(_new.wid, (_new.*)::text) FROM new_rows _new WHERE {{compressed_new}};
  _wids := ARRAY(SELECT _new.wid FROM new_rows _new ORDER BY _new.wid);
  IF _wids = '{}' THEN RETURN NULL; END IF;
  IF _wids <> ARRAY(SELECT _old.wid FROM old_rows _old ORDER BY _old.wid) THEN
    RAISE EXCEPTION 'the wid of an instance cannot change' USING ERRCODE = 'WF008', HINT = 'Set attributes only.';
  END IF;
  _news := ARRAY(SELECT ROW(_new.*)::{{shape}}.wed_flow FROM new_rows _new ORDER BY _new.wid);
  _writings := wed.identify_writers({{flow_id}}, _wids);
  IF EXISTS (SELECT FROM unnest(_writings) _w WHERE _w.may_set IS NOT NULL) THEN
    _olds := ARRAY(SELECT ROW(_old.*)::{{shape}}.wed_flow FROM old_rows _old ORDER BY _old.wid);
    _changes := ARRAY(
      SELECT ROW(_c._o1, array_remove(ARRAY[{{changed}}]::text[], NULL))::wed.change
      FROM ROWS FROM (unnest(_olds), unnest(_news)) AS _c({{old_names}}, {{new_names}}));
  END IF;
  PERFORM wed.gate_update({{shape}}.evaluate_{{shape}}(_news), _writings, _changes);
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  -- Raised again in the outermost function: whoever writes by hand reads why, and no statements of the gate (CONTEXT).
  GET STACKED DIAGNOSTICS _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL, _hint = PG_EXCEPTION_HINT;
  IF _detail = '' AND _hint = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said;
  ELSIF _detail = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, HINT = _hint;
  ELSIF _hint = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail;
  END IF;
  RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END ${{quote}}$
