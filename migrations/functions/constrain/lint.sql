-- Looks for what of a flow cannot work, or not as it was meant: by its declarations, and by evaluating its conditions
-- over states that are made of the values they compare with. Each finding names its place, a way to mend it, and,
-- where there is one, a state that shows it. certain: it follows from the declarations alone, or from all states that
-- the values allow.
CREATE OR REPLACE FUNCTION wed.lint(_flow_id integer)
RETURNS TABLE (code text, place text, text text, hint text, state jsonb, certain boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET statement_timeout = '20s' AS $$
DECLARE
  _states wed.evaluated[];
  _whole boolean;
  _reached record;
BEGIN
  -- Of very many triggers it would take too long.
  IF (SELECT count(*) FROM wed.trigger WHERE flow_id = _flow_id) <= 200 THEN
    SELECT s.states, s.whole INTO _states, _whole FROM wed.lint_states(_flow_id) s;
    RETURN QUERY SELECT * FROM wed.lint_conditions(_flow_id, _states, _whole);
    _reached := wed.lint_reached(_flow_id);
    RETURN QUERY SELECT * FROM wed.lint_writes(
      _flow_id, CASE WHEN _reached.whole THEN _reached.states ELSE _states END, _reached.whole);
  END IF;
  RETURN QUERY SELECT * FROM wed.lint_constraints(_flow_id);
END $$;
