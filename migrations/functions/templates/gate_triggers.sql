-- Triggers that make every write of wed_flow pass the gate.
CREATE OR REPLACE TRIGGER gate_insert AFTER INSERT ON {{schema}}.wed_flow REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION {{shape}}.gate_insert();
CREATE OR REPLACE TRIGGER gate_update AFTER UPDATE ON {{schema}}.wed_flow REFERENCING OLD TABLE AS old_rows NEW TABLE
  AS new_rows
  FOR EACH STATEMENT WHEN (wed.is_by_hand()) EXECUTE FUNCTION {{shape}}.gate_update();
CREATE OR REPLACE TRIGGER gate_delete BEFORE DELETE ON {{schema}}.wed_flow
  FOR EACH ROW EXECUTE FUNCTION wed.refuse_delete();
CREATE OR REPLACE TRIGGER gate_truncate BEFORE TRUNCATE ON {{schema}}.wed_flow
  FOR EACH STATEMENT EXECUTE FUNCTION wed.refuse_truncate();
