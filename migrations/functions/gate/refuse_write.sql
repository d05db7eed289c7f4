CREATE OR REPLACE FUNCTION wed.refuse_write(_wid integer, _transition text, _attribute text,
  _allowed text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'transition % may not set attribute "%"', _transition, _attribute
    USING ERRCODE = 'WF010', DETAIL = format('Instance %s; it may set: %s.', _wid,
      coalesce(nullif(array_to_string(_allowed, ', '), ''), 'nothing')),
    HINT = 'Add the attribute to the trigger''s writes in wed_trig, or do not set it.';
END $$;
