CREATE OR REPLACE FUNCTION wed.refuse_without_reason(_reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF coalesce(btrim(_reason), '') = '' THEN
    RAISE EXCEPTION 'this action needs a reason' USING ERRCODE = 'WF041',
      HINT = 'Say in a few words why; it is kept in the trace and in the audit log.';
  END IF;
END $$;
