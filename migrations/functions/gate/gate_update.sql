-- Changed states, ordered by wid, of writers that may have set what they set.
CREATE OR REPLACE FUNCTION wed.gate_update(_rows wed.evaluated[], _tgids integer[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _code text;
  _said text;
  _detail text;
  _hint text;
  _none bigint[] := array_fill(0::bigint, ARRAY[cardinality(_tgids)]);
  _events integer[];
BEGIN
  IF array_position(_tgids, NULL) IS NULL THEN
    PERFORM wed.settle(_rows, _tgids, _none);
    RETURN;
  END IF;
  -- Events apart: what wrote is not a job's transition.
  _events := ARRAY(SELECT at FROM unnest(_tgids) WITH ORDINALITY t(tgid, at) WHERE tgid IS NULL);
  PERFORM wed.settle(ARRAY(SELECT _rows[at] FROM unnest(_events) at), NULL, NULL, NULL, '_EVENT');
  IF cardinality(_events) < cardinality(_tgids) THEN
    PERFORM wed.settle(ARRAY(SELECT _rows[at] FROM generate_subscripts(_rows, 1) at WHERE at <> ALL (_events)),
                       array_remove(_tgids, NULL), _none);
  END IF;
EXCEPTION WHEN OTHERS THEN
  -- Said again from here: whoever writes by hand reads why, and not the statements of the gate.
  GET STACKED DIAGNOSTICS _code = RETURNED_SQLSTATE, _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL,
    _hint = PG_EXCEPTION_HINT;
  RAISE EXCEPTION USING ERRCODE = _code, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END $$;
