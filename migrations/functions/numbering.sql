-- Series of numbers, with gaps or without.

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

-- Makes the triggers by which an attribute is numbered; again for one that has them: nothing.
CREATE OR REPLACE FUNCTION wed.install_numbering(_flow wed.flow, _attribute text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
  _gapless boolean := (SELECT gapless FROM wed.numbering WHERE flow_id = _flow.flow_id AND attribute = _attribute);
  _name text := 'number_' || md5(_attribute);
  _trigger text;
BEGIN
  EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I DROP DEFAULT', _flow.schema_name, _attribute);
  FOREACH _trigger IN ARRAY ARRAY[
    '%1$s_take BEFORE INSERT ON %2$I.wed_flow FOR EACH ROW WHEN (NEW.%3$I IS NULL) EXECUTE FUNCTION wed.take_number',
    '%1$s_give BEFORE INSERT ON %2$I.wed_flow FOR EACH ROW WHEN (NEW.%3$I IS NOT NULL)
       EXECUTE FUNCTION wed.refuse_number',
    '%1$s_set BEFORE UPDATE OF %3$I ON %2$I.wed_flow FOR EACH ROW WHEN (NEW.%3$I IS DISTINCT FROM OLD.%3$I)
       EXECUTE FUNCTION wed.refuse_number'
  ] || CASE WHEN _gapless THEN
    ARRAY['%1$s_use AFTER INSERT ON %2$I.wed_flow REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
       EXECUTE FUNCTION wed.use_numbers'] ELSE '{}' END LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER ' || _trigger || '(%4$s, %5$L)', _name, _flow.schema_name, _attribute,
      _flow.flow_id, _attribute);
  END LOOP;
  IF _gapless THEN PERFORM wed.forget_numbers(_flow, _attribute); END IF;
END $$;

-- Removes the triggers by which an attribute is numbered.
CREATE OR REPLACE FUNCTION wed.remove_numbering(_flow wed.flow, _attribute text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
  _part text;
BEGIN
  FOREACH _part IN ARRAY ARRAY['take', 'give', 'set', 'use'] LOOP
    EXECUTE format('DROP TRIGGER IF EXISTS %I ON %I.wed_flow', 'number_' || md5(_attribute) || '_' || _part,
      _flow.schema_name);
  END LOOP;
END $$;

-- Numbers a new instance (trigger of a flow's table, made by wed.install_numbering).
CREATE OR REPLACE FUNCTION wed.take_number() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN jsonb_populate_record(NEW,
    jsonb_build_object(TG_ARGV[1], wed.next_number(TG_ARGV[0]::integer, TG_ARGV[1])));
END $$;

-- Refuses a number that somebody gives by hand: a later instance would meet it (trigger of a flow's table).
CREATE OR REPLACE FUNCTION wed.refuse_number() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'attribute "%" is numbered by the server, and cannot be set', TG_ARGV[1] USING ERRCODE = 'WF010',
    HINT = 'Leave it out; each new instance gets the next number.';
END $$;

-- Removes the numbers of new instances from the free ones, after a statement (trigger of a flow's table).
CREATE OR REPLACE FUNCTION wed.use_numbers() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('DELETE FROM wed.free_number f USING new_rows n
                  WHERE f.flow_id = $1 AND f.attribute = $2 AND f.number = n.%I', TG_ARGV[1])
    USING TG_ARGV[0]::integer, TG_ARGV[1];
  RETURN NULL;
END $$;

-- Returns the next number of a series. Of one without gaps the smallest that nobody has or is taking: who takes one
-- locks that row only, and it is free again where its transaction is not committed, or did not use it.
CREATE OR REPLACE FUNCTION wed.next_number(_flow_id integer, _attribute text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _number bigint;
BEGIN
  IF NOT (SELECT gapless FROM wed.numbering WHERE flow_id = _flow_id AND attribute = _attribute) THEN
    RETURN (SELECT nextval(format('%I.%I', shape_schema, 'number_' || md5(_attribute))::regclass) FROM wed.flow
        WHERE flow_id = _flow_id);
  END IF;
  FOR _try IN 1 .. 2 LOOP
    UPDATE wed.free_number f SET taken = pg_current_xact_id()
    WHERE f.flow_id = _flow_id AND f.attribute = _attribute AND f.number = (
      SELECT number FROM wed.free_number
      WHERE flow_id = _flow_id AND attribute = _attribute AND taken IS DISTINCT FROM pg_current_xact_id()
      ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING f.number INTO _number;
    EXIT WHEN _number IS NOT NULL;
    -- A chore makes more before there are none left, so that this is rare: it is one at a time.
    PERFORM wed.make_numbers(_flow_id, _attribute);
  END LOOP;
  RETURN _number;
END $$;

-- Makes the next 256 free numbers of a series without gaps. Looks at no table of a tenant, since a chore calls it.
CREATE OR REPLACE FUNCTION wed.make_numbers(_flow_id integer, _attribute text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH m AS (
    UPDATE wed.numbering SET made_to = made_to + 256 WHERE flow_id = _flow_id
        AND attribute = _attribute RETURNING made_to)
  INSERT INTO wed.free_number (flow_id, attribute, number)
  SELECT _flow_id, _attribute, n FROM m CROSS JOIN LATERAL generate_series(m.made_to - 255, m.made_to) n
$$;

-- Removes the numbers from a series' free ones that instances have, from a time when they could be given by hand; the
-- series then begins behind the greatest of them, where that is not too far.
CREATE OR REPLACE FUNCTION wed.forget_numbers(_flow wed.flow, _attribute text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _missing bigint;
BEGIN
  EXECUTE format('SELECT max(w.%I) - n.made_to FROM %I.wed_flow w, wed.numbering n
                  WHERE n.flow_id = $1 AND n.attribute = $2 AND w.%1$I < 1000000000000000000 GROUP BY n.made_to',
    _attribute, _flow.schema_name) INTO _missing USING _flow.flow_id, _attribute;
  IF _missing > 65536 THEN
    UPDATE wed.numbering SET made_to = made_to + _missing WHERE flow_id = _flow.flow_id AND attribute = _attribute;
  ELSE
    PERFORM wed.make_numbers(_flow.flow_id, _attribute) FROM generate_series(1, _missing, 256);
  END IF;
  EXECUTE format('DELETE FROM wed.free_number f WHERE f.flow_id = $1 AND f.attribute = $2
                    AND EXISTS (SELECT FROM %I.wed_flow w WHERE w.%I = f.number)', _flow.schema_name, _attribute)
    USING _flow.flow_id, _attribute;
END $$;

CREATE OR REPLACE FUNCTION wed.due_numbers()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT DISTINCT f.tenant_id, n.flow_id, 0::bigint, 0, now() FROM wed.numbering n JOIN wed.flow f USING (flow_id)
  WHERE n.gapless AND wed.needs_numbers(n)
$$;

-- Tells whether few free numbers of a series without gaps are left, and more can be made.
CREATE OR REPLACE FUNCTION wed.needs_numbers(_series wed.numbering) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT _series.made_to < 2000000000000000000 AND count(*) < 128 FROM (SELECT FROM wed.free_number f
    WHERE f.flow_id = _series.flow_id AND f.attribute = _series.attribute LIMIT 128) f
$$;

-- Makes numbers before there are none, so that who takes one makes none.
CREATE OR REPLACE FUNCTION wed.do_numbers(_tenant_id integer, _flow_id integer, _thing bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _series wed.numbering;
BEGIN
  FOR _series IN SELECT * FROM wed.numbering n WHERE n.flow_id = _flow_id AND n.gapless AND wed.needs_numbers(n)
                 FOR UPDATE SKIP LOCKED LOOP
    PERFORM wed.make_numbers(_flow_id, _series.attribute);
  END LOOP;
  RETURN 'true';
END $$;
