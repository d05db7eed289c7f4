-- The next number of a series. Of one without gaps the smallest that nobody has or is taking: who takes one locks
-- that row only, and it is free again where its transaction is not committed.
CREATE OR REPLACE FUNCTION wed.next_number(_flow_id integer, _attribute text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _number bigint;
  _gapless boolean;
BEGIN
  SELECT gapless INTO _gapless FROM wed.numbering WHERE flow_id = _flow_id AND attribute = _attribute;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the attribute "%" is not numbered', left(_attribute, 80) USING ERRCODE = 'WF013',
        HINT = 'SELECT wed_number(attribute).';
  ELSIF NOT _gapless THEN
    RETURN (SELECT nextval(format('%I.%I', shape_schema, 'number_' || md5(_attribute))::regclass) FROM wed.flow
        WHERE flow_id = _flow_id);
  END IF;
  FOR _try IN 1 .. 2 LOOP
    DELETE FROM wed.free_number f WHERE f.flow_id = _flow_id AND f.attribute = _attribute AND f.number = (
      SELECT number FROM wed.free_number WHERE flow_id = _flow_id AND attribute = _attribute
      ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING f.number INTO _number;
    EXIT WHEN _number IS NOT NULL;
    -- The hosts' sweep makes more before there are none left, so that this is rare: it is one at a time.
    PERFORM wed.make_numbers(_flow_id, _attribute);
  END LOOP;
  RETURN _number;
END $$;
