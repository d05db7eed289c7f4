-- Lets instances for which a condition has become true by the clock pass the gate as they stand: only what has become
-- true is fired. Instances that somebody writes just now are left to the next look.
CREATE OR REPLACE FUNCTION wed.fire_due(_flow wed.flow, _wids integer[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _rows wed.evaluated[];
BEGIN
  EXECUTE format('SELECT array_agg(wid ORDER BY wid) FROM (
      SELECT wid FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid
        FOR NO KEY UPDATE SKIP LOCKED) w', _flow.schema_name)
    INTO _wids USING _wids;
  IF _wids IS NULL THEN RETURN 0; END IF;
  EXECUTE format('SELECT %1$I.current_%1$s($1)', _flow.shape_schema) INTO _rows USING _wids;
  -- No version has the number 0: the next state's conditions are all evaluated.
  SELECT array_agg(ROW(r.flow_id, 0, r.wid, r.state, r.payload, n.tgids::bigint[], r.kept, false,
    NULL)::wed.evaluated ORDER BY r.wid)
  INTO _rows
  FROM unnest(_rows) r JOIN wed.newly_true(_flow, _wids) n ON n.wid = r.wid
  JOIN wed.instance i ON i.flow_id = _flow.flow_id AND i.wid = r.wid AND i.status = 'R'
  WHERE NOT r.final AND r.fault IS NULL;
  IF _rows IS NULL THEN RETURN 0; END IF;
  PERFORM wed.pass_gate(_rows, NULL, _trw => '_CLOCK');
  RETURN cardinality(_rows);
END $$;
