-- After a statement on wed_attr or wed_trig. A server that applies a whole definition compiles once, at its end, if
-- the definition has changed; only a session of the owner is believed to be one.
CREATE OR REPLACE FUNCTION wed.after_definition() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- A trigger that is written anew is paused as it was.
  IF TG_TABLE_NAME = 'wed_trig' AND EXISTS (SELECT FROM wed.flow f JOIN wed.pause p ON p.tenant_id = f.tenant_id
      AND (p.flow_id IS NULL OR p.flow_id = f.flow_id) WHERE f.flow_id = TG_ARGV[0]::integer) THEN
    PERFORM wed.keep_paused(TG_ARGV[0]::integer);
  END IF;
  IF session_user = current_user AND current_setting('wed.definition', true) = 'whole' THEN
    RETURN NULL;
  END IF;
  IF pg_trigger_depth() = 1 THEN
    PERFORM wed.compile(TG_ARGV[0]::integer);
    PERFORM wed.keep_version(TG_ARGV[0]::integer, session_user::text);
  END IF;
  RETURN NULL;
END $$;
