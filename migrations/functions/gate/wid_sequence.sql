-- The sequence that numbers a flow's instances.
CREATE OR REPLACE FUNCTION wed.wid_sequence(_flow_id integer) RETURNS regclass
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT pg_get_serial_sequence(format('%I.wed_flow', schema_name), 'wid')::regclass FROM wed.flow
    WHERE flow_id = _flow_id);
END $$;
