-- Starts an instance with these values; with a key once within a day, in one transaction with the key. Answers its
-- number.
CREATE OR REPLACE FUNCTION wed.start_once(_flow_id integer, _values jsonb, _actor text, _key text) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _flow wed.flow;
  _before jsonb;
  _columns text;
  _wid integer;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  IF _key IS NOT NULL THEN
    _before := wed.claim_key(_flow.tenant_id, _actor, _key, jsonb_build_array('start', _flow_id, _values));
    IF _before IS NOT NULL THEN RETURN (_before ->> 'wid')::integer; END IF;
  END IF;
  PERFORM wed.refuse_values(_flow, _values);
  SELECT string_agg(quote_ident(k), ', ') INTO _columns FROM jsonb_object_keys(_values) k;
  EXECUTE CASE WHEN _columns IS NULL THEN format('INSERT INTO %I.wed_flow DEFAULT VALUES RETURNING wid',
    _flow.schema_name)
    ELSE
      format('INSERT INTO %1$I.wed_flow (%2$s) SELECT %2$s FROM jsonb_populate_record(NULL::%1$I.wed_flow, $1) '
      'RETURNING wid',
                _flow.schema_name, _columns) END INTO _wid USING _values;
  IF _key IS NOT NULL THEN
    PERFORM wed.keep_answer(_flow.tenant_id, _actor, _key, jsonb_build_object('wid', _wid));
  END IF;
  PERFORM wed.note_flow(_actor, _flow_id, 'instance.start', _wid::text, 'null');
  RETURN _wid;
END $$;
