-- Makes an empty flow: its role, its schemas, its tables, its part of the gate.
CREATE OR REPLACE FUNCTION wed.create_flow(_tenant text, _name text, _description text DEFAULT '') RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _schema text := 'wf_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16);
  _flow wed.flow;
  _template text;
BEGIN
  INSERT INTO wed.flow (tenant_id, name, description, schema_name, shape_schema, role_name, role_password, excpt_tgid)
  SELECT tenant_id, _name, coalesce(_description, ''), _schema, _schema || '_shape', _schema,
         replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), wed.next_tgid()
  FROM wed.tenant WHERE name = _tenant RETURNING * INTO _flow;
  IF _flow.flow_id IS NULL THEN
    RAISE EXCEPTION 'there is no tenant "%"', _tenant USING ERRCODE = 'WF015', HINT = 'Create the tenant first.';
  END IF;
  -- The trigger of _EXCPT is the server's: no condition fires it, the gate does.
  INSERT INTO wed.trigger (tgid, flow_id, tenant_id, tgname, trname, cfinal, enabled, timeout, attempts, backoff, delay,
    priority, recheck)
  VALUES (_flow.excpt_tgid, _flow.flow_id, _flow.tenant_id, '_EXCPT', '_EXCPT', false, true, '1 day', 3, '1 minute',
    '0', 0, false);
  PERFORM wed.create_role(_flow);
  FOREACH _template IN ARRAY ARRAY['schemas', 'wed_attr', 'wed_trig', 'wed_flow'] LOOP
    EXECUTE wed.fill_template(_template, wed.flow_names(_flow));
  END LOOP;
  PERFORM wed.bound_rows(_flow.schema_name);
  PERFORM wed.install_flow(_flow.flow_id);
  EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _flow.shape_schema);
  RETURN _flow.flow_id;
END $$;
