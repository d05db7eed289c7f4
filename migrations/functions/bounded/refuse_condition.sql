-- In the place of a stored condition that the rules allow no more.
CREATE OR REPLACE FUNCTION wed_bounded.refuse_condition(_why text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RAISE EXCEPTION 'the condition is not allowed any more: %', _why USING ERRCODE = 'WF011',
    HINT = 'Write it anew in wed_trig.';
END $$;
