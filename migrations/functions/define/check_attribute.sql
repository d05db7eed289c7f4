-- Refuses an attribute whose name or type is not allowed, whose name is another's but for case, or with which the
-- defaults of all attributes are too long together: instances that there are get a default without passing anything
-- that measures them.
CREATE OR REPLACE FUNCTION wed.check_attribute(_flow wed.flow, _name text, _atype text, _named boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _defaults_max CONSTANT bigint := 131072;
  _bytes bigint;
  _other text;
BEGIN
  PERFORM wed.check_attribute_name(_name), wed.attribute_type(_atype);
  EXECUTE format('SELECT sum(octet_length(adv)) FROM %I.wed_attr', _flow.schema_name) INTO _bytes;
  IF _bytes > _defaults_max THEN
    RAISE EXCEPTION 'the default values of the attributes take % bytes together', _bytes USING ERRCODE = 'WF033',
      HINT = format('At most %s (128 KiB). Set long values where instances are started.', _defaults_max);
  END IF;
  IF NOT _named THEN RETURN; END IF;
  EXECUTE format('SELECT aname FROM %I.wed_attr WHERE lower(aname) = lower($1) AND aname <> $1', _flow.schema_name)
    INTO _other USING _name;
  IF _other IS NOT NULL THEN
    RAISE EXCEPTION 'the attribute name "%" differs from "%" only in case', _name, _other
      USING ERRCODE = 'WF012', HINT = 'Choose another name.';
  END IF;
END $$;
