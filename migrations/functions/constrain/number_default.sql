-- The default of an attribute that is numbered.
CREATE OR REPLACE FUNCTION wed.number_default(_flow wed.flow, _attribute text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('ALTER TABLE %1$I.wed_flow ALTER COLUMN %2$I SET DEFAULT %1$I.wed_next_number(%2$L)',
      _flow.schema_name, _attribute);
END $$;
