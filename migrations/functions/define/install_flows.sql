-- Makes all flows' own functions anew, after an update of the server. A flow that is not allowed any more keeps those
-- that it has, and is named: one flow stops no update. What a session at work is in the way of is tried again with all.
CREATE OR REPLACE FUNCTION wed.install_flows() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  FOR _flow IN SELECT * FROM wed.flow ORDER BY flow_id LOOP
    BEGIN
      PERFORM wed.drop_apply(_flow);
      PERFORM wed.install_flow(_flow.flow_id);
    EXCEPTION
    WHEN deadlock_detected OR lock_not_available OR query_canceled OR serialization_failure THEN RAISE;
    WHEN OTHERS THEN
      RAISE WARNING 'flow % of tenant % could not be brought up to date: %', _flow.name, _flow.tenant_id, SQLERRM;
    END;
  END LOOP;
END $$;
