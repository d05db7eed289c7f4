-- Refuses another type of an attribute while its flow, whose table is locked, has instances, or conditions read it.
CREATE OR REPLACE FUNCTION wed.refuse_retyping(_flow wed.flow, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _found boolean;
BEGIN
  EXECUTE format('SELECT true FROM %I.wed_flow LIMIT 1', _flow.schema_name) INTO _found;
  IF _found THEN
    RAISE EXCEPTION 'the type of attribute "%" cannot change while the flow has instances', _name
      USING ERRCODE = 'WF013', HINT = 'An enum may get more labels, and an integer become a bigint. For others, add a '
        'new attribute of the new type.';
  END IF;
  PERFORM wed.refuse_used(_flow, _name, 'Change its type before writing conditions over it.');
END $$;

-- Tells whether every value of one type is one of the other, with the same meaning in conditions: an enum with more
-- labels, a bigint for an integer (not numeric, which divides otherwise).
CREATE OR REPLACE FUNCTION wed.is_wider(_former text, _atype text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  _from record := wed.attribute_type(_former);
  _to record := wed.attribute_type(_atype);
BEGIN
  RETURN _from.sql_type = _to.sql_type AND _from.labels <@ _to.labels
    OR (_from.sql_type, _to.sql_type) IN (('integer', 'bigint'), ('integer[]', 'bigint[]'));
END $$;
