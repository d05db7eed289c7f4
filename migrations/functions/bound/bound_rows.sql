-- Holds a flow's rows to their size.
CREATE OR REPLACE FUNCTION wed.bound_rows(_schema text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I.wed_flow ADD CONSTRAINT bytes CHECK (pg_column_size(wed_flow.*) <= 262144
                    OR wed_bounded.refuse_row(wed_flow.*))', _schema);
END $$;
