-- Takes new instances through the gate, whoever inserts them.
CREATE OR REPLACE FUNCTION {{shape}}.gate_insert() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER AS $gate$
BEGIN
  PERFORM wed_bounded.measure_row(_new.wid, (_new.*)::text) FROM new_rows _new WHERE {{compressed_new}};
  PERFORM wed.gate_insert({{flow_id}}, {{shape}}.evaluate_{{shape}}(ARRAY(
    SELECT ROW(_new.*)::{{shape}}.wed_flow FROM new_rows _new ORDER BY _new.wid)));
  RETURN NULL;
END $gate$
