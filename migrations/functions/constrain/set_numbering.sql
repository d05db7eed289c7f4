-- Gives an attribute of type bigint a number of its own in each new instance. Without gaps, a number whose instance
-- was not committed is given to a later one; with gaps, numbers come from a sequence. null of _gapless takes it back.
CREATE OR REPLACE FUNCTION wed.set_numbering(_flow_id integer, _attribute text, _gapless boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
  _flow wed.flow;
  _index text := 'number_' || md5(_attribute);
  _is boolean;
  _made bigint;
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id FOR NO KEY UPDATE;
  SELECT gapless INTO _is FROM wed.numbering WHERE flow_id = _flow_id AND attribute = _attribute;
  IF _is IS NOT DISTINCT FROM _gapless THEN RETURN; END IF;
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = format('%I.wed_flow', _flow.schema_name)::regclass
                 AND attname = _attribute AND atttypid = 'bigint'::regtype AND NOT attisdropped) THEN
    RAISE EXCEPTION 'the flow has no attribute "%" of type bigint', left(_attribute, 80) USING ERRCODE = 'WF013',
      HINT = 'Insert it into wed_attr first.';
  END IF;
  PERFORM wed.remove_numbering(_flow, _attribute);
  DELETE FROM wed.numbering WHERE flow_id = _flow_id AND attribute = _attribute;
  IF _gapless IS NULL THEN
    EXECUTE format('DROP INDEX IF EXISTS %I.%I', _flow.schema_name, _index);
    RETURN;
  END IF;
  EXECUTE format('CREATE UNIQUE INDEX IF NOT EXISTS %I ON %I.wed_flow (%I)', _index, _flow.schema_name, _attribute);
  EXECUTE format('SELECT coalesce(max(%I), 0) FROM %I.wed_flow', _attribute, _flow.schema_name) INTO _made;
  IF _made > 1000000000000000000 THEN
    RAISE EXCEPTION 'an instance has the number %, and there are too few behind it', _made USING ERRCODE = 'WF013',
      HINT = 'Numbers begin behind the greatest that an instance has, at most 10^18. Number another attribute.';
  END IF;
  INSERT INTO wed.numbering (flow_id, attribute, gapless, made_to) VALUES (_flow_id, _attribute, _gapless, _made);
  IF NOT _gapless THEN
    EXECUTE format('CREATE SEQUENCE IF NOT EXISTS %I.%I', _flow.shape_schema, _index);
    PERFORM setval(format('%I.%I', _flow.shape_schema, _index)::regclass, greatest(_made, 1), _made > 0);
  END IF;
  PERFORM wed.install_numbering(_flow, _attribute);
END $$;
