-- Takes new instances through the gate.
CREATE OR REPLACE FUNCTION wed.gate_insert(_flow_id integer, _rows wed.evaluated[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM wed.refuse_initial(_flow_id, _rows);
  INSERT INTO wed.instance (flow_id, wid, status) SELECT _flow_id, r.wid, 'R' FROM unnest(_rows) r;
  IF EXISTS (SELECT FROM wed.work_plan WHERE flow_id = _flow_id) THEN
    PERFORM wed.name_instances(_flow_id, ARRAY(SELECT r.wid FROM unnest(_rows) r ORDER BY r.wid));
  END IF;
  PERFORM wed.pass_gate(_rows, NULL);
  PERFORM wed.note_given_wid(_flow_id, (SELECT max(r.wid) FROM unnest(_rows) r));
END $$;
