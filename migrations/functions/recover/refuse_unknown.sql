-- Refuses values of attributes that a flow has not.
CREATE OR REPLACE FUNCTION wed.refuse_unknown(_flow wed.flow, _values jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _unknown text;
BEGIN
  IF jsonb_typeof(_values) <> 'object' THEN
    RAISE EXCEPTION 'the values are no JSON object' USING ERRCODE = '22023', HINT = 'For example: {"qty": 3}';
  END IF;
  EXECUTE format('SELECT min(k) FROM jsonb_object_keys($1) k WHERE k NOT IN (SELECT aname FROM %I.wed_attr)',
    _flow.schema_name)
    INTO _unknown USING _values;
  IF _unknown IS NOT NULL THEN
    RAISE EXCEPTION 'the flow has no attribute "%"', left(_unknown, 80) USING ERRCODE = '42703',
      HINT = 'Name attributes of the flow with their values.';
  END IF;
END $$;
