-- Certain findings of a flow's definition as texts, for who applies it. None where the look itself fails.
CREATE OR REPLACE FUNCTION wed.lint_texts(_flow_id integer) RETURNS SETOF text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT format('%s: %s. %s', l.place, l.text, l.hint) FROM wed.lint(_flow_id) l WHERE l.certain
      AND l.code <> 'no_final';
EXCEPTION WHEN OTHERS THEN
  RETURN;
END $$;
