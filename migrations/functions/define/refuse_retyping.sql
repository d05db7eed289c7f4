-- Refuses another type of an attribute while its flow, whose table is locked, has instances, or conditions read it.
CREATE OR REPLACE FUNCTION wed.refuse_retyping(_flow wed.flow, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _found boolean;
BEGIN
  EXECUTE format('SELECT true FROM %I.wed_flow LIMIT 1', _flow.schema_name) INTO _found;
  IF _found THEN
    RAISE EXCEPTION 'the type of attribute "%" cannot change while the flow has instances', _name
      USING ERRCODE = 'WF013', HINT = 'Add a new attribute of the new type.';
  END IF;
  PERFORM wed.refuse_used(_flow, _name, 'Change its type before writing conditions over it.');
END $$;
