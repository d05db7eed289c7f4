-- Makes a flow's final condition the given one; null removes it.
CREATE OR REPLACE FUNCTION wed.apply_final(_flow wed.flow, _condition text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _present text;
BEGIN
  EXECUTE format('SELECT cpred FROM %I.wed_trig WHERE cfinal', _flow.schema_name) INTO _present;
  IF _present IS NOT DISTINCT FROM _condition THEN
    RETURN;
  ELSIF _condition IS NULL THEN
    EXECUTE format('DELETE FROM %I.wed_trig WHERE cfinal', _flow.schema_name);
  ELSIF _present IS NULL THEN
    EXECUTE format('INSERT INTO %I.wed_trig (cpred, cfinal) VALUES ($1, true)', _flow.schema_name) USING _condition;
  ELSE
    EXECUTE format('UPDATE %I.wed_trig SET cpred = $1 WHERE cfinal', _flow.schema_name) USING _condition;
  END IF;
END $$;
