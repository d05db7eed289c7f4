-- Takes new instances through the gate, whoever inserts them.
CREATE OR REPLACE FUNCTION {{shape}}.gate_insert() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER AS $gate$
DECLARE
  _said text;
  _detail text;
  _hint text;
BEGIN
  PERFORM wed_bounded.measure_row(_new.wid, (_new.*)::text) FROM new_rows _new WHERE {{compressed_new}};
  PERFORM wed.gate_insert({{flow_id}}, {{shape}}.evaluate_{{shape}}(ARRAY(
    SELECT ROW(_new.*)::{{shape}}.wed_flow FROM new_rows _new ORDER BY _new.wid)));
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  -- Raised again in the outermost function: whoever writes by hand reads why, and no statements of the gate (CONTEXT).
  GET STACKED DIAGNOSTICS _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL, _hint = PG_EXCEPTION_HINT;
  IF _detail = '' AND _hint = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said;
  ELSIF _detail = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, HINT = _hint;
  ELSIF _hint = '' THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail;
  END IF;
  RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END $gate$
