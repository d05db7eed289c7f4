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
  _widened boolean := false;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = TG_ARGV[0]::integer FOR NO KEY UPDATE;
  IF TG_OP <> 'DELETE' THEN
    PERFORM wed.check_attribute(_flow, NEW.aname, NEW.atype, TG_OP = 'INSERT' OR _renamed);
    PERFORM wed.check_default(NEW.aname, NEW.atype, NEW.adv);
    _retyped := TG_OP = 'UPDATE' AND wed.attribute_type(OLD.atype) IS DISTINCT FROM wed.attribute_type(NEW.atype);
    _widened := _retyped AND wed.is_wider(OLD.atype, NEW.atype);
  END IF;
  PERFORM set_config('lock_timeout', '5s', true);
  EXECUTE format('LOCK TABLE %I.wed_flow IN ACCESS EXCLUSIVE MODE', _flow.schema_name);
  IF TG_OP = 'DELETE' OR _renamed OR _retyped THEN
    PERFORM wed.refuse_constrained(_flow, OLD.aname);
  END IF;
  IF TG_OP = 'DELETE' THEN
    PERFORM wed.refuse_used(_flow, OLD.aname, 'Change or remove these triggers first.');
    PERFORM wed.refuse_scheduled(_flow, OLD.aname);
    PERFORM wed.drop_attribute(_flow, OLD.aname);
  ELSIF TG_OP = 'INSERT' THEN
    PERFORM wed.add_attribute(_flow, NEW.aname, NEW.atype, NEW.adv);
  ELSE
    IF _retyped AND NOT _widened THEN PERFORM wed.refuse_retyping(_flow, OLD.aname); END IF;
    IF _renamed THEN PERFORM wed.rename_attribute(_flow, OLD.aname, NEW.aname); END IF;
    IF _widened THEN PERFORM wed.put_readers_on_shape(_flow, NEW.aname); END IF;
    PERFORM wed.alter_attribute(_flow, NEW.aname, NEW.atype, NEW.adv, OLD.aname, _retyped);
    IF _widened THEN PERFORM wed.take_readers_off_shape(_flow, NEW.aname, NEW.aname); END IF;
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

-- Refuses to remove an attribute that a schedule gives a value.
CREATE OR REPLACE FUNCTION wed.refuse_scheduled(_flow wed.flow, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _users text := (SELECT string_agg(name, ', ' ORDER BY name) FROM wed.schedule
                  WHERE flow_id = _flow.flow_id AND state ? _name);
BEGIN
  IF _users IS NOT NULL THEN
    RAISE EXCEPTION 'attribute "%" is given a value by the schedules: %', _name, _users USING ERRCODE = 'WF013',
      HINT = 'Set these schedules without it first.';
  END IF;
END $$;
