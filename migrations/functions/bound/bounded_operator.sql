-- Makes an operator of the schema wed_bounded, of a function that is there, unless it has been made.
CREATE OR REPLACE FUNCTION wed.bounded_operator(_sign text, _left regtype, _right regtype, _function text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_operator WHERE oprnamespace = 'wed_bounded'::regnamespace AND oprname = _sign
                   AND oprleft = _left AND oprright = _right) THEN
    EXECUTE format('CREATE OPERATOR wed_bounded.%s (FUNCTION = %s, LEFTARG = %s, RIGHTARG = %s)', _sign, _function,
      _left, _right);
  END IF;
END $$;
