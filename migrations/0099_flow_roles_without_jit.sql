-- Sessions of flows that are there already compile no statement of the gate; new flows are made so.
DO $$
DECLARE
  _role text;
BEGIN
  FOR _role IN SELECT role_name FROM wed.flow ORDER BY flow_id LOOP
    EXECUTE format('ALTER ROLE %I IN DATABASE %I SET jit = off', _role, current_database());
  END LOOP;
END $$;
