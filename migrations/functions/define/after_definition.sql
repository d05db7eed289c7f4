-- After a statement on wed_attr or wed_trig. A server that applies a whole definition compiles once, at its end, if
-- the definition has changed; only a session of the owner is believed to be one.
CREATE OR REPLACE FUNCTION wed.after_definition() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF session_user = current_user AND current_setting('wed.definition', true) = 'whole' THEN
    RETURN NULL;
  END IF;
  IF pg_trigger_depth() = 1 THEN
    PERFORM wed.compile(TG_ARGV[0]::integer);
    PERFORM wed.keep_version(TG_ARGV[0]::integer, session_user::text);
  END IF;
  RETURN NULL;
END $$;
