-- Inserts an instance with some values; the others are the defaults.
CREATE OR REPLACE FUNCTION wed.insert_values(_schema text, _values jsonb) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _columns text := (SELECT string_agg(quote_ident(k), ', ') FROM jsonb_object_keys(_values) k);
  _wid integer;
BEGIN
  IF _columns IS NULL THEN
    EXECUTE format('INSERT INTO %I.wed_flow DEFAULT VALUES RETURNING wid', _schema) INTO _wid;
  ELSE
    EXECUTE
      format('INSERT INTO %1$I.wed_flow (%2$s) SELECT %2$s FROM jsonb_populate_record(NULL::%1$I.wed_flow, $1) '
      'RETURNING wid',
                   _schema, _columns) INTO _wid USING _values;
  END IF;
  RETURN _wid;
END $$;
