-- Settings that the meaning of a condition, a comparison or an output depends on.

-- Pins the settings of wed.pinned_settings for a function. _planner: those of the planner too, by which plans are made
-- once in a session and by index, perhaps when tables are still empty.
CREATE OR REPLACE FUNCTION wed.pin_settings(_function regprocedure, _planner boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _setting record;
BEGIN
  FOR _setting IN
    SELECT s.name, s.value FROM wed.pinned_settings() s
    WHERE _planner OR s.name NOT IN ('enable_seqscan', 'plan_cache_mode')
    UNION ALL SELECT n, 'off' FROM unnest(ARRAY['enable_hashjoin', 'enable_mergejoin']) n WHERE _planner
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET %s TO %s', _function, _setting.name,
                   CASE WHEN _setting.name = 'search_path' THEN _setting.value ELSE quote_literal(_setting.value) END);
  END LOOP;
END $$;

-- A change makes hosts load the flow anew.
CREATE OR REPLACE FUNCTION wed.on_setting() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- Not when the flow itself is on its way out.
  PERFORM wed.compile(flow_id) FROM wed.flow WHERE flow_id = coalesce(NEW.flow_id, OLD.flow_id);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON wed.setting FOR EACH ROW EXECUTE FUNCTION
  wed.on_setting();

CREATE OR REPLACE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON wed.secret FOR EACH ROW EXECUTE FUNCTION
  wed.on_setting();

CREATE OR REPLACE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON wed."grant" FOR EACH ROW EXECUTE FUNCTION
  wed.on_setting();
