-- Adds, changes or removes an attribute, after its row of wed_attr was written. One definition at a time in a flow; its
-- table is locked for an instant, before anything is looked for in it: better a clear error than a queue behind a long
-- reader.
CREATE OR REPLACE FUNCTION wed.on_attribute() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
  _said text;
  _detail text;
  _hint text;
  _flow wed.flow;
  _renamed boolean := TG_OP = 'UPDATE' AND NEW.aname <> OLD.aname;
  _retyped boolean := false;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  IF TG_OP <> 'DELETE' THEN
    PERFORM wed.check_attribute(_flow, NEW.aname, NEW.atype, TG_OP = 'INSERT' OR _renamed);
    PERFORM wed.check_default(NEW.aname, NEW.atype, NEW.adv);
    _retyped := TG_OP = 'UPDATE' AND wed.attribute_type(OLD.atype) IS DISTINCT FROM wed.attribute_type(NEW.atype);
  END IF;
  PERFORM set_config('lock_timeout', '5s', true);
  EXECUTE format('LOCK TABLE %I.wed_flow IN ACCESS EXCLUSIVE MODE', _flow.schema_name);
  IF TG_OP = 'DELETE' OR _renamed OR _retyped THEN
    PERFORM wed.refuse_constrained(_flow, OLD.aname);
  END IF;
  IF TG_OP = 'DELETE' THEN
    PERFORM wed.refuse_used(_flow, OLD.aname, 'Change or remove these triggers first.');
    PERFORM wed.drop_attribute(_flow, OLD.aname);
  ELSIF TG_OP = 'INSERT' THEN
    PERFORM wed.add_attribute(_flow, NEW.aname, NEW.atype, NEW.adv);
  ELSE
    IF _retyped THEN PERFORM wed.refuse_retyping(_flow, OLD.aname); END IF;
    IF _renamed THEN PERFORM wed.rename_attribute(_flow, OLD.aname, NEW.aname); END IF;
    PERFORM wed.alter_attribute(_flow, NEW.aname, NEW.atype, NEW.adv, OLD.aname, _retyped);
  END IF;
  PERFORM wed.keep_attributes(_flow, TG_OP = 'DELETE' OR _renamed OR _retyped);
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  -- An error with a place in a fragment (classes 22 and 42) is raised as it is, and to hosts any. All others are raised
  -- again in this, the outermost function: whoever writes by hand reads why, and no statements of ours (CONTEXT).
  IF session_user = current_user OR SQLSTATE ~ '^(22|42)' THEN RAISE; END IF;
  GET STACKED DIAGNOSTICS _said = MESSAGE_TEXT, _detail = PG_EXCEPTION_DETAIL, _hint = PG_EXCEPTION_HINT;
  RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = _said, DETAIL = _detail, HINT = _hint;
END $$;
