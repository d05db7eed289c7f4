-- After a trigger is written or removed: what it reserves, or that it is gone. Its row as the gate uses it is written
-- before (wed.before_trigger).
CREATE OR REPLACE FUNCTION wed.on_trigger() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _said text;
  _detail text;
  _hint text;
  _flow wed.flow;
BEGIN
  -- Deeper than one, it is wed.rename_attribute that writes, and has done the rest.
  IF TG_OP <> 'DELETE' AND pg_trigger_depth() > 1 THEN RETURN NULL; END IF;
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  IF TG_OP = 'DELETE' THEN
    PERFORM wed.remove_trigger(_flow, OLD.tgid, OLD.tgname);
  ELSE
    PERFORM wed.set_constraint(_flow, NEW.tgid, NEW.reserves, NEW.quantity, NEW.resource, NEW.holds, NEW.consumes,
      NEW.after);
  END IF;
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  -- An error with a place in a fragment (classes 22 and 42) is raised as it is, and to hosts any. All others are raised
  -- again in this, the outermost function: whoever writes by hand reads why, and no statements of ours (CONTEXT).
  IF session_user = current_user OR SQLSTATE ~ '^(22|42)' THEN RAISE; END IF;
  GET STACKED DIAGNOSTICS _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL, _hint = PG_EXCEPTION_HINT;
  RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END $$;
