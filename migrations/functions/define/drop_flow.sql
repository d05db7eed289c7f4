-- Removes a flow with everything of it. What it leaves in the tables that all flows share is nobody's from
-- then on, and is removed by remove_residue in steps: of a flow of millions of instances that takes minutes.
CREATE OR REPLACE FUNCTION wed.drop_flow(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id FOR UPDATE;
  -- A session of its role that reads would be waited for.
  PERFORM pg_terminate_backend(a.pid, 1000) FROM pg_stat_activity a
  WHERE a.usename = _flow.role_name AND a.datname = current_database() AND a.pid <> pg_backend_pid();
  EXECUTE format('DROP SCHEMA %I CASCADE', _flow.schema_name);
  EXECUTE format('DROP SCHEMA %I CASCADE', _flow.shape_schema);
  DELETE FROM wed.job WHERE flow_id = _flow_id;
  DELETE FROM wed.stale WHERE flow_id = _flow_id;
  DELETE FROM wed.clock_changed WHERE flow_id = _flow_id;
  UPDATE wed.request SET state = 'f', leads = true, xid = pg_current_xact_id() WHERE flow_id = _flow_id;
  DELETE FROM wed.resource WHERE tenant_id = _flow.tenant_id AND resource = '#' || _flow_id;
  DELETE FROM wed.task_done WHERE flow_id = _flow_id;
  DELETE FROM wed.flow WHERE flow_id = _flow_id;
  INSERT INTO wed.residue VALUES (_flow_id);
  -- A role that was let connect by a grant of its own (let_connect) loses it, last of all: others wait for that.
  IF EXISTS (SELECT FROM pg_database d, aclexplode(d.datacl) a
             WHERE d.datname = current_database() AND a.grantee = to_regrole(quote_ident(_flow.role_name))) THEN
    PERFORM wed.hold_database_grants();
  END IF;
  EXECUTE format('DROP OWNED BY %I', _flow.role_name);
  EXECUTE format('DROP ROLE %I', _flow.role_name);
END $$;
