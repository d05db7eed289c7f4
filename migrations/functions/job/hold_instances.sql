-- Locks the instances of a flow that has several groups in a batch, in order.
CREATE OR REPLACE FUNCTION wed.hold_instances(_groups wed.result_group[], _shape_schema text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _wids integer[];
BEGIN
  IF (SELECT count(*) FROM unnest(_groups) g WHERE g.shape_schema = _shape_schema) = 1 THEN RETURN; END IF;
  _wids := ARRAY(SELECT r.wid FROM unnest(_groups) g CROSS JOIN LATERAL unnest(g.results) r
                 WHERE g.shape_schema = _shape_schema ORDER BY r.wid);
  EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE',
                 (SELECT schema_name FROM wed.flow f WHERE f.shape_schema = _shape_schema)) USING _wids;
END $$;
