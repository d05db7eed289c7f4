-- What a flow's schema has for operators: its role retries, cancels, pauses, skips, sets, goes back, sends events,
-- starts with a key and asks why nothing is fired, as the command line does. Again for a flow that has it: nothing.
CREATE OR REPLACE FUNCTION wed.install_operations(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _operation record;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  FOR _operation IN
    SELECT * FROM (VALUES
      ('wed_retry(wid integer, reason text DEFAULT '''')', 'text[]', 'wed.retry_instance(%1$s, $1, %2$s, $2)'),
      ('wed_cancel(wid integer, reason text)', 'void', 'wed.cancel_instance(%1$s, $1, %2$s, $2)'),
      ('wed_skip(wid integer, transition text, reason text)', 'text', 'wed.skip_job(%1$s, $1, $2, %2$s, $3)::text'),
      ('wed_set(wid integer, state jsonb, reason text)', 'text', 'wed.set_state(%1$s, $1, $2, %2$s, $3)::text'),
      ('wed_back(wid integer, seq integer, reason text)', 'integer', 'wed.go_back(%1$s, $1, $2, %2$s, $3)'),
      ('wed_pause(wid integer, reason text)', 'boolean', 'wed.set_pause(%3$s, %1$s, NULL, $1, true, %2$s, $2)'),
      ('wed_resume(wid integer)', 'boolean', 'wed.set_pause(%3$s, %1$s, NULL, $1, false, %2$s, '''')'),
      ('wed_pause_flow(reason text, "trigger" text DEFAULT NULL)', 'boolean',
        'wed.set_pause(%3$s, %1$s, $2, NULL, true, %2$s, $1)'),
      ('wed_resume_flow("trigger" text DEFAULT NULL)', 'boolean',
        'wed.set_pause(%3$s, %1$s, $1, NULL, false, %2$s, '''')'),
      ('wed_start(state jsonb, key text DEFAULT NULL)', 'integer', 'wed.start_once(%1$s, $1, %2$s, $2)'),
      ('wed_event(wid integer, state jsonb, key text DEFAULT NULL)', 'boolean',
        'wed.send_event(%1$s, $1, $2, %2$s, $3)'),
      ('wed_why(wid integer, "trigger" text DEFAULT NULL, seq integer DEFAULT NULL)', 'jsonb',
        'wed.why(%1$s, $1, $2, $3)'),
      ('wed_what_if(wid integer, state jsonb, transition text DEFAULT NULL)', 'jsonb',
        'wed.what_if(%1$s, $1, $2, $3)'),
      ('wed_what_if_condition("trigger" text, condition text)', 'jsonb', 'wed.what_if_condition(%1$s, $1, $2)')
    ) o(signature, answer, body)
  LOOP
    EXECUTE format('CREATE OR REPLACE FUNCTION %I.%s RETURNS %s LANGUAGE sql SECURITY DEFINER
                    SET search_path = pg_catalog, pg_temp AS %L',
                      _flow.schema_name, _operation.signature, _operation.answer,
      format('SELECT ' || _operation.body, _flow_id, 'session_user::text', _flow.tenant_id));
  END LOOP;
  EXECUTE format('CREATE OR REPLACE FUNCTION %I.wed_retry_matching(
      transition text DEFAULT NULL, message text DEFAULT NULL, since timestamptz DEFAULT NULL,
        preview boolean DEFAULT true,
      reason text DEFAULT '''')
    RETURNS TABLE (wid integer, failed text, said text, refused text) LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS %L', _flow.schema_name,
    format('SELECT * FROM wed.retry_matching(%s, $1, $2, $3, 10000, session_user::text, $5, $4)', _flow_id));
  EXECUTE format('CREATE OR REPLACE FUNCTION %I.wed_conditions(wid integer)
    RETURNS TABLE ("trigger" text, condition text, cfinal boolean, holds boolean, fault text) LANGUAGE sql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L', _flow.schema_name,
    format('SELECT * FROM wed.conditions_of(%s, $1)', _flow_id));
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %1$I FROM PUBLIC', _flow.schema_name);
  EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %1$I TO %1$I', _flow.schema_name);
END $$;
