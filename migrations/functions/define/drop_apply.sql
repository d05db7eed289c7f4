-- Drops the apply functions of a flow, whatever arguments a former version gave them.
CREATE OR REPLACE FUNCTION wed.drop_apply(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _gone regprocedure;
BEGIN
  FOR _gone IN SELECT oid FROM pg_proc
    WHERE pronamespace = quote_ident(_flow.shape_schema)::regnamespace AND proname = 'apply_' || _flow.shape_schema
  LOOP
    EXECUTE format('DROP FUNCTION %s', _gone);
  END LOOP;
END $$;
