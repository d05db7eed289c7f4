-- Changed states, ordered by wid, of writers that may have set what they set.
CREATE OR REPLACE FUNCTION wed.gate_update(_rows wed.evaluated[], _tgids integer[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
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
END $$;
