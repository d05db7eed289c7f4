-- Makes a flow's role. Its settings are defaults, which a session may change: what it cannot change are its connections
-- and its jobs' timeouts. A worker is idle in its transaction while it works, so that is as long as work may take.
CREATE OR REPLACE FUNCTION wed.create_role(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _setting record;
BEGIN
  EXECUTE
    format('CREATE ROLE %I LOGIN PASSWORD %L NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION CONNECTION '
    'LIMIT %s',
    _flow.role_name, _flow.role_password,
    coalesce((SELECT connections FROM wed.quota WHERE tenant_id = _flow.tenant_id), -1));
  FOR _setting IN SELECT * FROM (VALUES ('statement_timeout', quote_literal('5min')),
      ('idle_in_transaction_session_timeout', quote_literal('1h')),
      ('search_path', quote_ident(_flow.schema_name) || ', pg_catalog')) v(name, value) LOOP
    EXECUTE format('ALTER ROLE %I IN DATABASE %I SET %s = %s', _flow.role_name, current_database(), _setting.name,
      _setting.value);
  END LOOP;
  EXECUTE format('GRANT %I TO %I', _flow.role_name, current_user);
  PERFORM wed.let_connect(_flow.role_name);
END $$;
