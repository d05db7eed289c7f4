-- Writes attributes of an instance whose row is held, for who takes the state through the gate next.
CREATE OR REPLACE FUNCTION wed.write_values(_flow_id integer, _wid integer, _values jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _columns text;
BEGIN
  SELECT string_agg(format('%I = n.%1$I', k), ', ') INTO _columns FROM jsonb_object_keys(_values) k;
  IF _columns IS NULL THEN RETURN; END IF;
  PERFORM set_config('wed.commit', 'batch', true);
  EXECUTE format('UPDATE %1$I.wed_flow w SET %2$s FROM %1$I.wed_flow o
                  CROSS JOIN LATERAL jsonb_populate_record(o, $1) n
                    WHERE o.wid = $2 AND w.wid = o.wid', _schema, _columns)
    USING _values, _wid;
  PERFORM set_config('wed.commit', '', true);
  EXECUTE format('SELECT wed_bounded.measure_row(w.wid, (w.*)::text) FROM %I.wed_flow w WHERE w.wid = $1', _schema)
    USING _wid;
END $$;
