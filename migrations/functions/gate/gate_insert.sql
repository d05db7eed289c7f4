-- New instances.
CREATE OR REPLACE FUNCTION wed.gate_insert(_flow_id integer, _rows wed.evaluated[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _code text;
  _said text;
  _detail text;
  _hint text;
  _bad wed.evaluated;
  _most CONSTANT integer := 2000000000;
  _schema text;
BEGIN
  SELECT * INTO _bad FROM unnest(_rows) r
  WHERE r.wid < 1 OR r.wid > _most OR r.fault IS NOT NULL OR (r.fired = '{}' AND NOT r.final) ORDER BY r.wid LIMIT 1;
  IF _bad.wid > _most THEN
    -- The sequence follows the largest number, whether its transaction is committed or not.
    RAISE EXCEPTION 'the wid of an instance is at most %, and % is more', _most, _bad.wid USING ERRCODE = '23514',
      HINT = 'Leave it out: the next free one is taken.';
  END IF;
  IF _bad.wid < 1 THEN
    RAISE EXCEPTION 'the wid of an instance is a positive number, and % is none', _bad.wid USING ERRCODE = '23514',
      HINT = 'Leave it out: the next free one is taken.';
  END IF;
  IF _bad.fault IS NOT NULL THEN
    RAISE EXCEPTION 'the initial state of instance % cannot be evaluated: %', _bad.wid, _bad.fault
      USING ERRCODE = 'WF014', HINT = 'Mend the values, or write the condition so that it holds for them too.';
  ELSIF _bad.wid IS NOT NULL THEN
    RAISE EXCEPTION 'the initial state of instance % satisfies no condition', _bad.wid
      USING ERRCODE = 'WF001', DETAIL = left(_bad.state::jsonb::text, 1000),
        HINT = 'A new instance must fire at least one transition, or be final; see wed_trig.';
  END IF;
  INSERT INTO wed.instance (flow_id, wid, status) SELECT _flow_id, r.wid, 'R' FROM unnest(_rows) r;
  IF EXISTS (SELECT FROM wed.work_plan WHERE flow_id = _flow_id) THEN
    PERFORM wed.name_instances(_flow_id, ARRAY(SELECT r.wid FROM unnest(_rows) r ORDER BY r.wid));
  END IF;
  PERFORM wed.settle(_rows, NULL, NULL);
  -- A wid given by hand must not be given again by the sequence.
  SELECT schema_name INTO _schema FROM wed.flow WHERE flow_id = _flow_id;
  PERFORM setval(s.seq, m.wid)
  FROM (SELECT max(r.wid) AS wid FROM unnest(_rows) r) m,
       (SELECT pg_get_serial_sequence(format('%I.wed_flow', _schema), 'wid')::regclass AS seq) s
  WHERE m.wid > coalesce(pg_sequence_last_value(s.seq), 0);
EXCEPTION WHEN OTHERS THEN
  -- Said again from here: whoever writes by hand reads why, and not the statements of the gate.
  GET STACKED DIAGNOSTICS _code = RETURNED_SQLSTATE, _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL,
    _hint = PG_EXCEPTION_HINT;
  RAISE EXCEPTION USING ERRCODE = _code, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END $$;
